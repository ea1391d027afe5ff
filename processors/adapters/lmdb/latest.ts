import type { LogRecord } from '../../engine/ports/log.ts'
import type { Encoded, Incoming } from './block.ts'

/** The records of one flush, by topic number. They are equal to the records that a read from the disk returns. */
export type Flushed = ReadonlyMap<number, readonly LogRecord[]>

/** The maximum batch of a subscriber, in records and in bytes. A larger flush is not kept here, and subscribers read it from the disk. */
const RECORDS = 1_000
const BYTES = 1024 * 1024

/** Stores the records of the last flush, so that subscribers do not read them from the disk. */
export const createLatest = () => {
  let latest: Flushed = new Map()
  return {
    set: (flushed: Flushed): void => void (latest = flushed),
    /** Returns the kept records from an offset on. Undefined: the record at this offset is not kept. */
    from: (topic: number, offset: number): readonly LogRecord[] | undefined => {
      const records = latest.get(topic) ?? []
      const index = offset - (records[0]?.offset ?? Infinity)
      return index >= 0 && index < records.length ? records.slice(index) : undefined
    },
  }
}

/**
 * Returns the records of a flush, or none if the flush is larger than a batch. Values are views into the written bytes, so later changes of the
 * appender's buffers have no effect. Keys are well-formed Unicode, the same as after a read from the disk.
 */
export const flushedOf = (
  records: readonly Incoming[],
  { bytes, ends }: Encoded,
  first: number,
): readonly LogRecord[] => {
  if (records.length > RECORDS || bytes.length > BYTES) return []
  return records.map(({ timestamp, key, value }, index) => {
    const end = ends[index] ?? 0
    return {
      partition: 0,
      offset: first + index,
      timestamp,
      key: wellFormed(key),
      value: bytes.subarray(end - value.length, end),
    }
  })
}

const wellFormed = (key: string): string => (/\p{Cs}/u.test(key) ? Buffer.from(key).toString() : key)
