import { sumOf } from '../bins.ts'
import type { SeriesGeneration } from '../series.ts'
import { gallonsOf } from './gallons.ts'
import type { Settings } from './items.ts'
import { tapIdOf } from './keys.ts'
import { edgePoint, gallonsIn, leftOnTap, readingsIn, type TapKegs } from './series-stretches.ts'

export interface Rate {
  readonly tap_id: string
  readonly keg_id: string | null
  readonly window_hours: number
  /** Hours between the first and the newest reading of the window, without the times in which the scale sent nothing. */
  readonly observed_hours: number
  readonly poured_gallons: number
  /** Gallons that left the keg while its scale sent nothing. They are not in `poured_gallons` and not in the rate. */
  readonly unseen_gallons: number
  /** Null if nothing was poured, or if the observed time is 0. */
  readonly gallons_per_hour: number | null
  readonly gallons_left: number | null
  readonly hours_remaining: number | null
}

const HOUR_MS = 3_600_000

interface Rated extends TapKegs {
  readonly loc: string
  readonly now: number
  readonly settings: Settings
}

/** The pour rate of the keg on the tap, over the hours of the window in which its scale sent readings. Without a keg, rates are null. */
export const rateOf = async (
  series: SeriesGeneration,
  { loc, tap, timeline, now, settings: { pour_window_hours } }: Rated,
): Promise<Rate> => {
  const last = timeline.kegs.at(-1)
  const keg = last?.to === null ? last : undefined
  const nothing = {
    tap_id: tapIdOf(loc, tap),
    keg_id: keg?.keg_id ?? null,
    window_hours: pour_window_hours,
    observed_hours: 0,
    poured_gallons: 0,
    unseen_gallons: 0,
    gallons_per_hour: null,
    gallons_left: null,
    hours_remaining: null,
  }
  const range = { from: Math.max(keg?.from ?? now, now - pour_window_hours * HOUR_MS), to: now + 1 }
  if (keg === undefined || range.from >= range.to) return nothing
  const stretch = readingsIn(loc, { tap, timeline }, range)
  const [first, newest] = await Promise.all([
    edgePoint(series.points, stretch, false),
    edgePoint(series.points, stretch, true),
  ])
  const { pour: pours, unseen } = await leftOnTap(series, { loc, tap, timeline }, range)
  const silentMs = sumOf(unseen.map(({ at, end }) => end - at))
  const observed_hours =
    first === undefined || newest === undefined ? 0 : Math.max(0, newest.at - first.at - silentMs) / HOUR_MS
  const poured_gallons = gallonsIn(pours)
  const gallons_per_hour = observed_hours > 0 && poured_gallons > 0 ? poured_gallons / observed_hours : null
  const weight = newest?.values['weight_lbs']
  const gallons_left = gallonsOf({ weight_lbs: typeof weight === 'number' ? weight : null, ...keg })
  return {
    ...nothing,
    observed_hours,
    poured_gallons,
    unseen_gallons: gallonsIn(unseen),
    gallons_per_hour,
    gallons_left,
    hours_remaining:
      gallons_left === null || gallons_per_hour === null ? null : Math.max(0, gallons_left) / gallons_per_hour,
  }
}
