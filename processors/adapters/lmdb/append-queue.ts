import { Fault } from '../../../schemas/fault.ts'
import type { Position } from '../../engine/log.ts'
import type { Incoming } from './block.ts'

/** One call of `append`. Its records may go to disk in several flushes; it resolves with the last of them. */
export interface Append {
  readonly topic: number
  readonly records: readonly Incoming[]
  /** Encoded bytes, by record. */
  readonly sizes: readonly number[]
  resolve(positions: readonly Position[]): void
  reject(fault: Fault): void
}

/** An append with what became of its records so far. */
interface Waiting extends Append {
  readonly arrival: number
  /** By record; empty where a record is not written yet. */
  readonly positions: Position[]
  written: number
}

/** One record that a flush takes. */
export interface Taken {
  readonly append: Waiting
  readonly index: number
}

/** The most that one flush takes of one key. Folding so many takes about as long as a flush. */
export const KEY_RECORDS = 32
/** The most that one flush takes in total. */
const FLUSH_RECORDS = 1_024
const FLUSH_BYTES = 4 * 1024 * 1024
const QUEUE_BYTES = 64 * 1024 * 1024

interface KeyQueue {
  readonly topic: number
  readonly waiting: Taken[]
  /** True once a flush took a part of what waited. */
  isCut: boolean
  /** The last offset that an earlier flush gave to this key; undefined if no flush has cut this queue. */
  cutAt: number | undefined
}

/** True if the subscribers that callers wait for have passed this offset. */
export type HasPassed = (topic: number, offset: number) => boolean

/**
 * Appends that wait for a flush, in one queue per key. The keys take turns: each flush takes at most `KEY_RECORDS` records of a key. A key
 * whose queue was cut waits until the records that it has in the log are folded. So a record of another key has at most `KEY_RECORDS`
 * records of each busy key before it, in the queue and in the log together.
 */
export const createAppendQueue = (hasPassed: HasPassed) => {
  const queues = new Map<string, KeyQueue>()
  let arrived = 0
  let bytes = 0

  const add = (added: Append): void => {
    const size = added.sizes.reduce((sum, each) => sum + each, 0)
    if (bytes + size > QUEUE_BYTES) return added.reject(overloaded())
    bytes += size
    const append: Waiting = { ...added, arrival: (arrived += 1), positions: new Array<Position>(added.records.length), written: 0 }
    for (const index of append.records.keys()) {
      const id = idOf({ append, index })
      const queue = queues.get(id) ?? { topic: append.topic, waiting: [], isCut: false, cutAt: undefined }
      if (queue.waiting.length === 0) queues.set(id, queue)
      queue.waiting.push({ append, index })
    }
  }
  const isHeld = ({ topic, cutAt }: KeyQueue): boolean => cutAt !== undefined && !hasPassed(topic, cutAt)
  /** The records of the next flush, in the order of their appends. Empty if every key that waits is held back. */
  const take = (): readonly Taken[] => {
    const taken: Taken[] = []
    let room = FLUSH_BYTES
    for (const [id, queue] of [...queues]) {
      if (isHeld(queue)) continue
      const count = countWithin(queue.waiting, Math.min(KEY_RECORDS, FLUSH_RECORDS - taken.length), { room, isFirst: taken.length === 0 })
      if (count === 0) break
      for (const each of queue.waiting.splice(0, count)) {
        taken.push(each)
        room -= sizeOf(each)
      }
      // A key that has more goes to the end, so that every key has its turn if a flush is full.
      queues.delete(id)
      if (queue.waiting.length > 0) queues.set(id, Object.assign(queue, { isCut: true }))
    }
    return taken.sort((a, b) => a.append.arrival - b.append.arrival || a.index - b.index)
  }
  const release = (taken: readonly Taken[]): void => {
    for (const each of taken) bytes -= sizeOf(each)
  }
  return {
    isEmpty: (): boolean => queues.size === 0,
    add, take,
    /** These records are in the log, at these offsets. Resolves the appends that are complete. */
    written: (taken: readonly Taken[], offsets: readonly number[]): void => {
      release(taken)
      for (const [nth, { append, index }] of taken.entries()) {
        const offset = offsets[nth] ?? 0
        append.positions[index] = { partition: 0, offset }
        const queue = queues.get(idOf({ append, index }))
        if (queue?.isCut === true) queue.cutAt = offset
        if ((append.written += 1) === append.records.length) append.resolve(append.positions)
      }
    },
    /** A flush of these records failed: the remaining records of their appends leave the queue. */
    failed: (taken: readonly Taken[]): void => {
      release(taken)
      release(removeRest(queues, new Set(taken.map(({ append }) => append))))
    },
  }
}

/** The queue of a record. */
const idOf = ({ append, index }: Taken): string => `${append.topic}:${append.records[index]?.key ?? ''}`

export type AppendQueue = ReturnType<typeof createAppendQueue>

/** Removes the records of these appends from the queues, and returns them. */
const removeRest = (queues: Map<string, KeyQueue>, appends: ReadonlySet<Waiting>): readonly Taken[] =>
  [...queues].flatMap(([id, queue]) => {
    const removed = queue.waiting.filter(({ append }) => appends.has(append))
    if (removed.length === 0) return []
    const waiting = queue.waiting.filter(({ append }) => !appends.has(append))
    queues.delete(id)
    if (waiting.length > 0) queues.set(id, { ...queue, waiting })
    return removed
  })

export const sizeOf = ({ append, index }: Taken): number => append.sizes[index] ?? 0

/** How many of the first records fit; the first record of a flush always does. */
const countWithin = (waiting: readonly Taken[], most: number, { room, isFirst }: { readonly room: number; readonly isFirst: boolean }): number => {
  let [count, used] = [0, 0]
  while (count < most && count < waiting.length) {
    used += sizeOf(waiting[count] as Taken)
    if (used > room && !(isFirst && count === 0)) break
    count += 1
  }
  return count
}

const overloaded = (): Fault =>
  new Fault('log-overloaded', `More than ${QUEUE_BYTES} bytes wait to be appended. Send slower; nothing of this request was written.`, { retriable: true })
