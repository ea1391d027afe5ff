import { expect, test } from 'vitest'
import { client, freshFolder, largePours, run, startServer, runOk, until, type Client } from './program.ts'

const BAR = '/v1/locations/loc-001'

/** Creates a bar in which a pour ends after one second without a change of the level. */
const openBar = async (ann: Client): Promise<void> => {
  expect((await ann.send('PATCH', `${BAR}/settings`, { pour_settle_secs: 1 })).status).toBe(200)
  await ann.post('/v1/beers', { beer_id: 'guinness', name: 'Guinness', style: 'Stout', specific_gravity: 1.014 })
  await ann.post(`${BAR}/devices`, { device_id: 'SCALE-1' })
  await until(
    async () => (await ann.send('PUT', `${BAR}/taps/07/device`, { device_id: 'SCALE-1' })).status === 200,
    () => 'the device cannot be assigned',
  )
  expect((await ann.post(`${BAR}/taps/07/keg`, { beer_id: 'guinness', keg_type: 'half_barrel' })).status).toBe(201)
}

const poured = async (ann: Client): Promise<readonly number[]> =>
  ((await ann.get(`${BAR}/pours`)).body['items'] as readonly { readonly gallons: number }[]).map(
    ({ gallons }) => Math.round(gallons * 100) / 100,
  )

const byHour = async (ann: Client): Promise<number> => {
  const { hours } = (await ann.get(`${BAR}/pours/by-hour`)).body as {
    readonly hours: readonly { readonly pours: number }[]
  }
  return hours.reduce((sum, { pours }) => sum + pours, 0)
}

test('a changed rule detects pours anew in old readings: rebuild --diff shows each item and point before the flip', async () => {
  const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_MQTT: 'off' }
  const later = largePours(env)
  const server = await startServer(env)
  const token = await runOk(['token', 'create', '--user', 'ann', '--domain', 'scales', '--scopes', 'read,write'], env)
  const ann = client(server.url, token)
  await openBar(ann)
  let seq = 0
  const weigh = async (weight_lbs: number): Promise<void> => {
    seq += 1
    expect(
      (await ann.post('/v1/devices/SCALE-1/readings', { boot: 'b1', readings: [{ seq, weight_lbs }] })).status,
    ).toBe(202)
  }
  // Two pours: an eighth of a gallon, and a jug of seven pounds.
  await weigh(100)
  for (const [index, weight] of [99, 92].entries()) {
    await until(
      async () => {
        await weigh(weight)
        return (await poured(ann)).length > index && (await byHour(ann)) > index
      },
      () => `${weight} lbs are no pour`,
    )
  }
  expect(await poured(ann)).toEqual([0.83, 0.12])

  const nothing = await run(['rebuild', 'scales-series', '--diff'], env)
  expect(nothing).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no item, no point and no decision changes'),
  })
  const shown = await run(['rebuild', 'scales', '--diff', '--json'], later)
  expect(shown.code).toBe(3)
  const { kinds } = JSON.parse(shown.stdout) as { readonly kinds: readonly object[] }
  expect(kinds).toContainEqual(
    expect.objectContaining({
      kind: 'pour',
      added: 0,
      removed: 1,
      changed: 1,
      same: 0,
      fields: expect.objectContaining({ gallons: 1 }),
    }),
  )
  const points = await run(['rebuild', 'scales-series', '--diff', '--json'], later)
  expect(points.code).toBe(3)
  expect(JSON.parse(points.stdout)).toMatchObject({
    differs: true,
    points: {
      added: 0,
      removed: 1,
      changed: 1,
      same: seq,
      sample: expect.arrayContaining([expect.objectContaining({ change: 'removed', measure: 'pour' })]),
    },
  })
  expect(await run(['rebuild', 'scales-series', '--diff'], later)).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^points +0 +1 +1 +\d+/m),
  })
  expect(await poured(ann)).toEqual([0.83, 0.12])
  expect(await run(['verify', 'scales-series', '--key', 'loc-001'], env)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('To compare the points too'),
  })
  expect(await run(['explain', 'scales-series', 'LOCATION#loc-001', 'TIMELINE#TAP#07'], env)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('does not explain points'),
  })
  expect(await server.stop()).toBe(0)

  for (const domain of ['scales', 'scales-series'])
    expect(JSON.parse((await run(['rebuild', domain, '--resume', '--yes', '--json'], later)).stdout)).toMatchObject({
      flipped: true,
    })
  const next = await startServer(later)
  const again = client(next.url, token)
  expect(await poured(again)).toEqual([0.95])
  expect(await byHour(again)).toBe(1)
  expect(await run(['verify', 'scales'], later)).toMatchObject({ code: 0 })
  expect(await run(['verify', 'scales-series'], later)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/[0-9]+ points compared, 0 differ/),
  })
  expect(await next.stop()).toBe(0)
}, 240_000)
