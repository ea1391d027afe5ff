import type { LogRecord } from './log.ts'
import type { ProcessorParts } from './processor.ts'

/**
 * The most records that are folded without a turn for other work of the process, if the store is in the process: neither its reads nor its
 * commits wait for anything, so a long batch would stop everything else. A remote store gets the whole batch, because each key is then
 * loaded and written once.
 */
const PART_RECORDS = 16
/** The same for a domain with a series store, where each part costs one write of points. */
const SERIES_PART_RECORDS = 256

/** The records of a batch, in the parts that are folded one after another. */
export const partsOf = (records: readonly LogRecord[], { store: { peek }, series }: Pick<ProcessorParts, 'store' | 'series'>): readonly (readonly LogRecord[])[] => {
  if (peek === undefined) return [records]
  const size = series === undefined ? PART_RECORDS : SERIES_PART_RECORDS
  return Array.from({ length: Math.ceil(records.length / size) }, (_, nth) => records.slice(nth * size, (nth + 1) * size))
}
