import { vi } from 'vitest'
import type { Assignment, LogRecord, Subscriber, Watermarks } from '../../processors/engine/ports/log.ts'

export interface Listener extends Subscriber {
  /** All processed records, in the order of their delivery. */
  readonly seen: LogRecord[]
  readonly failures: unknown[]
  readonly starts: Watermarks[]
  readonly owned: Set<number>
  /** The largest number of batches of one partition that ran at the same time. */
  overlap(): number
  /** Resolves when `count` records were processed. */
  saw(count: number): Promise<readonly LogRecord[]>
  texts(): string[]
}

export interface ListenerOptions {
  start?: (watermarks: Watermarks) => number | Promise<number>
  /** Runs before the records count as processed. If it throws, the batch fails. */
  during?: (records: readonly LogRecord[], lease: Assignment) => void | Promise<void>
}

export const text = (record: LogRecord): string => Buffer.from(record.value).toString()
export const bytes = (value: string): Uint8Array => Buffer.from(value)

/** A subscriber that records its calls. */
export function listener({
  start = (watermarks) => watermarks.low,
  during = () => {},
}: ListenerOptions = {}): Listener {
  const seen: LogRecord[] = []
  const failures: unknown[] = []
  const starts: Watermarks[] = []
  const owned = new Set<number>()
  const running = new Map<number, number>()
  let most = 0
  return {
    seen,
    failures,
    starts,
    owned,
    async assigned(watermarks) {
      starts.push(watermarks)
      const from = await start(watermarks)
      owned.add(watermarks.partition)
      return from
    },
    async batch(records, lease) {
      const now = (running.get(lease.partition) ?? 0) + 1
      running.set(lease.partition, now)
      most = Math.max(most, now)
      try {
        await during(records, lease)
        seen.push(...records)
      } finally {
        running.set(lease.partition, (running.get(lease.partition) ?? 1) - 1)
      }
    },
    revoked: (partition) => void owned.delete(partition),
    failed: (error) => void failures.push(error),
    overlap: () => most,
    saw: (count) =>
      vi.waitFor(
        () => {
          if (seen.length < count)
            throw new Error(`saw ${seen.length} of ${count} records; failures: ${failures.map(String).join('; ')}`)
          return seen
        },
        { timeout: 25_000, interval: 10 },
      ),
    texts: () => seen.map(text),
  }
}
