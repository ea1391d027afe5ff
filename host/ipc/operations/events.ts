import type { Log, LogRecord, Watermarks } from '../../../processors/engine/ports/log.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { refuseTrimmed } from '../../../processors/engine/generations/trimmed.ts'
import { withKeys, type Codec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { isFault, messageOf } from '../../../schemas/fault.ts'
import type { Handler, OperationOutput } from '../operations.ts'

export interface EventsArgs {
  readonly domain: string
  readonly key?: string
  /** Only events that the log received at or after `from` and before `to`, in epoch milliseconds. Default: all. */
  readonly from?: number
  readonly to?: number
  /** Only the newest events, and at most this number. */
  readonly last?: number
  /** Continues with new events. Without `last` and `from`, the output begins at the end of the log. */
  readonly follow?: boolean
}

export interface EventRow {
  readonly position: string
  /** The time at which the log received the event, RFC 3339. The envelope of the event contains the time at which the event was recorded. */
  readonly appendedAt: string
  readonly key: string | null
  readonly type: string
  /** The event as JSON: a BigInt is a text of its digits. Absent if the event cannot be decoded. */
  readonly event?: Event
  /** The reason why the event cannot be decoded. */
  readonly fault?: { readonly code: string; readonly message: string }
}

interface EventsReport {
  readonly args: EventsArgs
  readonly output: OperationOutput<EventRow>
}

const FOLLOW_MS = 200

/** Reports the decoded events of the log as rows. The row of an event that cannot be decoded contains the reason. */
export const readEvents: Handler<'events'> = async (runtime, args, output) => {
  const pipeline = runtime.pipeline(args.domain)
  const watermarks = await watermarksOf(pipeline, args)
  if (args.last !== undefined)
    await reportRows(pipeline, await lastOf(pipeline.log, watermarks, { ...args, last: args.last }), { args, output })
  else if (args.follow !== true || args.from !== undefined) await readToEnd(pipeline, watermarks, { args, output })
  if (args.follow !== true) return
  const next = new Map(watermarks.map(({ partition, high }) => [partition, high]))
  output.progress('waiting for new events')
  while (!output.signal.aborted) {
    await runtime.clock.sleep(FOLLOW_MS, output.signal)
    for (const { partition, high } of await watermarksOf(pipeline, args)) {
      const from = next.get(partition) ?? 0
      if (high <= from) continue
      for await (const records of pipeline.log.read(partition, from, high))
        await reportRows(pipeline, records, { args, output })
      next.set(partition, high)
    }
  }
}

/**
 * The partitions to read. With a key: only the partition of the key. Fault: `log-trimmed` if the log lost its first events and the command reads all
 * keys from the beginning.
 */
const watermarksOf = async (
  { log }: Pipeline,
  { key, last, follow, from }: EventsArgs,
): Promise<readonly Watermarks[]> => {
  if (key !== undefined) return (await log.watermarks()).filter(({ partition }) => partition === log.partitionOf(key))
  return last !== undefined || (follow === true && from === undefined)
    ? log.watermarks()
    : refuseTrimmed(log.topic, log)
}

const readToEnd = async (
  pipeline: Pipeline,
  marks: readonly Watermarks[],
  { args, output }: EventsReport,
): Promise<void> => {
  const { log } = pipeline
  for (const { partition, high } of marks) {
    for await (const records of args.key === undefined ? log.read(partition, 0, high) : log.readKey(args.key)) {
      if (output.signal.aborted) return
      await reportRows(pipeline, before(high, records), { args, output })
    }
  }
}

/** Returns the records before the offset `high`. `readKey` can also return later records, which `follow` would report a second time. */
const before = (high: number, records: readonly LogRecord[]): readonly LogRecord[] =>
  records.filter(({ offset }) => offset < high)

/**
 * A search by key or time first reads this number of offsets at the end of a partition. If they contain too few events, it reads `GROWTH` times
 * as many.
 */
const SEARCHED = 10_000
const GROWTH = 8

type Readable = Pick<Log, 'read' | 'readKey'>
type Wanted = Omit<EventsArgs, 'domain'> & { readonly last: number }

/** The newest events of all partitions, in the order in which the log received them. */
export const lastOf = async (
  log: Readable,
  marks: readonly Watermarks[],
  args: Wanted,
): Promise<readonly LogRecord[]> => {
  const found = await Promise.all(marks.map((mark) => lastIn(log, mark, args)))
  return found
    .flatMap(inOrder)
    .sort((a, b) => a.receivedAt - b.receivedAt)
    .slice(-args.last)
    .map(({ record }) => record)
}

/** Gives each record of a partition a time that never decreases. The times in the log can decrease, because the clocks of processes differ. */
const inOrder = (
  records: readonly LogRecord[],
): readonly { readonly record: LogRecord; readonly receivedAt: number }[] => {
  let receivedAt = -Infinity
  return records.map((record) => ({ record, receivedAt: (receivedAt = Math.max(receivedAt, record.timestamp)) }))
}

/**
 * Returns the newest wanted records of a partition. Reads the end of the partition. If this part has too few wanted records, reads a larger part,
 * at most the whole partition.
 */
const lastIn = async (
  log: Readable,
  { partition, low, high }: Watermarks,
  args: Wanted,
): Promise<readonly LogRecord[]> => {
  const { key, last } = args
  const isSearch = key !== undefined || args.from !== undefined || args.to !== undefined
  for (let part = isSearch ? Math.max(last, SEARCHED) : last; ; part *= GROWTH) {
    const from = Math.max(low, high - part)
    const found: LogRecord[] = []
    for await (const records of key === undefined ? log.read(partition, from, high) : log.readKey(key, from)) {
      for (const record of before(high, records)) if (isWanted(record, args)) found.push(record)
      if (found.length > 2 * last) found.splice(0, found.length - last)
    }
    if (found.length >= last || from === low) return found.slice(-last)
  }
}

const isWanted = (
  { timestamp, key }: LogRecord,
  { from = -Infinity, to = Infinity, ...args }: Omit<EventsArgs, 'domain'>,
): boolean => timestamp >= from && timestamp < to && (args.key === undefined || key === args.key)

const reportRows = async (
  { codec }: Pipeline,
  records: readonly LogRecord[],
  { args, output }: EventsReport,
): Promise<void> => {
  for (const record of records) if (isWanted(record, args)) await output.row(await rowOf(codec, record))
}

export const rowOf = async (codec: Codec, record: LogRecord): Promise<EventRow> => {
  const { partition, offset, timestamp, key } = record
  const head = { position: `${partition}:${offset}`, appendedAt: new Date(timestamp).toISOString(), key }
  try {
    const event = await decoded(codec, record)
    return { ...head, type: event.type, event: plain(event) }
  } catch (error) {
    return { ...head, type: '?', fault: { code: isFault(error) ? error.code : 'internal', message: messageOf(error) } }
  }
}

/** The faults of a key store that cannot return a key. */
const KEY_FAULTS: readonly string[] = ['key-missing', 'key-unreadable', 'key-encryption-key-wrong']

/** Decodes an event. If the key of its personal data is not available, `personal` is `SEALED_PERSONAL`. */
const decoded = async (codec: Codec, record: LogRecord): Promise<Event> => {
  const { value } = record
  try {
    return await withKeys(
      codec,
      () => [value],
      () => codec.decode(value, record),
    )
  } catch (error) {
    if (codec.decodeSealed === undefined || !isFault(error) || !KEY_FAULTS.includes(error.code)) throw error
    return codec.decodeSealed(value)
  }
}

/** The event as JSON: a BigInt becomes its digits. */
const plain = (event: Event): Event =>
  JSON.parse(JSON.stringify(event, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)))
