import type { SeriesGeneration } from '../series.ts'
import type { KegItem } from './items.ts'
import { tapIdOf } from './keys.ts'
import { edgePoint, gallonsIn, leftOnTap, readingsIn, tapsOf, within } from './series-stretches.ts'

export interface Lifespan {
  readonly keg_id: string
  readonly tap_id: string
  readonly beer_id: string
  readonly tapped_at: number
  readonly finished_at: number | null
  readonly last_reading: number | null
  /** Everything that left the keg: its pours and `unseen_gallons`. */
  readonly total_poured_gallons: number
  /** Gallons that left the keg while its scale sent nothing. */
  readonly unseen_gallons: number
  /** Whole hours from the tapping to the last reading. */
  readonly lifespan_hours: number | null
}

const HOUR_MS = 3_600_000

/** The times of a keg and the beer that left it, over all taps on which it was. */
export const lifespanOf = async (
  series: SeriesGeneration,
  { loc, item, keg, now }: { readonly loc: string; readonly item: KegItem; readonly keg: string; readonly now: number },
): Promise<Lifespan> => {
  const onTaps = (await tapsOf(series.reader, loc)).flatMap((kegs) =>
    kegs.timeline.kegs.filter((span) => span.keg_id === keg && span.from !== span.to).map((span) => ({ kegs, span })),
  )
  let last_reading: number | null = null
  let [poured_gallons, unseen_gallons] = [0, 0]
  for (const { kegs, span } of onTaps) {
    const range = within(span, { from: 0, to: now + 1 })
    const newest = await edgePoint(series.points, readingsIn(loc, kegs, range), true)
    if (newest !== undefined) last_reading = Math.max(last_reading ?? 0, newest.at)
    const left = await leftOnTap(series, { loc, ...kegs }, range)
    poured_gallons += gallonsIn(left.pour)
    unseen_gallons += gallonsIn(left.unseen)
  }
  const tapped_at = Math.min(...onTaps.map(({ span }) => span.from), Date.parse(item.tapped_at))
  return {
    keg_id: keg,
    tap_id: tapIdOf(loc, item.tap),
    beer_id: item.beer_id,
    tapped_at,
    finished_at: item.finished_at === undefined ? null : Date.parse(item.finished_at),
    last_reading,
    total_poured_gallons: poured_gallons + unseen_gallons,
    unseen_gallons,
    lifespan_hours: last_reading === null ? null : Math.floor((last_reading - tapped_at) / HOUR_MS),
  }
}
