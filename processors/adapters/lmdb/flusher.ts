import { Fault } from '../../../schemas/fault.ts'
import type { Position } from '../../engine/log.ts'
import type { Incoming } from './block.ts'
import { asFault, causeOf, isFull } from './environment.ts'
import { endOf, type LogFiles } from './log-files.ts'
import { loadTail, putRecords, type Tail } from './topic.ts'

interface Waiting {
  readonly topic: number
  readonly records: readonly Incoming[]
  readonly bytes: number
  resolve(positions: readonly Position[]): void
  reject(fault: Fault): void
}

/** What one flush takes at most, so that the first of a long queue need not wait for the last. */
const FLUSH_BYTES = 4 * 1024 * 1024
const QUEUE_BYTES = 64 * 1024 * 1024

export interface FlusherParts {
  readonly files: () => LogFiles
  /** Closes the environment and opens it anew: what is on disk then is what there is. */
  readonly reopen: () => Promise<void>
  /** Called when records of a topic are on disk. */
  readonly grown: (topic: number) => void
}

/** One transaction and one sync for all who wait. Nobody hears of success before the sync, or of anything after a failure but the failure. */
export const createFlusher = ({ files, reopen, grown }: FlusherParts) => {
  const tails = new Map<number, Tail>()
  const groups = new Map<string, number>()
  let queue: Waiting[] = []
  let bytes = 0
  let running: Promise<void> | undefined

  const tailOf = (topic: number): Tail => {
    const tail = tails.get(topic) ?? loadTail(files(), topic)
    tails.set(topic, tail)
    return tail
  }
  const high = (topic: number): number => {
    const { first, keys } = tailOf(topic)
    return first + keys.length
  }
  const take = (): Waiting[] => {
    let size = 0
    const count = queue.findIndex(waiting => (size += waiting.bytes) > FLUSH_BYTES)
    const taken = count < 0 ? queue : queue.slice(0, Math.max(count, 1))
    queue = queue.slice(taken.length)
    return taken
  }
  const flush = async (waiting: readonly Waiting[]): Promise<void> => {
    const offsets = new Map(groups)
    const written = await write(files(), { waiting, offsets, tailOf })
    for (const [topic, tail] of written) tails.set(topic, tail)
    for (const [group, offset] of offsets) if (groups.get(group) === offset) groups.delete(group)
    for (const topic of written.keys()) grown(topic)
  }
  /** Whether a failed flush is on disk after all is read from the disk, never guessed. */
  const failed = async (waiting: readonly Waiting[], error: unknown): Promise<void> => {
    const cause = await causeOf(error)
    const before = new Map([...new Set(waiting.map(({ topic }) => topic))].map(topic => [topic, high(topic)]))
    const found = await reopen().then(() => undefined, (fault: unknown) => asFault(fault, 'log-unavailable', 'The log cannot be opened again.'))
    tails.clear()
    for (const { topic, reject } of waiting) {
      const unknown = found !== undefined || endOf(files(), topic) > (before.get(topic) ?? 0)
      reject(faultOf(cause, unknown))
    }
  }
  const run = async (): Promise<void> => {
    // Who appends in this turn of the event loop goes along.
    await new Promise(resolve => setImmediate(resolve))
    while (queue.length > 0 || groups.size > 0) {
      const waiting = take()
      const starts = new Map<Waiting, number>()
      try {
        const next = new Map<number, number>()
        for (const one of waiting) {
          const start = next.get(one.topic) ?? high(one.topic)
          starts.set(one, start)
          next.set(one.topic, start + one.records.length)
        }
        await flush(waiting)
        for (const one of waiting) one.resolve(one.records.map((_, index) => ({ partition: 0, offset: (starts.get(one) ?? 0) + index })))
      } catch (error) {
        await failed(waiting, error)
        if (waiting.length === 0) return
      } finally {
        for (const one of waiting) bytes -= one.bytes
      }
    }
  }
  const start = (): Promise<void> => running ??= run().finally(() => {
    running = undefined
  })
  return {
    high,
    append: (topic: number, records: readonly Incoming[], size: number): Promise<readonly Position[]> => {
      if (bytes + size > QUEUE_BYTES) return Promise.reject(overloaded())
      bytes += size
      return new Promise((resolve, reject) => {
        queue.push({ topic, records, bytes: size, resolve, reject })
        void start()
      })
    },
    /** A group's offset, which goes to disk with the next flush. */
    reached: (group: string, offset: number) => void groups.set(group, offset),
    pendingOffset: (group: string): number | undefined => groups.get(group),
    settled: async (): Promise<void> => {
      if (queue.length > 0 || groups.size > 0) await start()
      else await running
    },
  }
}

export type Flusher = ReturnType<typeof createFlusher>

interface Flush {
  readonly waiting: readonly Waiting[]
  readonly offsets: ReadonlyMap<string, number>
  readonly tailOf: (topic: number) => Tail
}

const write = async (files: LogFiles, { waiting, offsets, tailOf }: Flush): Promise<ReadonlyMap<number, Tail>> => {
  const byTopic = new Map<number, Incoming[]>()
  for (const { topic, records } of waiting) {
    const all = byTopic.get(topic)
    if (all === undefined) byTopic.set(topic, [...records])
    else for (const record of records) all.push(record)
  }
  const written = new Map<number, Tail>()
  await files.root.batch(() => {
    for (const [topic, records] of byTopic) written.set(topic, putRecords(files, topic, { tail: tailOf(topic), records }))
    for (const [group, offset] of offsets) void files.meta.put(group, offset)
  })
  return written
}

const overloaded = (): Fault =>
  new Fault('log-overloaded', `More than ${QUEUE_BYTES} bytes wait to be appended. Send slower; nothing of this request was written.`, { retriable: true })

const faultOf = (cause: unknown, unknown: boolean): Fault => {
  if (unknown) return asFault(cause, 'append-unknown', 'The disk failed while the records were written; they may be in the log. Send them again with the same ids')
  if (isFull(cause)) return asFault(cause, 'log-full', 'The disk is full; nothing was written. Free space and send again')
  return asFault(cause, 'log-unavailable', 'The log cannot be written; nothing was written. Check the disk')
}
