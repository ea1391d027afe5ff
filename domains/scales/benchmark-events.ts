import { KEG_TYPES } from '../../projections/scales/keg-types.ts'
import type { Event } from '../../schemas/event.ts'
import type { ReadingReportedData } from '../../schemas/generated/scales.ts'

/** The size of a load: bars with a device and a keg at every tap. The taps send their readings in turn. */
export interface BarsLoad {
  readonly locations: number
  readonly taps: number
  readonly readings: number
  /** The time between two readings of one tap. */
  readonly everyMs: number
  /** The time when the kegs were tapped. The first readings follow one interval later. */
  readonly from: number
}

interface EventPosition {
  readonly index: number
  readonly key: string
  readonly at: number
}

const { full_lbs: FULL, empty_lbs: EMPTY } = KEG_TYPES['half_barrel'] ?? { full_lbs: 161.5, empty_lbs: 29 }
const GLASS_EVERY = 20
const GLASS_LBS = 1.05

export const locOf = (index: number): string => `loc-${String(index + 1).padStart(3, '0')}`
export const tapOf = (index: number): string => String(index + 1).padStart(2, '0')

const eventOf = (type: string, { index, key, at }: EventPosition, data: unknown): Event => ({
  type,
  meta: {
    eventId: `0190b1ec-0000-7000-8000-${String(index).padStart(12, '0')}`,
    key,
    occurredAt: at,
    recordedAt: at,
    source: 'bench',
    correlationId: null,
    causationId: null,
    actorId: key,
    subjectId: null,
    request: null,
  },
  data,
  personal: null,
})

/** Returns the events that register a device for every tap, assign it to the tap and tap a keg. */
export const openingEvents = ({
  locations,
  taps,
  from,
}: Pick<BarsLoad, 'locations' | 'taps' | 'from'>): readonly Event[] => {
  const events: Event[] = []
  for (let number = 0; number < locations * taps; number += 1) {
    const [key, tap, device_id] = [locOf(Math.floor(number / taps)), tapOf(number % taps), `scale-${number}`]
    const position = (nth: number) => ({ index: number * 3 + nth, key, at: from })
    events.push(
      eventOf('DeviceRegistered', position(0), { device_id, epoch: 1 }),
      eventOf('DeviceAssigned', position(1), { tap, device_id }),
    )
    events.push(
      eventOf('KegTapped', position(2), {
        tap,
        keg_id: `keg-${number}`,
        beer_id: 'ipa',
        keg_type: 'half_barrel',
        full_lbs: FULL,
        empty_lbs: EMPTY,
        sg: 1.013,
        tapped_at: from,
      }),
    )
  }
  return events
}

/** Returns the nth reading of a tap. A glass is poured at intervals, the battery runs down, and a full keg replaces an empty one. */
export const readingAt = (
  nth: number,
): Pick<ReadingReportedData, 'weight_lbs' | 'level_pct' | 'battery_v' | 'battery_pct'> => {
  const poured = (Math.floor(nth / GLASS_EVERY) * GLASS_LBS) % (FULL - EMPTY - 25)
  const weight_lbs = Math.round((FULL - poured + (nth % 3) * 0.01) * 100) / 100
  const level_pct = Math.round(((weight_lbs - EMPTY) / (FULL - EMPTY)) * 1000) / 10
  return { weight_lbs, level_pct, battery_v: 3.9, battery_pct: 95 - Math.floor((nth / 5_000) % 60) }
}

export function* readingEvents({ locations, taps, readings: count, everyMs, from }: BarsLoad): Generator<Event> {
  const allTaps = locations * taps
  for (let index = 0; index < count; index += 1) {
    const [number, nth] = [index % allTaps, Math.floor(index / allTaps)]
    const [key, at] = [locOf(Math.floor(number / taps)), from + (nth + 1) * everyMs]
    const identity = {
      device_id: `scale-${number}`,
      epoch: 1,
      boot: 'b1',
      seq: nth + 1,
      at,
      device_ts: null,
      age_ms: 0,
      clamped: false,
    }
    const data: ReadingReportedData = { ...identity, ...readingAt(nth), tare_status: null, fw: null, dropped: null }
    yield eventOf('ReadingReported', { index: allTaps * 3 + index, key, at }, data)
  }
}
