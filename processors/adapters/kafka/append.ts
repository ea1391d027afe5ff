import type { Message } from 'kafkajs'
import type { NewRecord, Position } from '../../engine/ports/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import { within } from '../within.ts'
import { appendUnknown, overloaded, tooLarge, unavailable } from './faults.ts'
import { createPartitionQueue, type Parcel, type PartitionQueue } from './partition-queue.ts'
import type { Settings } from './options.ts'
import { createWriter, type OpenProducer, type Writer } from './writer.ts'

export interface Appender {
  /** Settles within `patienceMs` milliseconds. Default: `timing.append`. */
  append(records: readonly NewRecord[], patienceMs?: number): Promise<readonly Position[]>
  close(): Promise<void>
}

export interface AppenderPlan {
  topic: string
  settings: Settings
  partitionOf(key: string): number
  openProducer: OpenProducer
  maxRecordBytes: number
}

/** Upper bounds of the bytes that Kafka's format adds to a record and to a batch. */
const RECORD_OVERHEAD = 64
const BATCH_OVERHEAD = 128

interface Part {
  readonly message: Message
  readonly bytes: number
  readonly index: number
}

/** Appends through one queue per partition. Each queue has its own producer, so a broker that hangs delays only the partitions it leads. */
export function createAppender({ topic, settings, partitionOf, openProducer, maxRecordBytes }: AppenderPlan): Appender {
  const { clock, timing, maxQueuedBytes } = settings
  const closing = new AbortController()
  const queues = new Map<number, { queue: PartitionQueue; writer: Writer }>()
  const maxBytes = maxRecordBytes - BATCH_OVERHEAD
  let queuedBytes = 0
  let closed = false
  const queueOf = (partition: number): PartitionQueue => {
    const found = queues.get(partition)
    if (found) return found.queue
    const writer = createWriter(partition, openProducer)
    const queue = createPartitionQueue({ topic, writer, clock, timing, maxBytes, closing: closing.signal })
    queues.set(partition, { queue, writer })
    return queue
  }
  const append = async (records: readonly NewRecord[], patienceMs = timing.append): Promise<readonly Position[]> => {
    if (closed) throw unavailable(`Nothing was written to ${topic}`, new Error('the log is closed'))
    const parts = records.map((record, index) => partOf(record, index, partitionOf(record.key)))
    const largest = Math.max(0, ...parts.map(({ bytes }) => bytes))
    if (largest > maxBytes) throw tooLarge(topic, largest, maxRecordBytes)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    if (queuedBytes > 0 && queuedBytes + bytes > maxQueuedBytes) throw overloaded(topic, maxQueuedBytes)
    queuedBytes += bytes
    const call: Call = {
      topic,
      deadline: clock.now() + patienceMs,
      positions: new Array<Position>(records.length),
      failures: [],
    }
    const parcels = [...byKey(parts)].flatMap(([key, own]) => {
      const partition = own[0]?.message.partition ?? 0
      return splitForRequests(own, maxBytes).map((ownParts) => ({
        partition,
        ...parcelOf({ call, key, partition, parts: ownParts }),
      }))
    })
    for (const { partition, parcel } of parcels) queueOf(partition).push(parcel)
    // A queue waits for its request without a time limit. But the caller needs an answer at its deadline, so all its parcels without a result fail
    // then.
    if (!(await within(clock, patienceMs, Promise.all(parcels.map(({ settled }) => settled)))))
      for (const { expire } of parcels) expire()
    queuedBytes -= bytes
    return settle(call)
  }
  const close = async (): Promise<void> => {
    closed = true
    await Promise.all([...queues.values()].map(({ queue }) => within(clock, timing.append, queue.drained())))
    closing.abort()
    await Promise.all([...queues.values()].map(({ writer }) => writer.close().catch(() => {})))
  }
  return { append, close }
}

function partOf({ key, value, headers }: NewRecord, index: number, partition: number): Part {
  const buffer = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const extra = headers
    ? Object.entries(headers).reduce(
        (sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text) + 10,
        0,
      )
    : 0
  const message: Message = { key, value: buffer, partition, ...(headers ? { headers: { ...headers } } : {}) }
  return { message, index, bytes: Buffer.byteLength(key) + buffer.length + extra + RECORD_OVERHEAD }
}

function byKey(parts: readonly Part[]): Map<string, Part[]> {
  const groups = new Map<string, Part[]>()
  for (const part of parts) {
    const key = String(part.message.key)
    const group = groups.get(key)
    if (group) group.push(part)
    else groups.set(key, [part])
  }
  return groups
}

/** The maximum number of records in a `Parcel`. A request contains one parcel of each waiting key in turn. */
const MAX_PARCEL_RECORDS = 100

/** Splits the records of one key so that each piece fits into one request and leaves room in it for other keys. */
function splitForRequests(parts: readonly Part[], maxBytes: number): Part[][] {
  const cut: Part[][] = []
  let bytes = 0
  for (const part of parts) {
    const last = cut.at(-1)
    bytes += part.bytes
    if (last && bytes <= maxBytes && last.length < MAX_PARCEL_RECORDS) last.push(part)
    else {
      cut.push([part])
      bytes = part.bytes
    }
  }
  return cut
}

interface Call {
  topic: string
  deadline: number
  positions: Position[]
  failures: Error[]
}

interface OwnParcel {
  readonly parcel: Parcel
  readonly settled: Promise<void>
  /**
   * Fails the parcel at its deadline. If a request contained the parcel, the fault is `append-unknown`. Otherwise the parcel was not and will not be
   * written.
   */
  expire(): void
}

function parcelOf({
  call,
  key,
  partition,
  parts,
}: {
  call: Call
  key: string
  partition: number
  parts: readonly Part[]
}): OwnParcel {
  let state: 'waiting' | 'sent' | 'written' | 'failed' = 'waiting'
  let done: () => void = () => {}
  const settled = new Promise<void>((resolve) => {
    done = resolve
  })
  const fail = (error: Error): void => {
    if (state === 'written' || state === 'failed') return
    state = 'failed'
    call.failures.push(error)
    done()
  }
  const parcel: Parcel = {
    key,
    messages: parts.map(({ message }) => message),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    deadline: call.deadline,
    isAbandoned: () => state === 'failed' || (call.failures.length > 0 && state === 'waiting'),
    setSent(isSent) {
      if (state === 'waiting' || state === 'sent') state = isSent ? 'sent' : 'waiting'
    },
    written(offset) {
      if (state === 'failed') return
      state = 'written'
      parts.forEach(({ index }, nth) => {
        call.positions[index] = { partition, offset: offset + nth }
      })
      done()
    },
    failed: fail,
  }
  const expire = (): void =>
    fail(state === 'sent' ? appendUnknown(call.topic) : unavailable(`Nothing was written to ${call.topic}`))
  return { parcel, settled, expire }
}

/**
 * Returns the positions if every parcel was written. Otherwise throws: `append-unknown` if some records were or may have been written, the first
 * failure if no record was written.
 */
function settle({ topic, positions, failures }: Call): readonly Position[] {
  const [failure] = failures
  if (!failure) return positions
  const unknown = failures.find((error) => isFault(error, 'append-unknown'))
  if (unknown) throw unknown
  throw positions.some((position) => position !== undefined) ? appendUnknown(topic, failure) : failure
}
