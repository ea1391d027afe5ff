import type { LogRecord } from '../../processors/engine/log.ts'
import { refuseTrimmed } from '../../processors/engine/trimmed.ts'
import { withKeys, type Codec } from '../../schemas/codec.ts'
import { isFault, messageOf } from '../../schemas/fault.ts'
import type { Operation } from '../operations.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import type { Says } from '../socket.ts'

export interface EventsArgs {
  readonly domain: string
  readonly key?: string
  /** Epoch milliseconds, by when the log took them. */
  readonly from?: number
  readonly to?: number
  readonly follow?: boolean
}

export interface EventRow {
  readonly position: string
  /** When the log took it; when it was recorded is in the event's envelope. */
  readonly appendedAt: string
  readonly key: string | null
  readonly type: string
  readonly event?: unknown
  /** Why it cannot be read. */
  readonly fault?: { readonly code: string; readonly message: string }
}

const FOLLOW_MS = 200

/** The log, decoded. What cannot be decoded is shown as what it is. */
export const readEvents: Operation<EventsArgs> = async (runtime, args, says) => {
  const pipeline = runtime.pipeline(args.domain)
  const next = await readToEnd(pipeline, args, says)
  while (args.follow === true && !says.signal.aborted) {
    await runtime.clock.sleep(FOLLOW_MS, says.signal)
    for (const { partition, high } of await marksOf(pipeline, args)) {
      const from = next.get(partition) ?? 0
      if (high <= from) continue
      for await (const records of pipeline.log.read(partition, from, high)) await tell(pipeline, records, { args, says })
      next.set(partition, high)
    }
  }
}

/** With a key, only its partition is read, and the read itself fails if that one was trimmed. */
const marksOf = ({ log }: Pipeline, { key }: EventsArgs) => (key === undefined ? refuseTrimmed(log.topic, log) : log.watermarks())

/** Tells everything there is now; the answer is where each partition goes on. */
const readToEnd = async (pipeline: Pipeline, args: EventsArgs, says: Says): Promise<Map<number, number>> => {
  const { log } = pipeline
  const marks = await marksOf(pipeline, args)
  const sources = args.key === undefined ? marks.map(({ partition, high }) => log.read(partition, 0, high)) : [log.readKey(args.key)]
  for (const source of sources) {
    for await (const records of source) {
      await tell(pipeline, records, { args, says })
      if (says.signal.aborted) break
    }
  }
  return new Map(marks.map(({ partition, high }) => [partition, high]))
}

const tell = async ({ codec }: Pipeline, records: readonly LogRecord[], { args, says }: { args: EventsArgs; says: Says }): Promise<void> => {
  const { key, from = -Infinity, to = Infinity } = args
  for (const record of records) {
    if (record.timestamp < from || record.timestamp >= to || (key !== undefined && record.key !== key)) continue
    await says.row(await rowOf(codec, record))
  }
}

export const rowOf = async (codec: Codec, record: LogRecord): Promise<EventRow> => {
  const { partition, offset, timestamp, key, value } = record
  const head = { position: `${partition}:${offset}`, appendedAt: new Date(timestamp).toISOString(), key }
  try {
    const event = await withKeys(codec, () => [value], () => codec.decode(value, record))
    return { ...head, type: event.type, event: plain(event) }
  } catch (error) {
    return { ...head, type: '?', fault: { code: isFault(error) ? error.code : 'internal', message: messageOf(error) } }
  }
}

/** As JSON can carry it: a BigInt as its digits. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)))
