import type { Message } from 'kafkajs'
import type { NewRecord, Position } from '../../engine/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import { within } from '../within.ts'
import { appendUnknown, overloaded, tooLarge, unavailable } from './faults.ts'
import { createLane, type Lane, type Parcel } from './lane.ts'
import type { Settings } from './options.ts'
import { createWriter, type OpenProducer, type Writer } from './writer.ts'

export interface Appender {
  /** Settles within `patienceMs`. Default: `timing.append`. */
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

/** Room for what a record and its batch carry beside key, value and headers. */
const RECORD_OVERHEAD = 64
const BATCH_OVERHEAD = 128

interface Part { readonly message: Message; readonly bytes: number; readonly index: number }

/** Appends by one lane per partition, each with a producer of its own: a broker that hangs holds up only what it leads. */
export function createAppender({ topic, settings, partitionOf, openProducer, maxRecordBytes }: AppenderPlan): Appender {
  const { clock, timing, maxQueuedBytes } = settings
  const closing = new AbortController()
  const lanes = new Map<number, { lane: Lane; writer: Writer }>()
  const maxBytes = maxRecordBytes - BATCH_OVERHEAD
  let queued = 0
  let closed = false
  const laneOf = (partition: number): Lane => {
    const found = lanes.get(partition)
    if (found) return found.lane
    const writer = createWriter(partition, openProducer)
    const lane = createLane({ topic, writer, clock, timing, maxBytes, closing: closing.signal })
    lanes.set(partition, { lane, writer })
    return lane
  }
  const append = async (records: readonly NewRecord[], patienceMs = timing.append): Promise<readonly Position[]> => {
    if (closed) throw unavailable(`Nothing is appended to ${topic}`, new Error('the log is closed'))
    const parts = records.map((record, index) => partOf(record, index, partitionOf(record.key)))
    const largest = Math.max(0, ...parts.map(({ bytes }) => bytes))
    if (largest > maxBytes) throw tooLarge(topic, largest, maxRecordBytes)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    if (queued > 0 && queued + bytes > maxQueuedBytes) throw overloaded(topic, maxQueuedBytes)
    queued += bytes
    const call: Call = { topic, deadline: clock.now() + patienceMs, positions: new Array<Position>(records.length), failures: [] }
    const parcels = [...byKey(parts)].flatMap(([key, own]) => {
      const partition = own[0]?.message.partition ?? 0
      return lots(own, maxBytes).map((lot) => ({ partition, ...parcelOf({ call, key, partition, lot }) }))
    })
    for (const { partition, parcel } of parcels) laneOf(partition).push(parcel)
    // A lane ends its request first, however long the brokers take. The caller is answered at the deadline.
    if (!(await within(clock, patienceMs, Promise.all(parcels.map(({ settled }) => settled))))) for (const { expire } of parcels) expire()
    queued -= bytes
    return settle(call)
  }
  const close = async (): Promise<void> => {
    closed = true
    await Promise.all([...lanes.values()].map(({ lane }) => within(clock, timing.append, lane.drained())))
    closing.abort()
    await Promise.all([...lanes.values()].map(({ writer }) => writer.close().catch(() => {})))
  }
  return { append, close }
}

function partOf({ key, value, headers }: NewRecord, index: number, partition: number): Part {
  const buffer = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const extra = headers ? Object.entries(headers).reduce((sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text) + 10, 0) : 0
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

/** The most records of one key that go into a request before other keys have their turn. */
const LOT_RECORDS = 100

/** Cut so that each fits into one request, and leaves room in it for other keys. */
function lots(parts: readonly Part[], maxBytes: number): Part[][] {
  const cut: Part[][] = []
  let bytes = 0
  for (const part of parts) {
    const last = cut.at(-1)
    bytes += part.bytes
    if (last && bytes <= maxBytes && last.length < LOT_RECORDS) last.push(part)
    else {
      cut.push([part])
      bytes = part.bytes
    }
  }
  return cut
}

interface Call { topic: string; deadline: number; positions: Position[]; failures: Error[] }

interface OwnParcel {
  readonly parcel: Parcel
  readonly settled: Promise<void>
  /** The deadline has passed. A parcel that no request contained yet is never written; the outcome of any other is unknown. */
  expire(): void
}

function parcelOf({ call, key, partition, lot }: { call: Call; key: string; partition: number; lot: readonly Part[] }): OwnParcel {
  let state: 'waiting' | 'sent' | 'written' | 'failed' = 'waiting'
  let done: () => void = () => {}
  const settled = new Promise<void>((resolve) => { done = resolve })
  const fail = (error: Error): void => {
    if (state === 'written' || state === 'failed') return
    state = 'failed'
    call.failures.push(error)
    done()
  }
  const parcel: Parcel = {
    key,
    messages: lot.map(({ message }) => message),
    bytes: lot.reduce((sum, { bytes }) => sum + bytes, 0),
    deadline: call.deadline,
    abandoned: () => state === 'failed' || (call.failures.length > 0 && state === 'waiting'),
    sent(is) {
      if (state === 'waiting' || state === 'sent') state = is ? 'sent' : 'waiting'
    },
    written(offset) {
      if (state === 'failed') return
      state = 'written'
      lot.forEach(({ index }, nth) => { call.positions[index] = { partition, offset: offset + nth } })
      done()
    },
    failed: fail,
  }
  const expire = (): void => fail(state === 'sent' ? appendUnknown(call.topic) : unavailable(`Nothing was written to ${call.topic}`))
  return { parcel, settled, expire }
}

/** All or an error; where a part was written, or perhaps, that is what the caller hears. */
function settle({ topic, positions, failures }: Call): readonly Position[] {
  const [failure] = failures
  if (!failure) return positions
  const unknown = failures.find((error) => isFault(error, 'append-unknown'))
  if (unknown) throw unknown
  throw positions.some((position) => position !== undefined) ? appendUnknown(topic, failure) : failure
}
