import { scales } from '../../processors/scales/domain.ts'
import { scalesSeries } from '../../processors/scales/series.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { ReadingReportedData } from '../../schemas/generated/scales.ts'
import type { Random } from '../../simulation/random.ts'
import { checkScales } from './checkers.ts'
import {
  createEventFactory,
  assignToClients,
  EPOCH,
  type EventDraft,
  type Workload,
} from '../../simulation/workload.ts'

const LOCATIONS = ['bar-a', 'bar-b']
const TAPS = ['01', '02']
const BEERS = ['ipa', 'stout']
const ALERTS = ['low_keg', 'low_battery', 'silent_device']
const [FULL, EMPTY] = [160, 30]

const codec = openCodec()

interface Scale {
  readonly id: string
  readonly sentReadings: ReadingReportedData[]
  boot: string
  seq: number
  weight: number
}

interface Bar {
  readonly loc: string
  readonly scales: readonly Scale[]
  /** Ids of the kegs that were put on a tap here, also of finished ones. */
  readonly kegs: string[]
}

interface DrawContext extends Bar {
  readonly random: Random
  readonly now: number
}

/**
 * Generates random events for one or two bars. Their scales send readings late, repeat them, and reuse sequence numbers. The first events have
 * times before the start of the run, so that timers are due during the run.
 */
export const scalesWorkload = (random: Random, length: number): Workload => {
  const factory = createEventFactory(random, {
    from: EPOCH - 150_000,
    stepMs: random.pick([600, 4_000, 60_000]),
    leapChance: 0.01,
  })
  const bars: readonly Bar[] = LOCATIONS.slice(0, random.between(1, 2)).map((loc) => ({
    loc,
    kegs: [],
    scales: TAPS.map((tap) => ({ id: `${loc}-d${tap}`, sentReadings: [], boot: 'b1', seq: 0, weight: FULL })),
  }))
  const events: Event[] = []
  const add = (draft: EventDraft) => void events.push(factory.create(draft))
  for (const bar of bars) openingEvents({ ...bar, random, now: factory.now() }).forEach(add)
  while (events.length < length + bars.length * 4) add(drawEvent({ ...random.pick(bars), random, now: factory.now() }))
  const keys = [...bars.flatMap(({ loc, scales: devices }) => [loc, ...devices.map(({ id }) => id)]), ...BEERS]
  return {
    domain: scales,
    codec,
    clients: assignToClients(random, { events, keys }),
    hasOutgoingEvents: true,
    users: [],
    check: checkScales,
    sameLogDomains: random.chance(0.5) ? [scalesSeries] : [],
  }
}

/** Returns the first events of a bar: settings, a device on a tap, and a keg. Leaves out each event with a small probability. */
const openingEvents = (context: DrawContext): readonly EventDraft[] => {
  const {
    random,
    loc: key,
    scales: [scale],
  } = context
  if (scale === undefined) return []
  const settings = {
    grace_period_secs: random.pick([0, 5, 60]),
    silent_after_secs: 30,
    pour_settle_secs: random.pick([1, 30]),
  }
  const opened = [
    settingsChanged(key, settings),
    statusReported(context, scale),
    { type: 'DeviceAssigned', key, data: { tap: '01', device_id: scale.id } },
    tapKeg(context, '01'),
  ]
  return opened.filter(() => random.chance(0.9))
}

const drawEvent = (context: DrawContext): EventDraft => {
  const { random, loc: key, scales: devices, kegs, now } = context
  const draw = random.next()
  const [tap, scale, keg_id] = [random.pick(TAPS), random.pick(devices), random.pick(['unknown', ...kegs])]
  if (draw < 0.52)
    return { type: 'ReadingReported', key, data: reading(context, random.chance(0.7) ? (devices[0] as Scale) : scale) }
  if (draw < 0.57) return { type: 'DeviceAssigned', key, data: { tap, device_id: scale.id } }
  if (draw < 0.59) return { type: 'DeviceUnassigned', key, data: { tap, device_id: scale.id } }
  if (draw < 0.66) return tapKeg(context, tap)
  if (draw < 0.69) return { type: 'KegFinished', key, data: { tap, keg_id, at: drawPast(context) } }
  if (draw < 0.74)
    return {
      type: 'KegAssignmentCorrected',
      key,
      data: { tap, keg_id, from: drawPast(context), new_keg_id: kegOf(context), ...kindOf(context) },
    }
  if (draw < 0.76) return { type: 'PourVoided', key, data: { keg_id, from: drawPast(context), to: now, reason: null } }
  if (draw < 0.8)
    return {
      type: 'TareRecorded',
      key,
      data: {
        kind: random.pick(['empty', 'full'] as const),
        tap: random.chance(0.5) ? tap : null,
        device_id: scale.id,
        value_lbs: random.pick([29.5, 160]),
        at: drawPast(context),
      },
    }
  if (draw < 0.85)
    return {
      type: 'AlertAcknowledged',
      key,
      data: alertOf(context, tap, scale),
      request: random.chance(0.2) ? { key: 'k1', hash: 'aa' } : null,
    }
  if (draw < 0.88) return telemetryReported(context, scale)
  if (draw < 0.9) return statusReported(context, scale)
  if (draw < 0.92)
    return settingsChanged(key, {
      low_keg_pct: random.pick([15, 60]),
      low_battery_pct: random.pick([10, 30]),
      grace_period_secs: random.pick([0, 5, 60]),
    })
  if (draw < 0.95) return { type: 'TapRemoved', key, data: { tap } }
  return drawRareEvent(context, scale)
}

/** Returns a random event of a rare type, about a device, a beer or a quarantined reading. */
const drawRareEvent = ({ random, loc, now }: DrawContext, { id: device_id, boot }: Scale): EventDraft => {
  const beer_id = random.pick(BEERS)
  const loc_id = random.chance(0.5) ? loc : null
  return random.pick<EventDraft>([
    { type: 'DeviceClaimed', key: device_id, data: { device_id, loc_id: loc } },
    { type: 'DeviceReleased', key: loc, data: { device_id } },
    { type: 'DeviceCalibrated', key: loc, data: { device_id, factor: 1.5, offset: 2, at: now } },
    {
      type: 'BeerDefined',
      key: loc_id ?? beer_id,
      data: { beer_id, loc_id, name: random.pick(['Pale', 'Dark']), style: null, specific_gravity: 1.01 },
    },
    { type: 'BeerRemoved', key: loc_id ?? beer_id, data: { beer_id, loc_id } },
    {
      type: 'ReadingQuarantined',
      key: loc,
      data: {
        device_id,
        boot,
        seq: random.between(1, 3),
        at: now,
        reason: random.pick(['range', 'future']),
        detail: 'no',
        reading: '{}',
      },
    },
  ])
}

const drawPast = ({ random, now }: DrawContext): number => now - (random.chance(0.7) ? 0 : random.between(0, 40_000))

const kegOf = ({ random, kegs, loc }: DrawContext): string => {
  if (kegs.length > 0 && random.chance(0.2)) return random.pick(kegs)
  kegs.push(`${loc}-k${kegs.length}`)
  return kegs.at(-1) as string
}

const kindOf = ({ random }: DrawContext) => ({
  beer_id: random.pick(BEERS),
  keg_type: 'half_barrel',
  full_lbs: FULL,
  empty_lbs: EMPTY,
  sg: random.pick([1, 1.01, 1.2]),
})

const tapKeg = (context: DrawContext, tap: string): EventDraft => ({
  type: 'KegTapped',
  key: context.loc,
  data: { tap, keg_id: kegOf(context), ...kindOf(context), tapped_at: drawPast(context) },
})

const alertOf = ({ random }: DrawContext, tap: string, { id }: Scale) => {
  const type = random.pick(ALERTS)
  return { type, entity: type === 'low_keg' ? `TAP#${tap}` : `DEVICE#${id}` }
}

const settingsChanged = (key: string, changes: object): EventDraft => {
  const unchanged = {
    grace_period_secs: null,
    pour_window_hours: null,
    low_keg_pct: null,
    low_battery_pct: null,
    silent_after_secs: null,
    timezone: null,
    pour_min_gallons: null,
    pour_settle_secs: null,
  }
  return { type: 'LocationSettingsChanged', key, data: { ...unchanged, ...changes } }
}

const statusReported = ({ random, loc: key }: DrawContext, { id: device_id, boot }: Scale): EventDraft => ({
  type: 'DeviceStatusReported',
  key,
  data: {
    device_id,
    epoch: 1,
    online: random.chance(0.8),
    boot,
    fw: null,
    dropped: null,
    tare_empty_offset: null,
    tare_full_lbs: null,
  },
})

const telemetryReported = (
  { random, loc: key, now }: DrawContext,
  { id: device_id, boot, seq }: Scale,
): EventDraft => ({
  type: 'TelemetryReported',
  key,
  data: {
    device_id,
    epoch: 1,
    boot,
    seq,
    at: now,
    battery_v: 3.7,
    battery_pct: random.pick([80, 25, 8]),
    tare_empty_offset: null,
    tare_full_lbs: null,
    fw: null,
    dropped: null,
  },
})

/** Returns a reading of a scale: new, late, repeated with another time, or with another weight and a used sequence number. */
const reading = (context: DrawContext, scale: Scale): ReadingReportedData => {
  const { random, now } = context
  const before = scale.sentReadings.length > 0 ? random.pick(scale.sentReadings) : undefined
  if (before !== undefined && random.chance(0.1)) return { ...before, at: before.at + random.pick([0, 0, 300]) }
  if (before !== undefined && random.chance(0.05))
    return { ...before, at: now, weight_lbs: (before.weight_lbs ?? 0) + 1 }
  // Restarts the first scale at most once: a tap remembers the sequence numbers of three boots only.
  if (scale.boot === 'b1' && scale.id.endsWith('01') && random.chance(0.03)) [scale.boot, scale.seq] = ['b2', 0]
  scale.seq += 1
  scale.weight = nextWeight(random, scale.weight)
  // Sometimes two readings have the same time, like those of a device with an inexact clock.
  const at =
    before !== undefined && random.chance(0.05) ? before.at : now - (random.chance(0.2) ? random.between(0, 60_000) : 0)
  const newReading: ReadingReportedData = {
    device_id: scale.id,
    epoch: random.chance(0.02) ? 0 : 1,
    boot: scale.boot,
    seq: scale.seq,
    at,
    device_ts: null,
    age_ms: 0,
    clamped: false,
    weight_lbs: random.chance(0.03) ? null : scale.weight,
    level_pct: random.chance(0.4) ? null : ((scale.weight - EMPTY) / (FULL - EMPTY)) * 100 + random.pick([0, 0, 0, 6]),
    battery_v: null,
    battery_pct: random.pick([80, 22, 8, null, null]),
    tare_status: null,
    fw: null,
    dropped: null,
  }
  scale.sentReadings.push(newReading)
  return newReading
}

/** Returns the next weight at random: almost the same, a glass less, an almost empty keg, a full keg, or less than an empty keg. */
const nextWeight = (random: Random, weight: number): number => {
  const next = random.pick([
    weight + 0.02,
    weight - 0.02,
    weight - 2,
    weight - 4,
    EMPTY + 5,
    EMPTY + 9,
    FULL,
    EMPTY - 1,
  ])
  return Math.round(next * 100) / 100
}
