import { getAll } from '../entity.ts'
import { sumOf } from '../bins.ts'
import type { Point, SeriesGeneration, SeriesReader, Stretch } from '../series.ts'
import { everyItem, type Reader } from '../table.ts'
import type { TimelineItem } from './items.ts'
import { kegs, locationPartition, tapIdOf } from './keys.ts'
import { batteryOfTap, poursOfTap, readingsOfKeg, readingsOfTap, unseenOfTap } from './series.ts'
import { kegThroughout, type KegSpan, type Span } from './spans.ts'

/** A range of time in epoch milliseconds. `from` is inclusive, `to` is exclusive. */
export interface Range {
  readonly from: number
  readonly to: number
}

export interface TapKegs {
  readonly tap: string
  readonly timeline: TimelineItem
}

const TIMELINES = 'TIMELINE#TAP#'

export const tapsOf = async (reader: Reader, loc: string): Promise<readonly TapKegs[]> =>
  (await everyItem(reader, { pk: locationPartition(loc), prefix: TIMELINES, limit: 100 })).map((item) => ({
    tap: item.SK.slice(TIMELINES.length),
    timeline: item as TimelineItem,
  }))

/** The keg that is on the tap now, with all its spans. If there is no keg, the span since the previous keg left the tap. */
export const presentOf = ({
  kegs,
}: TimelineItem): { readonly keg: KegSpan | undefined; readonly spans: readonly Span[] } => {
  const last = kegs.at(-1)
  if (last?.to !== null) return { keg: undefined, spans: [{ from: last?.to ?? 0, to: null }] }
  return { keg: last, spans: kegs.filter(({ keg_id }) => keg_id === last.keg_id) }
}

export const within = ({ from, to }: Span, range: Range): Range => ({
  from: Math.max(from, range.from),
  to: Math.min(to ?? range.to, range.to),
})

/**
 * Rows of readings expire before they are this old. A reading stays in the partition of the keg that was recorded when
 * it arrived, even if a correction attributes it to another keg. So partitions of earlier kegs are read, too.
 */
const ROWS_MS = 31 * 86_400_000

/**
 * The partitions that can contain the readings of the range. A reading is never in the partition of a keg that was
 * tapped after the reading, because a correction moves the end of a keg and not its start.
 */
const partitionsOf = (loc: string, { tap, timeline }: TapKegs, range: Range): readonly string[] => [
  ...timeline.kegs
    .filter(({ from, to }) => from < range.to && (to ?? Infinity) >= range.from - ROWS_MS)
    .map(({ keg_id }) => readingsOfKeg(keg_id)),
  readingsOfTap(tapIdOf(loc, tap)),
]

export const readingsIn = (loc: string, kegs: TapKegs, range: Range): Stretch => ({
  measure: 'reading',
  where: { tap_id: tapIdOf(loc, kegs.tap) },
  ...range,
  partitions: [...new Set(partitionsOf(loc, kegs, range))],
})

export const everywhere = (loc: string, taps: readonly TapKegs[], range: Range): Stretch => ({
  measure: 'reading',
  where: { loc_id: loc },
  ...range,
  partitions: [...new Set(taps.flatMap((kegs) => partitionsOf(loc, kegs, range)))],
})

/** The telemetry messages with a battery in the same range as the readings. */
export const batteriesIn = (loc: string, taps: readonly TapKegs[], { where, from, to }: Stretch): Stretch => ({
  measure: 'battery',
  where,
  from,
  to,
  partitions: taps.map(({ tap }) => batteryOfTap(tapIdOf(loc, tap))),
})

/** Returns the newest point that the query (`stretch`) finds if `newest`, else the oldest. Undefined if it finds no point. */
export const edgePoint = async (
  points: SeriesReader,
  stretch: Stretch,
  newest: boolean,
): Promise<Point | undefined> => {
  for await (const page of points.points(stretch, { newest, limit: 1 })) if (page[0] !== undefined) return page[0]
  return undefined
}

/** A pour, or the beer that left a keg while its scale sent nothing. The gallons are calculated with the specific gravity of the keg. */
export interface Pour {
  readonly at: number
  readonly end: number
  readonly gallons: number
  readonly keg: KegSpan
}

export const gallonsIn = (pours: readonly Pour[]): number => sumOf(pours.map(({ gallons }) => gallons))

/** For each measure of beer that left a keg, the function that returns the partition of its points in a store of items. */
const LEFT = { pour: poursOfTap, unseen: unseenOfTap } as const
type Left = keyof typeof LEFT
/** The beer that left the kegs, by measure. The list of a measure that was not requested is empty. */
type LeftPours = Readonly<Record<Left, readonly Pour[]>>

interface LeftIn extends Pick<Stretch, 'where'> {
  readonly range: Range
  /** The kegs of each tap, by the id of the tap. */
  readonly kegs: ReadonlyMap<string, readonly KegSpan[]>
}

/** The beer that left the kegs in a time range, by measure. Reads the row of each keg once for all measures. */
const leftIn = async (
  { reader, points }: SeriesGeneration,
  measures: readonly Left[],
  { where, range, kegs: spans }: LeftIn,
): Promise<LeftPours> => {
  const found = await Promise.all(
    measures.map(async (measure) => {
      const pours: Pour[] = []
      const stretch = { measure, where, ...range, partitions: [...spans.keys()].map(LEFT[measure]) }
      for await (const page of points.points(stretch))
        for (const point of page) pours.push(...pourOf(point, spans.get(point.dims['tap_id'] ?? '') ?? []))
      return { measure, pours }
    }),
  )
  const ids = [...new Set(found.flatMap(({ pours }) => pours.map(({ keg }) => keg.keg_id)))]
  const items = await getAll(
    reader,
    ids.map((keg) => kegs.key(keg)),
  )
  const voids = new Map(ids.map((keg, index) => [keg, items[index]?.voids ?? []]))
  const isVoided = ({ at, keg }: Pour): boolean =>
    voids.get(keg.keg_id)?.some(({ from, to }) => from <= at && at <= to) === true
  const of = (wanted: Left): readonly Pour[] => found.flatMap(({ measure, pours }) => (measure === wanted ? pours : []))
  return {
    pour: of('pour').filter((pour) => !isVoided(pour)),
    // If a person declared that nothing was poured, the gallons become 0. The time in which the scale sent nothing stays.
    unseen: of('unseen').map((silence) => (isVoided(silence) ? { ...silence, gallons: 0 } : silence)),
  }
}

const pourOf = ({ at, values: { gallons, sg, ended_at } }: Point, kegs: readonly KegSpan[]): readonly Pour[] => {
  const end = typeof ended_at === 'number' ? ended_at : at
  const keg = kegThroughout(kegs, { from: at, to: end })
  if (keg === undefined || typeof gallons !== 'number') return []
  return [{ at, end, keg, gallons: typeof sg === 'number' && sg !== keg.sg ? (gallons * sg) / keg.sg : gallons }]
}

/** The beer that left the kegs of a location. */
export const leftAt = async (
  series: SeriesGeneration,
  measures: readonly Left[],
  loc: string,
  range: Range,
): Promise<LeftPours> => {
  const kegs = new Map(
    (await tapsOf(series.reader, loc)).map(({ tap, timeline }) => [tapIdOf(loc, tap), timeline.kegs]),
  )
  return leftIn(series, measures, { where: { loc_id: loc }, range, kegs })
}

/** The beer that left the kegs of a tap. */
export const leftOnTap = (
  series: SeriesGeneration,
  { loc, tap, timeline }: TapKegs & { readonly loc: string },
  range: Range,
): Promise<LeftPours> =>
  leftIn(series, ['pour', 'unseen'], {
    where: { tap_id: tapIdOf(loc, tap) },
    range,
    kegs: new Map([[tapIdOf(loc, tap), timeline.kegs]]),
  })
