import { describe, expect, test } from 'vitest'
import { startTimestreamLocal } from '../../timestream-local/server.ts'
import { client, freshFolder, run, startServer, statusOf, runOk, until, type Client } from './program.ts'

const BAR = '/v1/locations/loc-001'

/** Creates a bar with a scale and a keg on tap 07. Returns the client of its owner. */
const openBar = async (url: string, env: Readonly<Record<string, string>>): Promise<Client> => {
  const ann = client(
    url,
    await runOk(['token', 'create', '--user', 'ann', '--domain', 'scales', '--scopes', 'read,write'], env),
  )
  await ann.post('/v1/beers', { beer_id: 'guinness', name: 'Guinness', style: 'Stout', specific_gravity: 1.014 })
  await ann.post(`${BAR}/devices`, { device_id: 'SCALE-1' })
  await until(
    async () => (await ann.send('PUT', `${BAR}/taps/07/device`, { device_id: 'SCALE-1' })).status === 200,
    () => 'the device cannot be assigned',
  )
  expect((await ann.post(`${BAR}/taps/07/keg`, { beer_id: 'guinness', keg_type: 'half_barrel' })).status).toBe(201)
  return ann
}

const report = async (ann: Client, seq: number): Promise<void> => {
  expect(
    (
      await ann.post('/v1/devices/SCALE-1/readings', {
        boot: 'b1',
        readings: [{ seq, weight_lbs: 100 + seq, level_pct: 50, battery_pct: 80 }],
      })
    ).status,
  ).toBe(202)
}

const levels = async (ann: Client): Promise<number> => {
  const { body } = await ann.get(`${BAR}/taps/07/history?range=1h`)
  return (body['data'] as readonly unknown[] | undefined)?.length ?? -1
}

describe('series', { timeout: 180_000 }, () => {
  test('readings are in the history, in the next generation and after a flip; verify compares their points; drop removes a generation', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_MQTT: 'off' }
    const server = await startServer(env)
    const ann = await openBar(server.url, env)
    await report(ann, 1)
    await until(
      async () => (await levels(ann)) === 1,
      () => 'the reading is not in history',
    )
    expect((await ann.get(`${BAR}/taps/07/rate`)).body).toMatchObject({ gallons_per_hour: null })
    expect((await ann.get(`${BAR}/taps/09/history`)).status).toBe(404)
    expect(await run(['rebuild', 'scales-series', '--yes'], env)).toMatchObject({ code: 0 })
    expect(await statusOf(env, 'scales-series')).toMatchObject({ generation: 2 })
    expect(await levels(ann)).toBe(1)
    const verified = JSON.parse((await run(['verify', 'scales-series', '--json'], env)).stdout) as object
    expect(verified).toMatchObject({ differences: [], points: { points: 1, differences: [] } })
    expect(await run(['generations', 'scales-series', '--drop', '1', '--yes'], env)).toMatchObject({ code: 0 })
    expect(await server.stop()).toBe(0)
  })

  test('a series store that is down is reported and delays nothing else, and the series catch up later', async () => {
    const spare = await startTimestreamLocal({ port: 0 })
    await spare.close()
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_MQTT: 'off', TRIBUTARY_TIMESTREAM: spare.endpoint }
    const server = await startServer(env)
    const ann = await openBar(server.url, env)
    await report(ann, 1)
    await until(
      async () =>
        ((await ann.get(`${BAR}/taps/07`)).body['state'] as { weight_lbs?: number } | null)?.weight_lbs === 101,
      () => 'the state stands still',
    )
    await until(
      async () => (await (await fetch(`${server.admin}/metrics`)).text()).includes('code="series-unavailable"'),
      () => 'nobody tells',
    )
    expect((await ann.get(`${BAR}/taps/07/history`)).status).toBe(503)
    const back = await startTimestreamLocal({ port: spare.port })
    await until(
      async () => (await levels(ann)) === 1,
      () => 'the series do not catch up',
    )
    expect(await server.stop()).toBe(0)
    await back.close()
  })
})
