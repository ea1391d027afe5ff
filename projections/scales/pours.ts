import { msOf } from '../instant.ts'
import { getAll, type Range } from '../entity.ts'
import type { Page, Reader } from '../table.ts'
import type { KegItem, PourItem, TimelineItem } from './items.ts'
import { kegs, pours, timelines } from './keys.ts'
import { kegThroughout } from './spans.ts'

/** A pour. `voided`: a person declared that nothing was poured in this time. */
export interface Pour {
  readonly tap: string
  readonly keg_id: string | null
  readonly start: string
  readonly end: string
  readonly gallons: number
  readonly voided?: true
}

/**
 * Returns the pours of a location with the kegs that are known now, and marks the pours that a person cancelled (voids).
 * The stored pours are not up to date: the fold of a correction or of a void cannot list the pours of a time.
 */
export const poursOf = async (reader: Reader, loc: string, range: Range): Promise<Page<Pour>> => {
  const { items: found, ...rest } = await pours.page(reader, loc, range)
  const taps = [...new Set(found.map(({ tap }) => tap))]
  const known = await getAll(
    reader,
    taps.map((tap) => timelines.key(loc, tap)),
  )
  const attributed = found.flatMap((pour) => attribute(pour, known[taps.indexOf(pour.tap)]))
  const ids = [...new Set(attributed.flatMap(({ keg_id }) => keg_id ?? []))]
  const named = await getAll(
    reader,
    ids.map((id) => kegs.key(id)),
  )
  return { items: attributed.map((pour) => withVoid(pour, named[ids.indexOf(pour.keg_id ?? '')])), ...rest }
}

/**
 * The pour with the keg that the timeline names for its time. A pour before the first span of the timeline keeps its stored keg, because
 * the timeline drops its oldest kegs. A pour during which the keg changed is left out.
 */
const attribute = (
  { tap, keg_id, start, end, gallons, sg }: PourItem,
  timeline: TimelineItem | undefined,
): readonly Pour[] => {
  const [from, to] = [msOf(start), msOf(end)]
  if (from < (timeline?.kegs[0]?.from ?? Infinity)) return [{ tap, keg_id, start, end, gallons }]
  const keg = kegThroughout(timeline?.kegs ?? [], { from, to })
  return keg === undefined ? [] : [{ tap, keg_id: keg.keg_id, start, end, gallons: (gallons * sg) / keg.sg }]
}

const withVoid = (pour: Pour, keg: KegItem | undefined): Pour => {
  const at = msOf(pour.start)
  return keg?.voids?.some(({ from, to }) => from <= at && at <= to) ? { ...pour, voided: true } : pour
}
