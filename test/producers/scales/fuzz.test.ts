import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scalesEdge } from '../../../producers/scales.ts'
import { send, type MemoryEdge, type Sent } from '../memory-edge.ts'
import { GUINNESS, LOC, openRunningBar } from './bar.ts'

const RUNS = { mutated: 2_500, anywhere: 2_500 }

let edge: MemoryEdge
let token: string
let keg: string

beforeAll(async () => {
  ({ edge, token, keg } = await openRunningBar())
})
afterAll(() => edge.app.close())

/** What holds for any request at all: it is answered, and what is refused by the edge is in no log. */
const holds = async (sent: Sent) => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...sent })
  const appended = edge.events.slice(before).filter(({ type, meta }) => type !== 'PatUsed' && meta.source !== 'derived')
  // Charts are another domain's, which this edge has not.
  if (answer.status >= 500 && answer.body['code'] !== 'series-absent') throw new Error(`${sent.method ?? 'GET'} ${sent.url} was answered ${answer.status}: ${answer.text}`)
  if (answer.status >= 400) {
    expect(answer.body).toMatchObject({ code: expect.stringMatching(/^[a-z0-9-]+$/), status: answer.status })
    const kinds = appended.map((event) => edge.outcomes.get(edge.events.indexOf(event))?.kind)
    if (appended.length > 0) expect([kinds.at(-1), answer.status]).toEqual(['refused', expect.toSatisfy((status: number) => [404, 409, 422].includes(status))])
  }
  for (const { meta } of appended) expect(meta.key).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$/)
  return answer
}

const junk = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary', maxLength: 40 }), fc.double(), fc.constantFrom('', ' ', '#', '+', 'a#b', '__proto__', '\u0000', '\ud800', -0, -1, 1e300, 2 ** 53, null, [], {}, '1970-01-01T00:00:00Z', '2099-01-01T00:00:00Z'))

const GOOD: readonly (readonly [Sent['method'] & string, string, Readonly<Record<string, unknown>>])[] = [
  ['POST', `${LOC}/taps/07/keg`, { beer_id: GUINNESS.beer_id, keg_type: 'half_barrel', full_lbs: 160, empty_lbs: 28, tapped_at: '2026-11-16T11:00:00Z' }],
  ['POST', `${LOC}/taps/07/keg/correct`, { beer_id: GUINNESS.beer_id, keg_type: 'half_barrel' }],
  ['POST', `${LOC}/taps/07/tare`, { kind: 'full', value_lbs: 160, at: '2026-11-16T11:30:00Z' }],
  ['PUT', `${LOC}/taps/08/device`, { device_id: 'SCALE-0042' }],
  ['POST', `${LOC}/pours/void`, { keg_id: 'KEG', from: '2026-11-16T11:00:00Z', to: '2026-11-16T12:00:00Z', reason: 'ghost' }],
  ['PATCH', `${LOC}/settings`, { grace_period_secs: 60, pour_window_hours: 6, low_keg_pct: 10, timezone: 'UTC', pour_min_gallons: 0.1 }],
  ['POST', `${LOC}/devices`, { device_id: 'SCALE-0043' }],
  ['POST', `${LOC}/devices/SCALE-0042/calibration`, { factor: 1.5, offset: 2 }],
  ['POST', '/v1/beers', { beer_id: 'x', name: 'X', style: 'Y', specific_gravity: 1.01, loc_id: 'loc-001' }],
  ['PATCH', `/v1/beers/${GUINNESS.beer_id}`, { name: 'Guinness', specific_gravity: 1.02 }],
  ['PUT', `/v1/beers/${GUINNESS.beer_id}/kegs/half_barrel`, { gallons: 15.5, full_lbs: 160, empty_lbs: 29 }],
]

const mutation = fc.tuple(fc.constantFrom(...GOOD), fc.nat({ max: 8 }), junk, fc.boolean()).map(([[method, url, body], at, value, adds]) => {
  const names = Object.keys(body)
  const name = adds ? 'more' : (names[at % names.length] ?? 'more')
  return { method, url, body: { ...body, [name]: value } }
})

const segment = fc.oneof(fc.constantFrom('loc-001', '07', '7', 'SCALE-0042', 'guinness-draught', 'half_barrel', 'low_keg:TAP:07', 'a#b', '+', '..', '%00', 'ann'), fc.string({ unit: 'grapheme', maxLength: 30 }))
const paths = [...new Set(scalesEdge.routes.map(({ url }) => url))]
const anywhere = fc.tuple(fc.constantFrom(...paths), fc.array(segment, { minLength: 4, maxLength: 4 }))
  .map(([url, segments]) => segments.reduce((path, one) => path.replace(/:[a-z]+/, encodeURIComponent(one)), url))

describe('any request is answered', () => {
  test('a body with anything changed is taken or refused', () => fc.assert(fc.asyncProperty(mutation, async ({ method, url, body }) => {
    await holds({ method, url, body: JSON.parse(JSON.stringify(body).replace('"KEG"', JSON.stringify(keg))) as unknown })
  }), { numRuns: RUNS.mutated }), 300_000)

  test('any path is answered, and no key is built of what is none', () => {
    const methods = fc.constantFrom('GET' as const, 'POST' as const, 'DELETE' as const, 'PUT' as const, 'PATCH' as const)
    const query = fc.dictionary(fc.constantFrom('loc', 'search', 'limit', 'cursor', 'from', 'to', 'low_battery', 'x'), fc.oneof(fc.constantFrom('loc-001', '1', 'true', '2026-11-16T00:00:00Z'), fc.string({ maxLength: 20 })), { maxKeys: 2, noNullPrototype: true })
    return fc.assert(fc.asyncProperty(anywhere, methods, query, async (path, method, search) => {
      await holds({ method, url: `${path}?${new URLSearchParams(search).toString()}` })
    }), { numRuns: RUNS.anywhere })
  }, 300_000)
})
