import type { LogRecord } from '../../engine/ports/log.ts'
import type { Encoded, Incoming } from './block.ts'

/** The records of one flush, by topic, as a read from the disk returns them. */
export type Flushed = ReadonlyMap<number, readonly LogRecord[]>

/** The largest batch of a subscriber. Subscribers read a larger flush from the disk. */
const RECORDS = 1_000
const BYTES = 1024 * 1024

/** Stores the records of the last flush, so that subscribers do not read them from the disk. */
export const createLatest = () => {
  let latest: Flushed = new Map()
  return {
    set: (flushed: Flushed): void => void (latest = flushed),
    /** The records from an offset on. Undefined if the last flush did not write that offset. */
    from: (topic: number, offset: number): readonly LogRecord[] | undefined => {
      const records = latest.get(topic) ?? []
      const index = offset - (records[0]?.offset ?? Infinity)
      return index >= 0 && index < records.length ? records.slice(index) : undefined
    },
  }
}

/**
 * The records of a flush. Values are views into the written bytes, so later changes of the appender's buffers have no effect. Keys are
 * well-formed, as UTF-8 stores them.
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
