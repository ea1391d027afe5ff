import { expect, test } from 'vitest'
import { closed, connected, deviceAt, envelope } from '../producers/mqtt/bar.ts'
import { describeWith } from '../services/available.ts'
import { mosquittoAvailable, startMosquitto } from '../services/mosquitto.ts'
import { client, freshFolder, startServer, runOk, until, type Env, type Server } from './program.ts'

const DEVICE = 'SCALE-0042'
const TOPIC = `scale-sense/loc-001/${DEVICE}/reading`

interface PrintedEvent {
  readonly type: string
  readonly event: { readonly data: { readonly seq?: number } }
}

const eventsOf = async (env: Env, key: string): Promise<readonly PrintedEvent[]> =>
  (await runOk(['events', '--domain', 'scales', '--key', key, '--json'], env))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PrintedEvent)

const readings = async (env: Env): Promise<readonly (number | undefined)[]> =>
  (await eventsOf(env, 'loc-001')).filter(({ type }) => type === 'ReadingReported').map(({ event }) => event.data.seq)

/** A bar with one device. */
const openBar = async (env: Env, server: Server) => {
  const owner = client(server.url, await runOk(['token', 'create', '--domain', 'scales', '--user', 'ann'], env))
  expect((await owner.post('/v1/locations/loc-001/devices', { device_id: DEVICE })).status).toBe(201)
  expect((await owner.send('PUT', '/v1/locations/loc-001/taps/07/device', { device_id: DEVICE })).status).toBe(200)
  const { body } = await owner.post(`/v1/locations/loc-001/devices/${DEVICE}/tokens`, undefined)
  return { owner, password: String(body['token']) }
}

test('an acknowledged reading survives kill -9, and is in the state of its tap', { timeout: 90_000 }, async () => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  const first = await startServer(env)
  const { password } = await openBar(env, first)
  const device = deviceAt(first.mqtt, DEVICE, { password })
  await connected(device)
  let acknowledged = -1
  const sending = (async () => {
    for (let seq = 0; seq < 1_000_000; seq += 1) {
      await device.publishAsync(TOPIC, envelope(seq), { qos: 1 })
      acknowledged = seq
      if (seq === 40) first.kill('SIGKILL')
    }
  })()
  await expect(
    Promise.race([sending, new Promise((_, reject) => device.once('close', () => reject(new Error('closed'))))]),
  ).rejects.toThrow()
  await first.ended
  const second = await startServer(env)
  expect((await readings(env)).slice(0, acknowledged + 1)).toEqual(
    Array.from({ length: acknowledged + 1 }, (_, seq) => seq),
  )
  const owner = client(second.url, await runOk(['token', 'create', '--domain', 'scales', '--user', 'ann'], env))
  await until(
    async () => JSON.stringify((await owner.get('/v1/locations/loc-001/taps')).body).includes('weight_lbs'),
    () => second.stderr(),
  )
  expect(await (await fetch(`${second.admin}/metrics`)).text()).toContain('tributary_mqtt_connections')
  expect(await second.stop()).toBe(0)
})

test(
  'a released device loses its token: its open session ends, and new ones are rejected',
  { timeout: 90_000 },
  async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const { owner, password } = await openBar(env, server)
    const device = deviceAt(server.mqtt, DEVICE, { password })
    await connected(device)
    await device.publishAsync(TOPIC, envelope(1), { qos: 1 })
    const tokens = `/v1/locations/loc-001/devices/${DEVICE}/tokens`
    await until(
      async () => JSON.stringify((await owner.get(tokens)).body).includes('lastUsedAt'),
      () => server.stderr(),
    )
    expect((await owner.get(tokens)).body['items']).toMatchObject([
      { createdBy: 'ann', createdAt: expect.any(String), lastUsedAt: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    ])
    const gone = closed(device)
    expect((await owner.send('DELETE', `/v1/locations/loc-001/devices/${DEVICE}`)).status).toBe(200)
    await gone
    await expect(connected(deviceAt(server.mqtt, DEVICE, { password }))).rejects.toThrow()
    const deviceClient = client(server.url, password)
    expect(
      await deviceClient.post(`/v1/devices/${DEVICE}/readings`, { boot: 'b1', readings: [{ seq: 2, level_pct: 40 }] }),
    ).toMatchObject({ status: 401, body: { code: 'token-ended' } })
    expect((await owner.post('/v1/locations/loc-001/devices', { device_id: DEVICE })).status).toBe(201)
    expect((await owner.get(tokens)).body['items']).toMatchObject([{ endReason: 'device-released' }])
    const { body } = await owner.post(tokens, undefined)
    await connected(deviceAt(server.mqtt, DEVICE, { password: String(body['token']) }))
    expect(await server.stop()).toBe(0)
  },
)

test('a configured port that is in use is reported in one clear line', { timeout: 90_000 }, async () => {
  const server = await startServer({ TRIBUTARY_DATA: freshFolder() })
  const port = new URL(server.mqtt).port
  await expect(startServer({ TRIBUTARY_DATA: freshFolder(), TRIBUTARY_MQTT: `127.0.0.1:${port}` })).rejects.toThrow(
    /port-in-use: Another program listens on 127\.0\.0\.1:\d+\. Stop it, or select another address with TRIBUTARY_MQTT/,
  )
})

describeWith('devices at a broker of others (Mosquitto)', mosquittoAvailable(), () => {
  test('messages sent while the program is down are processed when it runs again', { timeout: 90_000 }, async () => {
    const mosquitto = await startMosquitto()
    try {
      const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_MQTT: mosquitto.url }
      const first = await startServer(env)
      await openBar(env, first)
      await until(
        async () => (await (await fetch(`${first.admin}/metrics`)).text()).includes('tributary_mqtt_connections 1'),
        () => first.stderr(),
      )
      const device = deviceAt(mosquitto.url, DEVICE)
      await connected(device)
      await device.publishAsync(TOPIC, envelope(1), { qos: 1 })
      await until(
        async () => (await readings(env)).length === 1,
        () => first.stderr(),
      )
      first.kill('SIGKILL')
      await first.ended
      await device.publishAsync(TOPIC, envelope(2), { qos: 1 })
      const second = await startServer(env)
      await until(
        async () => (await readings(env)).includes(2),
        () => second.stderr(),
      )
      expect(new Set(await readings(env))).toEqual(new Set([1, 2]))
      expect(await second.stop()).toBe(0)
    } finally {
      await mosquitto.stop()
    }
  })
})
