import type { LogRecord } from '../../engine/log.ts'
import type { Encoded, Incoming } from './block.ts'

/** What one flush wrote, by topic, as it would be read back. */
export type Flushed = ReadonlyMap<number, readonly LogRecord[]>

/** As many as a subscriber is handed at once at most; a flush that is larger is read back from the disk in parts. */
const RECORDS = 1_000
const BYTES = 1024 * 1024

/** The records of the last flush: who follows the log need not read them back. */
export const createLatest = () => {
  let latest: Flushed = new Map()
  return {
    set: (flushed: Flushed): void => void (latest = flushed),
    /** From an offset on, if the last flush wrote it. */
    from: (topic: number, offset: number): readonly LogRecord[] | undefined => {
      const records = latest.get(topic) ?? []
      const index = offset - (records[0]?.offset ?? Infinity)
      return index >= 0 && index < records.length ? records.slice(index) : undefined
    },
  }
}

/** Views into the bytes that were written, and keys as UTF-8 can say them: what the appender does with its own later changes nothing. */
export const flushedOf = (records: readonly Incoming[], { bytes, ends }: Encoded, first: number): readonly LogRecord[] => {
  if (records.length > RECORDS || bytes.length > BYTES) return []
  return records.map(({ timestamp, key, value }, index) => {
    const end = ends[index] ?? 0
    return { partition: 0, offset: first + index, timestamp, key: wellFormed(key), value: bytes.subarray(end - value.length, end) }
  })
}

const wellFormed = (key: string): string => (/\p{Cs}/u.test(key) ? Buffer.from(key).toString() : key)
