import type { LogRecord } from '../ports/log.ts'
import type { ProcessorParts } from './processor-parts.ts'

/**
 * The maximum number of records that are folded into an embedded store before other work of the process runs. Such a store reads and
 * commits without await, so a long batch would block the process. A remote store gets the whole batch, because then it loads and writes
 * each key once.
 */
const PART_RECORDS = 16
/** The same maximum for a domain with a series store. It is larger, because each part costs one write of points. */
const SERIES_PART_RECORDS = 256

/** Returns the parts of a batch, which are folded one after the other. */
export const partsOf = (
  records: readonly LogRecord[],
  { store: { peek }, series }: Pick<ProcessorParts, 'store' | 'series'>,
): readonly (readonly LogRecord[])[] => {
  if (peek === undefined) return [records]
  const size = series === undefined ? PART_RECORDS : SERIES_PART_RECORDS
  return Array.from({ length: Math.ceil(records.length / size) }, (_, part) =>
    records.slice(part * size, (part + 1) * size),
  )
}
