import { setImmediate as turn } from 'node:timers/promises'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import type { LogRecord, Position } from '../../engine/log.ts'
import { createAppendQueue, sizeOf, type AppendQueue, type HasPassed, type Taken } from './append-queue.ts'
import { encodeRecords, type Incoming } from './block.ts'
import { asFault, causeOf, hasRoomFor } from './environment.ts'
import { createLatest, flushedOf, type Flushed } from './latest.ts'
import { endOf, type LogFiles } from './log-files.ts'
import { loadTail, putRecords, type Tail } from './topic.ts'
import { secondWriter } from './writer-guard.ts'

export interface FlusherParts {
  readonly files: () => LogFiles
  /** Closes the environment and opens it anew: what is on disk then is what there is. */
  readonly reopen: () => Promise<void>
  /** Called when records of a topic are on disk. */
  readonly grown: (topic: number) => void
  /** Called when another process has appended to the log: from then on this one writes nothing. */
  readonly overtaken: (fault: Fault) => void
  /** True if the subscribers that callers wait for have passed this offset. */
  readonly hasPassed: HasPassed
}

/** One transaction and one sync for all records of a flush. An append resolves after the sync of its last record; if one fails, the append is rejected with whether it is in the log. */
export const createFlusher = (parts: FlusherParts) => {
  const queue = createAppendQueue(parts.hasPassed)
  const tails = createTails(parts.files)
  const pause = createPause()
  const step = createStep({ parts, queue, tails })
  const alone = createTurns()
  let running: Promise<void> | undefined

  const run = async (): Promise<void> => {
    // Appends of the same turn of the event loop share this flush.
    await turn()
    try {
      while (!queue.isEmpty()) {
        const taken = queue.take()
        if (taken.length === 0) await pause.wait()
        else await alone(() => step(taken))
      }
    } finally {
      // No await between the check of the queue and this line: a later append starts a new run.
      running = undefined
    }
  }
  const start = (): Promise<void> => {
    pause.end()
    return running ??= run()
  }
  return {
    high: tails.high, latest: tails.latest, alone,
    append: (topic: number, records: readonly Incoming[], sizes: readonly number[]): Promise<readonly Position[]> =>
      new Promise((resolve, reject) => {
        queue.add({ topic, records, sizes, resolve, reject })
        void start()
      }),
    /** A subscriber has passed more records: appends that wait for it may go on. */
    passed: (): void => pause.end(),
    /** Resolves when no append waits. */
    drained: async (): Promise<void> => {
      pause.end()
      await running
    },
  }
}

interface StepParts {
  readonly parts: FlusherParts
  readonly queue: AppendQueue
  readonly tails: Tails
}

/** Writes these records. Never rejects: a failure goes to the appends concerned. */
const createStep = ({ parts, queue, tails }: StepParts) => {
  const flush = async (taken: readonly Taken[], before: Map<number, number>): Promise<void> => {
    for (const { append: { topic } } of taken) before.set(topic, tails.high(topic))
    const places = placesOf(taken, tails.high)
    const change = await write(parts.files(), { taken, tails })
    tails.follow(change)
    queue.written(taken, places)
    for (const topic of change.tails.keys()) parts.grown(topic)
  }
  return async (taken: readonly Taken[]): Promise<void> => {
    const before = new Map<number, number>()
    try {
      await flush(taken, before)
    } catch (error) {
      // After a full disk nothing was written: the ends stay those that this writer left.
      if (!isFault(error, 'log-full')) tails.clear(error)
      queue.failed(taken)
      await tell(taken, { error, before, parts })
    }
  }
}

export type Flusher = ReturnType<typeof createFlusher>

/** Runs each work after the previous one has settled: a flush, or work during which no flush may write. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Subscribers that stop while an append waits for them are noticed after this time. */
const LOOK_MS = 200

/** Waits until `end` is called, or a short time. */
const createPause = () => {
  let end = (): void => {}
  return {
    wait: (): Promise<void> => new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS)
      end = () => {
        clearTimeout(timer)
        resolve()
      }
    }),
    end: (): void => end(),
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

type Tails = ReturnType<typeof createTails>

/** The offsets that these records get, one by one. */
const placesOf = (taken: readonly Taken[], high: (topic: number) => number): readonly number[] => {
  const next = new Map<number, number>()
  return taken.map(({ append: { topic } }) => {
    const offset = next.get(topic) ?? high(topic)
    next.set(topic, offset + 1)
    return offset
  })
}

interface Flush {
  readonly taken: readonly Taken[]
  readonly tails: Pick<Tails, 'of' | 'high' | 'count'>
}

interface Written {
  readonly tails: ReadonlyMap<number, Tail>
  readonly flushed: Flushed
}

const write = async (files: LogFiles, { taken, tails: known }: Flush): Promise<Written> => {
  const count = known.count()
  refuseFull(files.path, taken)
  const byTopic = new Map<number, Incoming[]>()
  for (const { append: { topic, records }, index } of taken) {
    const all = byTopic.get(topic)
    if (all === undefined) byTopic.set(topic, [records[index] as Incoming])
    else all.push(records[index] as Incoming)
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

/** Rejects the appends of a failed flush. Reads from the disk whether the flush is there after all. */
const tell = async (taken: readonly Taken[], { error, before, parts }: Failure): Promise<void> => {
  if (isFault(error, 'log-second-writer')) parts.overtaken(error)
  const appends = [...new Set(taken.map(({ append }) => append))]
  // Our own faults come before the write; all others out of it.
  if (isFault(error)) return appends.forEach((append) => append.reject(append.written > 0 ? unknown(error) : error))
  const cause = await causeOf(error)
  let files: LogFiles | undefined
  try {
    await parts.reopen()
    files = parts.files()
  } catch {
    // The next caller that needs the files opens them again.
  }
  for (const append of appends) {
    if (append.written === 0 && files !== undefined && isUnchanged(files, append.topic, before)) append.reject(unwritten(cause, files.path))
    else append.reject(unknown(cause))
  }
}

const isUnchanged = (files: LogFiles, topic: number, before: ReadonlyMap<number, number>): boolean => {
  try {
    return endOf(files, topic) <= (before.get(topic) ?? Infinity)
  } catch {
    return false
  }
}

const unknown = (cause: unknown): Fault =>
  new Fault('append-unknown', `The disk failed while records were written; they may be in the log. Send them again with the same ids (${messageOf(cause)})`, { retriable: true, cause })

const unwritten = (cause: unknown, path: string): Fault =>
  asFault(cause, 'log-unavailable', `The log at ${path} cannot be written; nothing was written. Check the disk`)

/** Records are written twice at most, and each may touch a page of the key index. */
const refuseFull = (path: string, taken: readonly Taken[]): void => {
  const bytes = taken.reduce((sum, each) => sum + 2 * sizeOf(each) + 1024, 0)
  if (hasRoomFor(path, bytes)) return
  throw new Fault('log-full', `The disk of ${path} is full; nothing was written. Free space and send again.`, { retriable: true })
}
