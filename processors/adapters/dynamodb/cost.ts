import { isTombstone, type Key } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { advance } from '../../engine/fold/advance.ts'
import type { BuildTarget } from '../../engine/rebuild/build-target.ts'
import { decidersOf } from '../../engine/fold/decide.ts'
import { sizeOf } from '../../engine/rows/size.ts'
import type { Chunk, Store } from '../../engine/ports/store.ts'
import { isConfirmed, isMoved } from './checkpoints.ts'
import { CHECKPOINTS } from './table.ts'
import { createTally } from './tally.ts'
import { writeUnits, type Touch } from './units.ts'
import { sortBatch } from '../../engine/fold/sort.ts'
import { isBookkeeping } from '../../engine/generations/bookkeeping.ts'
import { EVERY_PROJECTION, type Log, type LogRecord } from '../../engine/ports/log.ts'
import { isolateRejected } from '../../engine/poison/rejected-spans.ts'
import { rowRulesOf } from '../../engine/outgoing/row-rules.ts'

/** The cost of a number of events on DynamoDB: write and read units by DynamoDB's documented rules, and requests. */
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
  /** The writes as in the source documents (the specifications of the domains): one transaction per event over the same domain items, no reads. */
  readonly source: Cost
  /** This program's writes if every event is a batch of its own, which costs the most. */
  readonly trickle: Cost
  /** This program's writes in the batches in which the events arrived. */
  readonly arrived: Cost
  /** The writes of a rebuild: every final item once. */
  readonly rebuild: Cost
  /** The timestamps of the first and the last event, epoch milliseconds. */
  readonly span: readonly [first: number, last: number]
}

export interface CostParts {
  readonly domain: Domain
  readonly codec: Codec
  readonly log: Pick<Log, 'read' | 'watermarks'>
  /** Creates an empty local store. */
  readonly scratch: () => Promise<BuildTarget>
  /** The maximum time between the first and the last record of a batch, in milliseconds. */
  readonly windowMs: number
  readonly signal?: AbortSignal
  readonly progress?: (events: number) => void
}

const MAX_BATCH = 500
const LOADED_AT_ONCE = 100
const WRITTEN_AT_ONCE = 25
const READ_UNIT_BYTES = 4096

/** Folds the log as the processor does, into stores that count units and requests. */
export const costsOf = async (parts: CostParts): Promise<Costs> => {
  const trickle = createCountingStore(parts.domain, await parts.scratch())
  const arrived = createCountingStore(parts.domain, await parts.scratch())
  let events = 0
  let [first, last] = [Infinity, -Infinity]
  for (const { partition, high } of await parts.log.watermarks()) {
    const foldSingly = createFolding(parts, trickle.store)
    const foldBatch = createFolding(parts, arrived.store)
    for await (const records of parts.log.read(partition, 0, high)) {
      for (const record of records) await foldSingly([record])
      for (const batch of batchesOf(records, parts.windowMs)) await foldBatch(batch)
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
    rebuild: { ...(await rebuildCost(parts.domain, arrived.store)), events },
    span: [first, last],
  }
}

/** Splits records into batches as a consumer gets them: the records of a time window of `windowMs` milliseconds, at most `MAX_BATCH`. */
export const batchesOf = (records: readonly LogRecord[], windowMs: number): readonly (readonly LogRecord[])[] => {
  const batches: LogRecord[][] = []
  let open: LogRecord[] | undefined
  for (const record of records) {
    if (
      open === undefined ||
      open.length === MAX_BATCH ||
      record.timestamp - (open[0] as LogRecord).timestamp > windowMs
    ) {
      open = []
      batches.push(open)
    }
    open.push(record)
  }
  return batches
}

const createFolding = ({ domain, codec }: CostParts, store: Store) => {
  const deciders = decidersOf(domain, rowRulesOf(domain, codec))
  const parked = new Set<string>()
  const isParked = (projection: string, key: string) =>
    parked.has(`${projection}#${key}`) || parked.has(`${EVERY_PROJECTION}#${key}`)
  let from = 0
  return async (records: readonly LogRecord[]): Promise<void> => {
    const { partition, offset } = records.at(-1) as LogRecord
    const { spans, poisons } = await sortBatch(records, { codec, deciders, isParked })
    for (const { projection, key } of poisons) parked.add(`${projection}#${key}`)
    const advanced = await advance({
      store,
      spans,
      checkpoint: { partition, from, offset: offset + 1 },
      isolate: isolateRejected,
    })
    from = (await store.checkpoints()).get(partition) ?? 0
    for (const { span, poison } of advanced)
      if (poison !== undefined) parked.add(`${span.decider.projection.name}#${span.key}`)
  }
}

/** A store that counts the units and requests that the same reads and writes cost on DynamoDB. */
const createCountingStore = ({ table }: Domain, target: BuildTarget) => {
  const tally = createTally(table)
  let readUnits = 0
  let requests = 0
  let source = { domain: 0, requests: 0 }
  const load: Store['load'] = async (keys) => {
    const found = await target.load(keys)
    for (const item of found) if (item !== undefined) tally.loaded(item)
    readUnits += found.reduce(
      (sum, item) => sum + Math.max(1, Math.ceil((item === undefined ? 0 : sizeOf(item)) / READ_UNIT_BYTES)),
      0,
    )
    requests += Math.ceil(keys.length / LOADED_AT_ONCE)
    return found
  }
  const commit: Store['commit'] = async (spans, checkpoint) => {
    for (const chunk of spans.flat()) {
      source = addSourceCost(source, chunk, table, target)
      tally.committed(chunk)
    }
    // On DynamoDB a commit reads the checkpoint before the spans and writes it after them, so both requests are counted here.
    const isWritten = checkpoint !== undefined && isMoved(checkpoint)
    const isRead = checkpoint !== undefined && isConfirmed(spans, checkpoint)
    if (isWritten) tally.put([{ PK: `${CHECKPOINTS}0`, SK: '0' }])
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

/**
 * Adds the cost of an event if it were written as the specification of the domain describes: one transaction for all its items, or a plain write if
 * there is only one item.
 */
const addSourceCost = (
  sum: { domain: number; requests: number },
  chunk: Chunk,
  spec: Domain['table'],
  target: BuildTarget,
) => {
  const touches: Touch[] = []
  for (const write of chunk) {
    const key: Key = 'put' in write ? write.put : write.remove
    if (isBookkeeping(key)) continue
    const after = 'put' in write && !isTombstone(write.put) ? write.put : undefined
    const before = write.expect === null ? undefined : target.peek(key)
    if (before !== undefined || after !== undefined) touches.push({ before, after })
  }
  if (touches.length === 0) return sum
  const units = writeUnits({ spec, touches, mode: touches.length > 1 ? 'transaction' : 'single' })
  return { domain: sum.domain + units.domain, requests: sum.requests + 1 }
}

const rebuildCost = async ({ table }: Domain, store: Pick<Store, 'scan'>): Promise<Omit<Cost, 'events'>> => {
  const tally = createTally(table)
  let count = 0
  for await (const page of store.scan()) {
    const items = page.filter((item) => !isTombstone(item))
    tally.put(items)
    count += items.length
  }
  return { ...tally.units(), readUnits: 0, requests: Math.ceil(count / WRITTEN_AT_ONCE) }
}
