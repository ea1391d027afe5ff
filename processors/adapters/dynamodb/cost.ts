import { isTrace, type Key } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { advance } from '../../engine/advance.ts'
import type { BuildTarget } from '../../engine/build-target.ts'
import { decidersOf } from '../../engine/decide.ts'
import { isBookkeeping } from '../../engine/keys.ts'
import type { Log, LogRecord } from '../../engine/log.ts'
import { outboxOf } from '../../engine/outbox.ts'
import { sizeOf } from '../../engine/size.ts'
import { EVERY, sortReadable } from '../../engine/sort.ts'
import type { Chunk, Store } from '../../engine/store.ts'
import { timerChanges } from '../../engine/timers.ts'
import { isConfirmed, isMoved } from './checkpoints.ts'
import { CHECKPOINTS } from './table.ts'
import { createTally } from './tally.ts'
import { writeUnits, type Touch } from './units.ts'

/** What some events cost: units by the documented rules, and requests. */
export interface Cost {
  readonly events: number
  /** Write units for the domain's own items. */
  readonly domain: number
  /** Write units for idempotency keys, outcomes, outbox, timers and checkpoints. */
  readonly bookkeeping: number
  readonly readUnits: number
  readonly requests: number
}

export interface Costs {
  /** As the source documents write: one transaction an event, over the same domain items; totals are added to, so nothing is read. */
  readonly source: Cost
  /** Ours when every event comes alone: the dearest it gets. */
  readonly trickle: Cost
  /** Ours in the batches in which these events came. */
  readonly arrived: Cost
  /** A rebuild of all of it: every final item once. */
  readonly rebuild: Cost
  /** When the first and the last of them came, epoch milliseconds. */
  readonly span: readonly [first: number, last: number]
}

export interface CostParts {
  readonly domain: Domain
  readonly codec: Codec
  readonly log: Pick<Log, 'read' | 'watermarks'>
  /** Empty local stores to fold into, one for each way. */
  readonly scratch: () => Promise<BuildTarget>
  /** Records that came within so many milliseconds of each other were one batch. */
  readonly windowMs: number
  readonly signal?: AbortSignal
  readonly progress?: (events: number) => void
}

const MAX_BATCH = 500
const LOADED_AT_ONCE = 100
const WRITTEN_AT_ONCE = 25
const READ_UNIT_BYTES = 4096

/** Folds the log with the live engine over stores that count. */
export const costsOf = async (parts: CostParts): Promise<Costs> => {
  const trickle = counting(parts.domain, await parts.scratch())
  const arrived = counting(parts.domain, await parts.scratch())
  let events = 0
  let [first, last] = [Infinity, -Infinity]
  for (const { partition, high } of await parts.log.watermarks()) {
    const alone = createFolding(parts, trickle.store)
    const together = createFolding(parts, arrived.store)
    for await (const records of parts.log.read(partition, 0, high)) {
      for (const record of records) await alone([record])
      for (const batch of batchesOf(records, parts.windowMs)) await together(batch)
      events += records.length
      for (const { timestamp } of records) [first, last] = [Math.min(first, timestamp), Math.max(last, timestamp)]
      parts.progress?.(events)
      parts.signal?.throwIfAborted()
    }
  }
  return {
    source: { ...trickle.source(), events },
    trickle: { ...trickle.cost(), events },
    arrived: { ...arrived.cost(), events },
    rebuild: { ...(await rebuilt(parts.domain, arrived.store)), events },
    span: [first, last],
  }
}

/** As a consumer meets them: what is there when it asks, up to a size. */
export const batchesOf = (records: readonly LogRecord[], windowMs: number): readonly (readonly LogRecord[])[] => {
  const batches: LogRecord[][] = []
  let open: LogRecord[] | undefined
  for (const record of records) {
    if (open === undefined || open.length === MAX_BATCH || record.timestamp - (open[0] as LogRecord).timestamp > windowMs) {
      open = []
      batches.push(open)
    }
    open.push(record)
  }
  return batches
}

const createFolding = ({ domain, codec }: CostParts, store: Store) => {
  const deciders = decidersOf(domain, { outbox: outboxOf(codec), timers: timerChanges(codec) })
  const standing = new Set<string>()
  const isParked = (projection: string, key: string) => standing.has(`${projection}#${key}`) || standing.has(`${EVERY}#${key}`)
  let from = 0
  return async (records: readonly LogRecord[]): Promise<void> => {
    const { partition, offset } = records.at(-1) as LogRecord
    const { spans, poisons } = await sortReadable(records, { codec, deciders, isParked })
    for (const { projection, key } of poisons) standing.add(`${projection}#${key}`)
    const advanced = await advance({ store, spans, checkpoint: { partition, from, offset: offset + 1 } })
    from = (await store.checkpoints()).get(partition) ?? 0
    for (const { span, poison } of advanced) if (poison !== undefined) standing.add(`${span.decider.projection.name}#${span.key}`)
  }
}

/** A store that reads and writes as DynamoDB would, and counts what that costs there. */
const counting = ({ table }: Domain, target: BuildTarget) => {
  const tally = createTally(table)
  let readUnits = 0
  let requests = 0
  let source = { domain: 0, requests: 0 }
  const load: Store['load'] = async (keys) => {
    const found = await target.load(keys)
    for (const item of found) if (item !== undefined) tally.saw(item)
    readUnits += found.reduce((sum, item) => sum + Math.max(1, Math.ceil((item === undefined ? 0 : sizeOf(item)) / READ_UNIT_BYTES)), 0)
    requests += Math.ceil(keys.length / LOADED_AT_ONCE)
    return found
  }
  const commit: Store['commit'] = async (spans, checkpoint) => {
    for (const chunk of spans.flat()) {
      source = addTheirs(source, chunk, table, target)
      tally.committed(chunk)
    }
    // The checkpoint is read before the spans and written after them.
    const isWritten = checkpoint !== undefined && isMoved(checkpoint)
    const isRead = checkpoint !== undefined && isConfirmed(spans, checkpoint)
    if (isWritten) tally.wrote([{ PK: `${CHECKPOINTS}0`, SK: '0' }])
    readUnits += isRead ? 1 : 0
    requests += spans.flat().length + (isRead ? 1 : 0) + (isWritten ? 1 : 0)
    return target.commit(spans, checkpoint)
  }
  const { peek: _, ...awaited } = target
  return {
    store: { ...awaited, load, commit },
    cost: () => ({ ...tally.units(), readUnits, requests }),
    source: () => ({ ...source, bookkeeping: 0, readUnits: 0 }),
  }
}

/** One transaction over the domain's items of the event; a single item is a plain write. */
const addTheirs = (sum: { domain: number; requests: number }, chunk: Chunk, spec: Domain['table'], target: BuildTarget) => {
  const touches: Touch[] = []
  for (const write of chunk) {
    const key: Key = 'put' in write ? write.put : write.remove
    if (isBookkeeping(key)) continue
    const after = 'put' in write && !isTrace(write.put) ? write.put : undefined
    const before = write.expect === null ? undefined : target.peek(key)
    if (before !== undefined || after !== undefined) touches.push({ before, after })
  }
  if (touches.length === 0) return sum
  const units = writeUnits({ spec, touches, mode: touches.length > 1 ? 'transaction' : 'single' })
  return { domain: sum.domain + units.domain, requests: sum.requests + 1 }
}

const rebuilt = async ({ table }: Domain, store: Pick<Store, 'scan'>): Promise<Omit<Cost, 'events'>> => {
  const tally = createTally(table)
  let count = 0
  for await (const page of store.scan()) {
    const items = page.filter((item) => !isTrace(item))
    tally.wrote(items)
    count += items.length
  }
  return { ...tally.units(), readUnits: 0, requests: Math.ceil(count / WRITTEN_AT_ONCE) }
}
