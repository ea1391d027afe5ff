import fc from 'fast-check'
import type { Event } from '../../../schemas/event.ts'
import * as events from './events.ts'

// There are few locations, taps, devices and kegs, so that events affect each other. The clock never goes back, and every event has its own id.

/** Makes one or several events at a time in epoch milliseconds. */
type AtTime = (now: number) => Event | readonly Event[]

const key = fc.constantFrom('loc-001', 'loc-002')
const tap = fc.constantFrom('01', '02', '03')
/** Generates a device of the location. No device or keg is in two locations: the edge prevents this, and a device is claimed by one location only. */
const deviceOf = (loc: string) => fc.constantFrom(`${loc}-A`, `${loc}-B`)
const kegOf = (loc: string) => fc.constantFrom(...['k1', 'k2', 'k3', 'k4'].map((name) => `${loc}-${name}`))
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const age = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(10_000, 120_000, 1_800_000) },
)
const weight_lbs = fc.oneof(
  fc.constantFrom(161, 160, 158, 95.25, 94, 93.9, 40, 31, 29, 10),
  fc.double({ min: 0, max: 170, noNaN: true }).filter((lbs) => lbs === 0 || lbs >= 1e-100),
)
const level_pct = maybe(fc.constantFrom(90, 50, 18, 14, 3, 21))
const battery_pct = maybe(fc.constantFrom(80, 24, 26, 10, 19))
let seq = 0
const aSeq = fc.oneof(
  { weight: 9, arbitrary: fc.constant(null).map(() => ++seq) },
  { weight: 1, arbitrary: fc.constantFrom(900_001, 900_002) },
)

const atLocation = <T>(
  make: (loc: string) => fc.Arbitrary<T>,
  makeEvent: (it: T, now: number, meta: { key: string; occurredAt: number }) => Event,
): fc.Arbitrary<AtTime> =>
  key.chain((loc) => make(loc).map((it) => (now: number) => makeEvent(it, now, { key: loc, occurredAt: now })))

const aReading = atLocation(
  (loc) =>
    fc.record({
      device_id: deviceOf(loc),
      boot: fc.constantFrom('b1', 'b2'),
      seq: aSeq,
      age,
      weight_lbs: maybe(weight_lbs),
      level_pct,
      battery_pct,
    }),
  ({ age, ...reading }, now, meta) =>
    events.reading({ ...reading, at: now - age, meta: { ...meta, occurredAt: now - age, recordedAt: now } }),
)

/** Four readings of a weight that falls. If `stays` is false, the weight then rises again, so this is no pour. */
const aPour: fc.Arbitrary<AtTime> = fc
  .record({ from: fc.constantFrom(150, 100, 40), lbs: fc.constantFrom(0.2, 1.1, 5), stays: fc.boolean() })
  .map(
    ({ from, lbs, stays }) =>
      (now) =>
        [from, from, from - lbs, stays ? from - lbs : from].map((weight_lbs, n) => {
          const occurredAt = now + n * events.MINUTE
          return events.reading({
            device_id: 'loc-001-A',
            weight_lbs,
            level_pct: null,
            at: occurredAt,
            meta: { key: 'loc-001', occurredAt },
          })
        }),
  )

const settingsChanged = {
  grace_period_secs: maybe(fc.constantFrom(0, 60, 300)),
  low_keg_pct: maybe(fc.constantFrom(15, 20)),
  silent_after_secs: maybe(fc.constantFrom(60, 600)),
  pour_min_gallons: maybe(fc.constantFrom(0.02, 0.05, 1)),
  pour_settle_secs: maybe(fc.constantFrom(5, 60)),
}

const devices: readonly fc.WeightedArbitrary<AtTime>[] = [
  {
    weight: 2,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc) }),
      (it, _, meta) => events.registered({ ...it, meta }),
    ),
  },
  {
    weight: 4,
    arbitrary: atLocation(
      (loc) => fc.record({ tap, device_id: deviceOf(loc) }),
      (it, _, meta) => events.assigned({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ tap, device_id: deviceOf(loc) }),
      (it, _, meta) => events.unassigned({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc) }),
      (it, _, meta) => events.released({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc), online: fc.boolean() }),
      (it, _, meta) => events.status({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc), seq: aSeq, battery_pct }),
      (it, now, meta) => events.telemetry({ ...it, at: now, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc) }),
      (it, now, meta) => events.calibrated({ ...it, at: now, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc), seq: maybe(fc.nat({ max: 9 })) }),
      (it, now, meta) => events.quarantined({ ...it, at: now, meta }),
    ),
  },
  {
    weight: 2,
    arbitrary: atLocation(
      (loc) => fc.record({ device_id: deviceOf(loc) }),
      (it, _, meta) => events.silence({ ...it, meta }),
    ),
  },
]

const kegs: readonly fc.WeightedArbitrary<AtTime>[] = [
  {
    weight: 4,
    arbitrary: atLocation(
      (loc) => fc.record({ tap, keg_id: kegOf(loc), age }),
      ({ age, ...it }, now, meta) => events.tapped({ ...it, tapped_at: now - age, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ tap, keg_id: kegOf(loc), age }),
      ({ age, ...it }, now, meta) => events.finished({ ...it, at: now - age, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ tap, keg_id: kegOf(loc), new_keg_id: kegOf(loc), age }),
      ({ age, ...it }, now, meta) => events.corrected({ ...it, from: now - age, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) => fc.record({ keg_id: kegOf(loc), age }),
      ({ keg_id, age }, now, meta) => events.voided({ keg_id, from: now - age, to: now, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      () => fc.record({ tap }),
      (it, _, meta) => events.tapRemoved({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      (loc) =>
        fc.record({
          kind: fc.constantFrom('empty' as const, 'full' as const),
          tap: maybe(tap),
          device_id: deviceOf(loc),
        }),
      (it, now, meta) => events.tared({ ...it, at: now, meta }),
    ),
  },
]

const alert = fc.oneof(
  tap.map((one) => ({ type: 'low_keg', entity: `TAP#${one}` })),
  fc.record({
    type: fc.constantFrom('low_battery', 'silent_device'),
    entity: key.chain(deviceOf).map((one) => `DEVICE#${one}`),
  }),
)
const others: readonly fc.WeightedArbitrary<AtTime>[] = [
  {
    weight: 2,
    arbitrary: atLocation(
      () => alert,
      (it, _, meta) => events.acknowledged({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      () => fc.record(settingsChanged),
      (it, _, meta) => events.settings({ ...it, meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      () => fc.constant({}),
      (_, __, meta) => events.opened({ meta }),
    ),
  },
  {
    weight: 1,
    arbitrary: atLocation(
      () => fc.boolean(),
      (adds, _, meta) => (adds ? events.memberAdded({ meta }) : events.memberRemoved({ meta })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(events.beerDefined, events.beerChanged, events.beerRemoved, events.weightsSet, events.measured)
      .map((makeEvent) => (now) => makeEvent({ meta: { occurredAt: now } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .boolean()
      .map((claims) => (now) => (claims ? events.claimed : events.claimReleased)({ meta: { occurredAt: now } })),
  },
]

/**
 * The time between two events in milliseconds. It is at least 1: two events of one millisecond have no order except that of the log, and a
 * measurement of that millisecond could belong to the state before or after.
 */
const wait = fc.oneof(fc.constantFrom(1, 10_000, 60_000), fc.integer({ min: 1, max: 900_000 }))

const anEvent = fc.oneof(
  { weight: 14, arbitrary: aReading },
  { weight: 3, arbitrary: aPour },
  ...devices,
  ...kegs,
  ...others,
)

/** Generates histories of two bars. Half of them begin with the events that set up a bar. Without these, most events would change nothing. */
export const aHistory: fc.Arbitrary<readonly Event[]> = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(wait, anEvent), { maxLength: 40, size: 'max' }))
  .map(([isSetUp, steps]) => {
    let now = events.NOW
    const history = steps.flatMap(([ms, makeEvent]) => {
      const drawn = [makeEvent((now += ms))].flat() as readonly Event[]
      now = Math.max(now, ...drawn.map(({ meta }) => meta.recordedAt))
      return drawn
    })
    return isSetUp ? [...setUp(), ...history] : history
  })

const setUp = (): readonly Event[] => {
  const meta = { occurredAt: events.NOW - events.MINUTE }
  const device_id = 'loc-001-A'
  return [
    events.registered({ device_id, meta }),
    events.assigned({ device_id, tap: '01', meta }),
    events.tapped({ tap: '01', keg_id: 'loc-001-k1', tapped_at: meta.occurredAt, meta }),
  ]
}
