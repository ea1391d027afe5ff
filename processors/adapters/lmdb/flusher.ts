import { setImmediate as turn } from 'node:timers/promises'
import { Fault, isFault } from '../../../schemas/fault.ts'
import type { LogRecord, Position } from '../../engine/log.ts'
import { encodeRecords, type Incoming } from './block.ts'
import { asFault, causeOf, hasRoomFor } from './environment.ts'
import { createLatest, flushedOf, type Flushed } from './latest.ts'
import { endOf, type LogFiles } from './log-files.ts'
import { loadTail, putRecords, type Tail } from './topic.ts'
import { secondWriter } from './writer-guard.ts'

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
  /** Called when another process has appended to the log: from then on this one writes nothing. */
  readonly overtaken: (fault: Fault) => void
}

/** One transaction and one sync for all who wait. Nobody hears of success before the sync; after a failure each hears whether it is there. */
export const createFlusher = (parts: FlusherParts) => {
  const queue = createQueue()
  const tails = createTails(parts.files)
  const groups = new Map<string, number>()
  let running: Promise<void> | undefined
  let asked = false

  const flush = async (waiting: readonly Waiting[], before: Map<number, number>): Promise<void> => {
    const offsets = new Map(groups)
    for (const { topic } of waiting) before.set(topic, tails.high(topic))
    const places = placesOf(waiting, tails.high)
    const written = await write(parts.files(), { waiting, offsets, tails })
    tails.follow(written)
    for (const [group, offset] of offsets) if (groups.get(group) === offset) groups.delete(group)
    for (const one of waiting) one.resolve(places.get(one) ?? [])
    for (const topic of written.tails.keys()) parts.grown(topic)
  }
  const step = async (waiting: readonly Waiting[]): Promise<void> => {
    const before = new Map<number, number>()
    try {
      await flush(waiting, before)
    } catch (error) {
      tails.clear(error)
      await tell(waiting, { error, before, parts })
    } finally {
      queue.release(waiting)
    }
  }
  const run = async (): Promise<void> => {
    // Who appends in this turn of the event loop goes along.
    await turn()
    try {
      while (!queue.isEmpty() || asked) {
        asked = false
        await step(queue.take())
      }
    } finally {
      // In the same breath as the look at the queue: who comes later starts anew.
      running = undefined
    }
  }
  const start = (): Promise<void> => running ??= run()
  return {
    high: tails.high,
    latest: tails.latest,
    append: (topic: number, records: readonly Incoming[], bytes: number): Promise<readonly Position[]> =>
      new Promise((resolve, reject) => {
        queue.add({ topic, records, bytes, resolve, reject })
        void start()
      }),
    /** A group's offset, which goes to disk with the next flush. */
    reached: (group: string, offset: number): void => void groups.set(group, offset),
    pendingOffset: (group: string): number | undefined => groups.get(group),
    /** Everything up to here is on disk, offsets of groups too, or was told why not. */
    settled: async (): Promise<void> => {
      asked ||= groups.size > 0
      await (asked ? start() : running)
    },
  }
}

export type Flusher = ReturnType<typeof createFlusher>

const createQueue = () => {
  let queue: Waiting[] = []
  let bytes = 0
  return {
    isEmpty: (): boolean => queue.length === 0,
    add: (waiting: Waiting): void => {
      if (bytes + waiting.bytes > QUEUE_BYTES) return waiting.reject(overloaded())
      bytes += waiting.bytes
      queue.push(waiting)
    },
    take: (): Waiting[] => {
      let size = 0
      const over = queue.findIndex(waiting => (size += waiting.bytes) > FLUSH_BYTES)
      const taken = over < 0 ? queue : queue.slice(0, Math.max(over, 1))
      queue = queue.slice(taken.length)
      return taken
    },
    release: (taken: readonly Waiting[]): void => {
      for (const one of taken) bytes -= one.bytes
    },
  }
}

const createTails = (files: () => LogFiles) => {
  const tails = new Map<number, Tail>()
  const latest = createLatest()
  /** The transactions of the log when the first of these tails was loaded, and this writer's since. */
  let count: number | null | undefined
  let refused: Fault | undefined
  const counted = (): number | null => (count === undefined ? (count = files().guard?.count() ?? null) : count)
  const of = (topic: number): Tail => {
    counted()
    const tail = tails.get(topic) ?? loadTail(files(), topic)
    tails.set(topic, tail)
    return tail
  }
  return {
    of,
    /** The count with which the next transaction may commit. Throws for good once another process has appended. */
    count: (): number | null => {
      if (refused !== undefined) throw refused
      return counted()
    },
    high: (topic: number): number => {
      const { first, keys } = of(topic)
      return first + keys.length
    },
    latest: latest.from,
    follow: (written: Written): void => {
      for (const [topic, tail] of written.tails) tails.set(topic, tail)
      count = (counted() ?? 0) + 1
      latest.set(written.flushed)
    },
    clear: (error: unknown): void => {
      if (isFault(error, 'log-second-writer')) refused ??= error
      tails.clear()
      count = undefined
      latest.set(new Map())
    },
  }
}

const placesOf = (waiting: readonly Waiting[], high: (topic: number) => number): ReadonlyMap<Waiting, readonly Position[]> => {
  const next = new Map<number, number>()
  return new Map(waiting.map(one => {
    const first = next.get(one.topic) ?? high(one.topic)
    next.set(one.topic, first + one.records.length)
    return [one, one.records.map((_, index) => ({ partition: 0, offset: first + index }))]
  }))
}

interface Flush {
  readonly waiting: readonly Waiting[]
  readonly offsets: ReadonlyMap<string, number>
  readonly tails: Pick<ReturnType<typeof createTails>, 'of' | 'high' | 'count'>
}

interface Written {
  readonly tails: ReadonlyMap<number, Tail>
  readonly flushed: Flushed
}

const write = async (files: LogFiles, { waiting, offsets, tails: known }: Flush): Promise<Written> => {
  const count = known.count()
  refuseFull(files.path, waiting)
  const byTopic = new Map<number, Incoming[]>()
  for (const { topic, records } of waiting) {
    const all = byTopic.get(topic)
    if (all === undefined) byTopic.set(topic, [...records])
    else for (const record of records) all.push(record)
  }
  const tails = new Map<number, Tail>()
  const flushed = new Map<number, readonly LogRecord[]>()
  // The guard counts the transactions of this release only. So that an append by an earlier release is found too, the ends are compared.
  files.root.resetReadTxn()
  for (const topic of byTopic.keys()) if (endOf(files, topic) !== known.high(topic)) throw secondWriter(files.path)
  const isAlone = await files.guard?.commit(count, () => {
    for (const [topic, records] of byTopic) {
      const tail = known.of(topic)
      const encoded = encodeRecords(records)
      flushed.set(topic, flushedOf(records, encoded, tail.first + tail.keys.length))
      tails.set(topic, putRecords(files, topic, { tail, records, encoded }))
    }
    for (const [group, offset] of offsets) void files.meta.put(group, offset)
  })
  if (isAlone !== true) throw secondWriter(files.path)
  return { tails, flushed }
}

interface Failure {
  readonly error: unknown
  /** Ends of the topics before the flush. */
  readonly before: ReadonlyMap<number, number>
  readonly parts: FlusherParts
}

/** Whether a flush that failed is on disk after all is read from the disk, never guessed. */
const tell = async (waiting: readonly Waiting[], { error, before, parts }: Failure): Promise<void> => {
  if (isFault(error, 'log-second-writer')) parts.overtaken(error)
  // Our own faults come before the write; all others out of it.
  if (isFault(error)) return waiting.forEach(({ reject }) => reject(error))
  const cause = await causeOf(error)
  let files: LogFiles | undefined
  try {
    await parts.reopen()
    files = parts.files()
  } catch {
    // It is tried again by whoever needs it next.
  }
  for (const { topic, reject } of waiting) reject(files !== undefined && isUnchanged(files, topic, before) ? unwritten(cause, files.path) : unknown(cause))
}

const isUnchanged = (files: LogFiles, topic: number, before: ReadonlyMap<number, number>): boolean => {
  try {
    return endOf(files, topic) <= (before.get(topic) ?? Infinity)
  } catch {
    return false
  }
}

const unknown = (cause: unknown): Fault =>
  asFault(cause, 'append-unknown', 'The disk failed while records were written; they may be in the log. Send them again with the same ids')

const unwritten = (cause: unknown, path: string): Fault =>
  asFault(cause, 'log-unavailable', `The log at ${path} cannot be written; nothing was written. Check the disk`)

/** Records are written twice at most, and each may touch a page of the key index. */
const refuseFull = (path: string, waiting: readonly Waiting[]): void => {
  const bytes = waiting.reduce((sum, one) => sum + 2 * one.bytes + one.records.length * 1024, 0)
  if (hasRoomFor(path, bytes)) return
  throw new Fault('log-full', `The disk of ${path} is full; nothing was written. Free space and send again.`, { retriable: true })
}

const overloaded = (): Fault =>
  new Fault('log-overloaded', `More than ${QUEUE_BYTES} bytes wait to be appended. Send slower; nothing of this request was written.`, { retriable: true })
