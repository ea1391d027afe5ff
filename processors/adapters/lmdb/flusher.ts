import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import type { LogRecord, Position } from '../../engine/ports/log.ts'
import { createAppendQueue, sizeOf, type AppendQueue, type HasPassed, type QueuedRecord } from './append-queue.ts'
import { encodeRecords, type Incoming } from './block.ts'
import { asFault, causeOf, hasRoomFor } from './environment.ts'
import { createLatest, flushedOf, type Flushed } from './latest.ts'
import { endOf, type LogFiles } from './log-files.ts'
import { loadTail, putRecords, type Tail } from './topic.ts'
import { secondWriter } from './writer-guard.ts'

export interface FlusherParts {
  readonly files: () => LogFiles
  /** Closes the environment and opens it again, so that later reads return the content of the disk. */
  readonly reopen: () => Promise<void>
  /** Runs when records of a topic are on disk. */
  readonly onAppended: (topic: number) => void
  /** Runs when another process has appended to the log. From then on this process writes nothing. */
  readonly onSecondWriter: (fault: Fault) => void
  /** See `HasPassed`. */
  readonly hasPassed: HasPassed
}

/**
 * Writes appends in flushes: one transaction and one sync for all records of a flush. An append resolves after the sync of its last record.
 * If a flush fails, its appends are rejected: with `append-unknown` if records of the append may be in the log, otherwise with the cause
 * (`log-full`, `log-second-writer` or `log-unavailable`).
 */
export const createFlusher = (parts: FlusherParts) => {
  const queue = createAppendQueue(parts.hasPassed)
  const tails = createTails(parts.files)
  const pause = createPause()
  const flush = createFlush({ parts, queue, tails })
  const runExclusively = createMutex()
  let running: Promise<void> | undefined

  const run = async (): Promise<void> => {
    // This pause lets all appends of the same iteration of the event loop share one flush.
    await yieldToEventLoop()
    try {
      while (!queue.isEmpty()) {
        const records = queue.take()
        if (records.length === 0) await pause.wait()
        else await runExclusively(() => flush(records))
      }
    } finally {
      // No await between the check of the queue and this line: a later append starts a new run.
      running = undefined
    }
  }
  const start = (): Promise<void> => {
    pause.end()
    return (running ??= run())
  }
  return {
    high: tails.high,
    latest: tails.latest,
    runExclusively,
    append: (topic: number, records: readonly Incoming[], sizes: readonly number[]): Promise<readonly Position[]> =>
      new Promise((resolve, reject) => {
        queue.add({ topic, records, sizes, resolve, reject })
        void start()
      }),
    /** To be called when a subscriber has processed more records. Appends that wait for this subscriber continue. */
    passed: (): void => pause.end(),
    /** Resolves when no append waits. */
    drained: async (): Promise<void> => {
      pause.end()
      await running
    },
  }
}

interface FlushParts {
  readonly parts: FlusherParts
  readonly queue: AppendQueue
  readonly tails: Tails
}

/** Returns the function that writes the records of one flush. That function never rejects: a failure rejects the appends of these records. */
const createFlush = ({ parts, queue, tails }: FlushParts) => {
  const flush = async (queued: readonly QueuedRecord[], endsBefore: Map<number, number>): Promise<void> => {
    for (const {
      append: { topic },
    } of queued)
      endsBefore.set(topic, tails.high(topic))
    const offsets = offsetsOf(queued, tails.high)
    const change = await write(parts.files(), { queued, tails })
    tails.advance(change)
    queue.written(queued, offsets)
    for (const topic of change.tails.keys()) parts.onAppended(topic)
  }
  return async (queued: readonly QueuedRecord[]): Promise<void> => {
    const endsBefore = new Map<number, number>()
    try {
      await flush(queued, endsBefore)
    } catch (error) {
      // If the disk was full, nothing was written, so the cached ends of the topics (tails) are still right. After any other failure they are read
      // again.
      if (!isFault(error, 'log-full')) tails.clear(error)
      queue.failed(queued)
      await rejectAppends(queued, { error, endsBefore, parts })
    }
  }
}

export type Flusher = ReturnType<typeof createFlusher>

/** Returns a function that runs each `work` after the previous one has settled. The work is a flush, or something during which no flush may write. */
const createMutex = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Milliseconds after which waiting appends are checked again: they continue if their subscriber has stopped or is stuck. */
const CHECK_MS = 200

/** `wait` resolves when `end` is called, or after `CHECK_MS`. */
const createPause = () => {
  let end = (): void => {}
  return {
    wait: (): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, CHECK_MS)
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
  /**
   * The expected number of transactions of the log: the number that this writer has loaded, plus its own transactions since then. If the log has
   * another number at the next commit, another process has written, and the commit fails. Undefined: not loaded. Null: the log has no count yet.
   */
  let count: number | null | undefined
  let secondWriterFault: Fault | undefined
  const loadCount = (): number | null => (count === undefined ? (count = files().guard?.count() ?? null) : count)
  const of = (topic: number): Tail => {
    loadCount()
    const tail = tails.get(topic) ?? loadTail(files(), topic)
    tails.set(topic, tail)
    return tail
  }
  return {
    of,
    /** Returns the number of transactions that the log must have at the next commit. Always throws after another process has appended. */
    count: (): number | null => {
      if (secondWriterFault !== undefined) throw secondWriterFault
      return loadCount()
    },
    high: (topic: number): number => {
      const { first, keys } = of(topic)
      return first + keys.length
    },
    latest: latest.from,
    advance: (written: Written): void => {
      for (const [topic, tail] of written.tails) tails.set(topic, tail)
      count = (loadCount() ?? 0) + 1
      latest.set(written.flushed)
    },
    clear: (error: unknown): void => {
      if (isFault(error, 'log-second-writer')) secondWriterFault ??= error
      tails.clear()
      count = undefined
      latest.set(new Map())
    },
  }
}

type Tails = ReturnType<typeof createTails>

/** The offset that each queued record gets in this flush. */
const offsetsOf = (queued: readonly QueuedRecord[], high: (topic: number) => number): readonly number[] => {
  const next = new Map<number, number>()
  return queued.map(({ append: { topic } }) => {
    const offset = next.get(topic) ?? high(topic)
    next.set(topic, offset + 1)
    return offset
  })
}

interface Flush {
  readonly queued: readonly QueuedRecord[]
  readonly tails: Pick<Tails, 'of' | 'high' | 'count'>
}

interface Written {
  readonly tails: ReadonlyMap<number, Tail>
  readonly flushed: Flushed
}

const write = async (files: LogFiles, { queued, tails: knownTails }: Flush): Promise<Written> => {
  const count = knownTails.count()
  requireRoom(files.path, queued)
  const byTopic = new Map<number, Incoming[]>()
  for (const {
    append: { topic, records },
    index,
  } of queued) {
    const topicRecords = byTopic.get(topic)
    if (topicRecords === undefined) byTopic.set(topic, [records[index] as Incoming])
    else topicRecords.push(records[index] as Incoming)
  }
  const tails = new Map<number, Tail>()
  const flushed = new Map<number, readonly LogRecord[]>()
  // Earlier releases do not count their transactions. So the end of each topic is compared too: it has moved if such a release has appended.
  files.root.resetReadTxn()
  for (const topic of byTopic.keys()) if (endOf(files, topic) !== knownTails.high(topic)) throw secondWriter(files.path)
  const isOnlyWriter = await files.guard?.commit(count, () => {
    for (const [topic, records] of byTopic) {
      const tail = knownTails.of(topic)
      const encoded = encodeRecords(records)
      flushed.set(topic, flushedOf(records, encoded, tail.first + tail.keys.length))
      tails.set(topic, putRecords(files, topic, { tail, records, encoded }))
    }
  })
  if (isOnlyWriter !== true) throw secondWriter(files.path)
  return { tails, flushed }
}

interface Failure {
  readonly error: unknown
  /** The end of each topic before the flush. */
  readonly endsBefore: ReadonlyMap<number, number>
  readonly parts: FlusherParts
}

/** Rejects the appends of a failed flush. First reads the ends of the topics from the disk, because the flush may have been written. */
const rejectAppends = async (queued: readonly QueuedRecord[], { error, endsBefore, parts }: Failure): Promise<void> => {
  if (isFault(error, 'log-second-writer')) parts.onSecondWriter(error)
  const appends = [...new Set(queued.map(({ append }) => append))]
  // This module throws a fault only if the flush wrote nothing. Any other error comes from the write, so its result is unknown.
  if (isFault(error)) return appends.forEach((append) => append.reject(append.written > 0 ? unknown(error) : error))
  const cause = await causeOf(error)
  let files: LogFiles | undefined
  try {
    await parts.reopen()
    files = parts.files()
  } catch {
    // Without files the appends are rejected with `append-unknown` below. The next caller that needs the files opens them again.
  }
  for (const append of appends) {
    if (append.written === 0 && files !== undefined && isUnchanged(files, append.topic, endsBefore))
      append.reject(unwritten(cause, files.path))
    else append.reject(unknown(cause))
  }
}

const isUnchanged = (files: LogFiles, topic: number, endsBefore: ReadonlyMap<number, number>): boolean => {
  try {
    return endOf(files, topic) <= (endsBefore.get(topic) ?? Infinity)
  } catch {
    return false
  }
}

const unknown = (cause: unknown): Fault =>
  new Fault(
    'append-unknown',
    `The disk failed while it wrote the records, so they may be in the log. Send them again with the same ids (${messageOf(cause)})`,
    { retriable: true, cause },
  )

const unwritten = (cause: unknown, path: string): Fault =>
  asFault(cause, 'log-unavailable', `The log at ${path} cannot be written. Nothing was written. Check the disk`)

/** Throws `log-full` if the disk has no room. Counts each record twice (the log writes it at most twice), plus 1,024 bytes for the key index. */
const requireRoom = (path: string, queued: readonly QueuedRecord[]): void => {
  const bytes = queued.reduce((sum, record) => sum + 2 * sizeOf(record) + 1024, 0)
  if (hasRoomFor(path, bytes)) return
  throw new Fault('log-full', `The disk of ${path} is full. Nothing was written. Free space, then send again.`, {
    retriable: true,
  })
}
