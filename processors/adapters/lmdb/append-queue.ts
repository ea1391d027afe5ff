import { Fault } from '../../../schemas/fault.ts'
import type { Position } from '../../engine/ports/log.ts'
import type { Incoming } from './block.ts'

/** One call of `append`. Several flushes can write the records of the call. The call resolves after the last of these flushes. */
export interface Append {
  readonly topic: number
  readonly records: readonly Incoming[]
  /** The encoded size of each record in bytes. */
  readonly sizes: readonly number[]
  resolve(positions: readonly Position[]): void
  reject(fault: Fault): void
}

/** An append with the positions of its records that are written so far. */
interface QueuedAppend extends Append {
  readonly arrival: number
  /** The position of each record. An entry is empty until its record is written. */
  readonly positions: Position[]
  written: number
}

/** One record of a queued append. */
export interface QueuedRecord {
  readonly append: QueuedAppend
  readonly index: number
}

/** The maximum number of records of one key in a flush. Folding this number of records takes about as long as a flush. */
export const KEY_RECORDS = 32
/** The maximum number of records in a flush. */
const FLUSH_RECORDS = 1_024
const FLUSH_BYTES = 4 * 1024 * 1024
const QUEUE_BYTES = 64 * 1024 * 1024

interface KeyQueue {
  readonly topic: number
  readonly waiting: QueuedRecord[]
  /** True if a flush has taken a part of the queue and left the rest. */
  isCut: boolean
  /**
   * The offset of the last record that a flush wrote from this queue while other records stayed in it. Undefined if no flush has left records in the
   * queue.
   */
  cutAt: number | undefined
}

/** False while a subscriber with `isAwaited` (callers wait for its results) has not processed this offset. Further records of the key then wait. */
export type HasPassed = (topic: number, offset: number) => boolean

/**
 * Appends that wait for a flush, in one queue per key. Each flush takes at most `KEY_RECORDS` records of a key. If the key has more records, the rest
 * of them waits until the taken records are folded. So a record waits for at most `KEY_RECORDS` records of each other key with many records. This
 * limit includes records that are in the log and not folded yet.
 */
export const createAppendQueue = (hasPassed: HasPassed) => {
  const queues = new Map<string, KeyQueue>()
  let arrived = 0
  let bytes = 0

  const add = (newAppend: Append): void => {
    const size = newAppend.sizes.reduce((sum, recordSize) => sum + recordSize, 0)
    if (bytes + size > QUEUE_BYTES) return newAppend.reject(overloaded())
    bytes += size
    const append: QueuedAppend = {
      ...newAppend,
      arrival: (arrived += 1),
      positions: new Array<Position>(newAppend.records.length),
      written: 0,
    }
    for (const index of append.records.keys()) {
      const id = idOf({ append, index })
      const queue = queues.get(id) ?? { topic: append.topic, waiting: [], isCut: false, cutAt: undefined }
      if (queue.waiting.length === 0) queues.set(id, queue)
      queue.waiting.push({ append, index })
    }
  }
  const isBlocked = ({ topic, cutAt }: KeyQueue): boolean => cutAt !== undefined && !hasPassed(topic, cutAt)
  /** Removes and returns the records of the next flush, in the order of their appends. Empty if every key waits until its records are folded. */
  const take = (): readonly QueuedRecord[] => {
    const records: QueuedRecord[] = []
    let room = FLUSH_BYTES
    for (const [id, queue] of [...queues]) {
      if (isBlocked(queue)) continue
      const count = countWithin(queue.waiting, Math.min(KEY_RECORDS, FLUSH_RECORDS - records.length), {
        room,
        isFirst: records.length === 0,
      })
      if (count === 0) break
      for (const record of queue.waiting.splice(0, count)) {
        records.push(record)
        room -= sizeOf(record)
      }
      // The queue of a key with more records moves to the end of the map, so the next flush starts with the other keys.
      queues.delete(id)
      if (queue.waiting.length > 0) queues.set(id, Object.assign(queue, { isCut: true }))
    }
    return records.sort((a, b) => a.append.arrival - b.append.arrival || a.index - b.index)
  }
  const release = (records: readonly QueuedRecord[]): void => {
    for (const record of records) bytes -= sizeOf(record)
  }
  return {
    isEmpty: (): boolean => queues.size === 0,
    add,
    take,
    /** Stores the offsets of written records. Resolves the appends that are complete. */
    written: (records: readonly QueuedRecord[], offsets: readonly number[]): void => {
      release(records)
      for (const [nth, { append, index }] of records.entries()) {
        const offset = offsets[nth] ?? 0
        append.positions[index] = { partition: 0, offset }
        const queue = queues.get(idOf({ append, index }))
        if (queue?.isCut === true) queue.cutAt = offset
        if ((append.written += 1) === append.records.length) append.resolve(append.positions)
      }
    },
    /** Handles a failed flush: removes the remaining records of its appends from the queue. */
    failed: (records: readonly QueuedRecord[]): void => {
      release(records)
      release(removeRest(queues, new Set(records.map(({ append }) => append))))
    },
  }
}

/** The id of a record's queue. */
const idOf = ({ append, index }: QueuedRecord): string => `${append.topic}:${append.records[index]?.key ?? ''}`

export type AppendQueue = ReturnType<typeof createAppendQueue>

/** Removes the records of these appends from the queues, and returns them. */
const removeRest = (queues: Map<string, KeyQueue>, appends: ReadonlySet<QueuedAppend>): readonly QueuedRecord[] =>
  [...queues].flatMap(([id, queue]) => {
    const removed = queue.waiting.filter(({ append }) => appends.has(append))
    if (removed.length === 0) return []
    const waiting = queue.waiting.filter(({ append }) => !appends.has(append))
    queues.delete(id)
    if (waiting.length > 0) queues.set(id, { ...queue, waiting })
    return removed
  })

export const sizeOf = ({ append, index }: QueuedRecord): number => append.sizes[index] ?? 0

/** The number of records, at most `most`, that fit into `room` bytes. The first record of a flush always fits. */
const countWithin = (
  waiting: readonly QueuedRecord[],
  most: number,
  { room, isFirst }: { readonly room: number; readonly isFirst: boolean },
): number => {
  let [count, used] = [0, 0]
  while (count < most && count < waiting.length) {
    used += sizeOf(waiting[count] as QueuedRecord)
    if (used > room && !(isFirst && count === 0)) break
    count += 1
  }
  return count
}

const overloaded = (): Fault =>
  new Fault(
    'log-overloaded',
    `More than ${QUEUE_BYTES} bytes wait to be appended. Nothing of this request was written. Send more slowly.`,
    { retriable: true },
  )
