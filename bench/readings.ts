import { KEG_TYPES } from '../projections/scales/keg-types.ts'
import type { Event } from '../schemas/event.ts'
import type { ReadingReportedData } from '../schemas/generated/scales.ts'

/** Bars with a device and a keg at every tap, and what their scales say, tap after tap. */
export interface Bars {
  readonly locations: number
  readonly taps: number
  readonly readings: number
  /** Between two readings of one tap. */
  readonly everyMs: number
  /** When the kegs were tapped; the first readings follow. */
  readonly from: number
}

interface Said {
  readonly index: number
  readonly key: string
  readonly at: number
}

const { full_lbs: FULL, empty_lbs: EMPTY } = KEG_TYPES['half_barrel'] ?? { full_lbs: 161.5, empty_lbs: 29 }
const GLASS_EVERY = 20
const GLASS_LBS = 1.05

export const locOf = (index: number): string => `loc-${String(index + 1).padStart(3, '0')}`
export const tapOf = (index: number): string => String(index + 1).padStart(2, '0')

const eventOf = (type: string, { index, key, at }: Said, data: unknown): Event => ({
  type,
  meta: {
    eventId: `0190b1ec-0000-7000-8000-${String(index).padStart(12, '0')}`, key, occurredAt: at, recordedAt: at, source: 'bench', correlationId: null, causationId: null, actorId: key, subjectId: null, request: null,
  },
  data,
  personal: null,
})

/** Registered, assigned and tapped. */
export const openings = ({ locations, taps, from }: Pick<Bars, 'locations' | 'taps' | 'from'>): readonly Event[] => {
  const events: Event[] = []
  for (let place = 0; place < locations * taps; place += 1) {
    const [key, tap, device_id] = [locOf(Math.floor(place / taps)), tapOf(place % taps), `scale-${place}`]
    const said = (nth: number) => ({ index: place * 3 + nth, key, at: from })
    events.push(eventOf('DeviceRegistered', said(0), { device_id, epoch: 1 }), eventOf('DeviceAssigned', said(1), { tap, device_id }))
    events.push(eventOf('KegTapped', said(2), { tap, keg_id: `keg-${place}`, beer_id: 'ipa', keg_type: 'half_barrel', full_lbs: FULL, empty_lbs: EMPTY, sg: 1.013, tapped_at: from }))
  }
  return events
}

/** A glass now and then, a little noise, a battery that runs down, and a full keg when one is empty. */
export const readingAt = (nth: number): Pick<ReadingReportedData, 'weight_lbs' | 'level_pct' | 'battery_v' | 'battery_pct'> => {
  const poured = (Math.floor(nth / GLASS_EVERY) * GLASS_LBS) % (FULL - EMPTY - 25)
  const weight_lbs = Math.round((FULL - poured + (nth % 3) * 0.01) * 100) / 100
  const level_pct = Math.round(((weight_lbs - EMPTY) / (FULL - EMPTY)) * 1000) / 10
  return { weight_lbs, level_pct, battery_v: 3.9, battery_pct: 95 - Math.floor((nth / 5_000) % 60) }
}

export function* readings({ locations, taps, readings: count, everyMs, from }: Bars): Generator<Event> {
  const places = locations * taps
  for (let index = 0; index < count; index += 1) {
    const [place, nth] = [index % places, Math.floor(index / places)]
    const [key, at] = [locOf(Math.floor(place / taps)), from + (nth + 1) * everyMs]
    const named = { device_id: `scale-${place}`, epoch: 1, boot: 'b1', seq: nth + 1, at, device_ts: null, age_ms: 0, clamped: false }
    const data: ReadingReportedData = { ...named, ...readingAt(nth), tare_status: null, fw: null, dropped: null }
    yield eventOf('ReadingReported', { index: places * 3 + index, key, at }, data)
  }
}
