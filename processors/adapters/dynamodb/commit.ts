import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  type AttributeValue,
  type Delete,
  type Put,
} from '@aws-sdk/client-dynamodb'
import { keyOf, sameItem, type Key, type Stored } from '../../../projections/item.ts'
import { requireStorableChunk } from '../../engine/rows/storable.ts'
import { isRejection } from '../../engine/rows/store-faults.ts'
import { Fault } from '../../../schemas/fault.ts'
import { toAttributes, toStored, type Attributes } from './codec.ts'
import { all } from './gate.ts'
import type { Table } from './table.ts'
import {
  type Chunk,
  MAX_ACTIONS,
  MAX_CHUNK_BYTES,
  RejectedSpans,
  type Span,
  type SpanOutcome,
  type Write,
} from '../../engine/ports/store.ts'

/** Commits the spans in parallel. Throws only after all spans are settled: the first error, or `RejectedSpans` if some spans can never be written. */
export const commitSpans = async (table: Table, spans: readonly Span[]): Promise<readonly SpanOutcome[]> => {
  const rejected = new Map<number, Fault>()
  const outcomes = await all(
    spans.map((span, index) =>
      commitSpan(table, span).catch((error: unknown): SpanOutcome => {
        if (!isRejection(error)) throw error
        rejected.set(index, error)
        return { applied: 0, current: [] }
      }),
    ),
  )
  if (rejected.size > 0) throw new RejectedSpans(rejected)
  return outcomes
}

const commitSpan = async (table: Table, span: Span): Promise<SpanOutcome> => {
  for (const [applied, chunk] of span.entries()) {
    const current = await commitChunk(table, chunk)
    if (current !== undefined) return { applied, current }
  }
  return { applied: 'all' }
}

/** Returns undefined if the chunk was applied. Otherwise a condition failed, and it returns the current items of the keys in the chunk. */
const commitChunk = async (table: Table, chunk: Chunk): Promise<readonly Stored[] | undefined> => {
  checkSize(table, chunk)
  const [first] = chunk
  if (first === undefined) return undefined
  const current = await (chunk.length === 1 ? commitOne(table, first) : commitMany(table, chunk))
  if (current === undefined) table.tally.committed(chunk)
  else table.tally.rejected(chunk)
  return current
}

const commitOne = ({ name, client, gate, attempts }: Table, write: Write): Promise<readonly Stored[] | undefined> =>
  attempts(`a write to ${name}`, async (maybeApplied) => {
    const action = actionOf(name, write)
    try {
      await gate(
        async () => void ('Put' in action ? await client.putItem(action.Put) : await client.deleteItem(action.Delete)),
      )
      return undefined
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      const current = error.Item === undefined ? [] : [toStored(error.Item)]
      return maybeApplied && isApplied([write], current) ? undefined : current
    }
  })

/** All attempts use the same token, so DynamoDB recognises a transaction that it has applied. No other commit uses the token. */
const commitMany = (table: Table, chunk: Chunk): Promise<readonly Stored[] | undefined> => {
  const { name, client, gate, attempts } = table
  const request = { TransactItems: chunk.map((write) => actionOf(name, write)), ClientRequestToken: table.newToken() }
  return attempts(`a transaction of ${chunk.length} on ${name}`, async (maybeApplied) => {
    try {
      await gate(() => client.transactWriteItems(request))
      return undefined
    } catch (error) {
      if (!isConditionFailure(error)) throw error
      const current = await snapshot(table, chunk.map(keyOfWrite))
      return maybeApplied && isApplied(chunk, current) ? undefined : current
    }
  })
}

const isConditionFailure = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.some(({ Code }) => Code === 'ConditionalCheckFailed') === true

/**
 * Reads the items in a transaction, so that all of them are from the same moment. A batch read could return some items from before another
 * transaction and some from after it. The answer of a failed write transaction contains only the items whose conditions failed.
 */
const snapshot = ({ name, client, gate, attempts }: Table, keys: readonly Key[]): Promise<readonly Stored[]> =>
  attempts(`a read of ${name}`, async () => {
    const gets = keys.map(({ PK, SK }) => ({ Get: { TableName: name, Key: { PK: { S: PK }, SK: { S: SK } } } }))
    const { Responses = [] } = await gate(() => client.transactGetItems({ TransactItems: gets }))
    return Responses.flatMap(({ Item }) => (Item === undefined ? [] : [toStored(Item)]))
  })

/** True if the current items equal the items that this chunk writes. In this case, an earlier attempt without an answer was applied. */
const isApplied = (chunk: Chunk, current: readonly Stored[]): boolean => {
  const items = new Map(current.map((item) => [keyOf(item), item]))
  return chunk.every((write) =>
    'put' in write
      ? sameItem(items.get(keyOf(write.put)), toStored(toAttributes(write.put)))
      : !items.has(keyOf(write.remove)),
  )
}

const actionOf = (table: string, write: Write): { Put: Put } | { Delete: Delete } => {
  const condition = conditionOf(write.expect)
  if ('put' in write) return { Put: { TableName: table, Item: toAttributes(write.put), ...condition } }
  const { PK, SK } = write.remove
  return { Delete: { TableName: table, Key: { PK: { S: PK }, SK: { S: SK } }, ...condition } }
}

interface Condition {
  ConditionExpression: string
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD'
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Attributes
}

const conditionOf = (expect: number | null): Condition => {
  if (expect === null)
    return { ConditionExpression: 'attribute_not_exists(PK)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }
  const value: AttributeValue = { N: String(expect) }
  return {
    ConditionExpression: '#pos = :expect',
    ExpressionAttributeNames: { '#pos': '_pos' },
    ExpressionAttributeValues: { ':expect': value },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

const keyOfWrite = (write: Write): Key => ('put' in write ? write.put : write.remove)

const checkSize = ({ spec }: Table, chunk: Chunk): void => {
  const bytes = requireStorableChunk(spec, chunk)
  if (chunk.length > MAX_ACTIONS || bytes > MAX_CHUNK_BYTES) {
    const first = chunk[0] === undefined ? '' : ` at ${keyOfWrite(chunk[0]).PK}`
    throw new Fault(
      'chunk-too-large',
      `A commit of ${chunk.length} writes and ${bytes} bytes${first} exceeds ${MAX_ACTIONS} writes or 4 MB. Split it between events.`,
    )
  }
}
