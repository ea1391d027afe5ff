import { describe, expect, test } from 'vitest'
import { client, freshFolder, run, sharedServer, startServer, statusOf, runOk, type Client } from './program.ts'

const LOC = '/v1/locations/loc-001'
const KEG = { beer_id: 'guinness-draught', keg_type: 'half_barrel' }
const BAR = { loc: LOC, scale: 'SCALE-0042', beer: KEG.beer_id }

const scalesToken = (env: Record<string, string>, user: string) =>
  runOk(['token', 'create', '--user', user, '--domain', 'scales'], env)

/** Creates a location with a beer, a scale, and a keg on a tap. Returns a token of the scale and the id of the keg. */
const openBar = async (ann: Client, { loc, scale, beer } = BAR): Promise<{ device: string; keg: string }> => {
  expect((await ann.send('PATCH', `${loc}/settings`, { grace_period_secs: 0, timezone: 'Europe/Berlin' })).status).toBe(
    200,
  )
  expect(
    (await ann.post('/v1/beers', { beer_id: beer, name: 'Guinness Draught', style: 'Stout', specific_gravity: 1.014 }))
      .status,
  ).toBe(201)
  expect(await ann.post(`${loc}/devices`, { device_id: scale })).toMatchObject({
    status: 201,
    body: { status: 'registered' },
  })
  expect(await ann.send('PUT', `${loc}/taps/07/device`, { device_id: scale })).toMatchObject({
    status: 200,
    body: { device_id: scale },
  })
  const keg = await ann.post(`${loc}/taps/07/keg`, { ...KEG, beer_id: beer }, { 'idempotency-key': 'keg-1' })
  const token = await ann.send('POST', `${loc}/devices/${scale}/tokens`)
  expect([keg.status, token.status]).toEqual([201, 201])
  return { device: String(token.body['token']), keg: String(keg.body['id']) }
}

const reading = (seq: number, level_pct: number) => ({
  seq,
  age_ms: 0,
  weight_lbs: 29 + level_pct * 1.325,
  level_pct,
  battery_pct: 80,
  battery_v: 3.9,
})

/** A server for the tests that only send requests and run commands. Each test uses its own bar. */
const shared = sharedServer()

describe('from a scale to a tap, embedded', { timeout: 180_000 }, () => {
  test('S55 readings of a device become tap state, telemetry and alerts; kill -9 loses nothing; rebuild, verify and explain agree', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const token = await scalesToken(env, 'ann')
    const ann = client(first.url, token)
    const { device, keg } = await openBar(ann)

    const scale = client(first.url, device)
    expect(
      await scale.post('/v1/devices/SCALE-0042/readings', { boot: 'b1', readings: [reading(1, 50)] }),
    ).toMatchObject({ status: 202, body: { accepted: 1 } })
    const sent = await scale.post('/v1/devices/SCALE-0042/readings', {
      boot: 'b1',
      readings: [reading(2, 9.5), { seq: 3, level_pct: 140 }],
    })
    expect(sent).toMatchObject({ status: 202, body: { accepted: 1, quarantined: [{ index: 1, reason: 'range' }] } })
    const after = { 'tributary-after': String(sent.body['event']) }
    const tap = await ann.get(`${LOC}/taps/07`, after)
    expect(tap.body).toMatchObject({ keg_id: keg, state: { level_pct: 9.5, weight_lbs: 29 + 9.5 * 1.325 } })
    expect((await ann.get(`${LOC}/alerts`, after)).body['items']).toMatchObject([
      { id: 'low_keg:TAP:07', state: 'active' },
    ])
    expect((await ann.post(`${LOC}/alerts/low_keg:TAP:07/ack`, undefined)).body).toMatchObject({
      state: 'acknowledged',
      acknowledged_by: 'ann',
    })
    expect((await ann.get(`${LOC}/devices/SCALE-0042/quarantine`)).body).toMatchObject({ count: { total: 1 } })
    expect((await scale.get(`${LOC}/taps`)).status).toBe(403)

    const paths = [
      `${LOC}/taps`,
      `${LOC}/taps/07`,
      `${LOC}/alerts`,
      `${LOC}/alerts/history`,
      `${LOC}/devices`,
      `${LOC}/kegs/${keg}`,
      `${LOC}/members`,
      '/v1/beers?search=guin',
    ]
    const answers = (of: Client) => Promise.all(paths.map(async (path) => (await of.get(path)).body))
    const before = await answers(ann)
    first.kill('SIGKILL')
    await first.ended
    const second = await startServer(env)
    const again = client(second.url, token)
    expect(await answers(again)).toEqual(before)
    expect((await again.post(`${LOC}/taps/07/keg`, KEG, { 'idempotency-key': 'keg-1' })).body).toMatchObject({
      id: keg,
    })

    await runOk(['rebuild', 'scales', '--yes'], env)
    expect(await statusOf(env, 'scales')).toMatchObject({ generation: 2, table: 'scale-sense.g2', parked: 0 })
    expect(await answers(again)).toEqual(before)
    expect(await run(['verify', 'scales'], env)).toMatchObject({ code: 0 })
    for (const key of ['loc-001', 'SCALE-0042', 'guinness-draught', 'ann'])
      expect(JSON.parse(await runOk(['verify', 'scales', '--key', key, '--json'], env))).toMatchObject({
        keys: 1,
        differences: [],
      })
    expect(await second.stop()).toBe(0)
  })

  test('explain lists the events behind an item, named by its key or by its attributes', async () => {
    const { env, server } = await shared()
    const { keg } = await openBar(client(server.url, await scalesToken(env, 'ann')))
    const typesOf = async (...args: string[]) =>
      JSON.parse(await runOk(['explain', 'scales', ...args, '--json'], env)) as {
        key: string
        steps: readonly { type: string }[]
      }
    expect(await typesOf('LOCATION#loc-001', 'TAP#07')).toMatchObject({
      key: 'loc-001',
      steps: [{ type: 'DeviceAssigned' }, { type: 'KegTapped' }],
    })
    expect(await typesOf(`KEG#${keg}`)).toMatchObject({ key: 'loc-001', steps: [{ type: 'KegTapped' }] })
    expect(await typesOf('DEVICE#SCALE-0042', 'META')).toMatchObject({
      key: 'loc-001',
      steps: [{ type: 'DeviceRegistered' }, { type: 'DeviceAssigned' }],
    })
    expect(await typesOf('CLAIM#SCALE-0042')).toMatchObject({ key: 'SCALE-0042', steps: [{ type: 'DeviceClaimed' }] })
    expect(await typesOf('BEERLIB#GLOBAL', 'NAME#guinness draught#guinness-draught')).toMatchObject({
      key: 'guinness-draught',
      steps: [{ type: 'BeerDefined' }],
    })
    expect(await run(['explain', 'scales', 'KEG#none'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('LOCATION#loc-001'),
    })
    expect(await run(['import', 'scales', import.meta.filename], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('import-unknown'),
    })
  })

  test('the command line creates device tokens too, and a token of meals gives no access to a bar', async () => {
    const { env, server } = await shared()
    const bar = { loc: '/v1/locations/loc-002', scale: 'SCALE-0052', beer: 'murphys' }
    await openBar(client(server.url, await scalesToken(env, 'bob')), bar)
    const device = client(
      server.url,
      await runOk(['token', 'create', '--user', 'SCALE-0052', '--domain', 'scales', '--scopes', 'device'], env),
    )
    expect(
      (await device.post('/v1/devices/SCALE-0052/readings', { boot: 'b1', readings: [reading(1, 70)] })).status,
    ).toBe(202)
    expect(
      (await device.post('/v1/devices/SCALE-0053/readings', { boot: 'b1', readings: [reading(1, 70)] })).status,
    ).toBe(403)
    const meals = client(server.url, await runOk(['token', 'create', '--user', 'bob'], env))
    expect(await meals.get(`${bar.loc}/taps`)).toMatchObject({ status: 401, body: { code: 'token-unknown' } })
  })
})
