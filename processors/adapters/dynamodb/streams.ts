import type { DynamoDBStreams, Shard, _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams'
import {
  changeOf,
  changesTrimmed,
  type ChangeFeed,
  type ChangePage,
  type ItemChange,
} from '../../../projections/changes.ts'
import { isTombstone } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import { every, retrying } from '../../engine/timing/retry.ts'
import type { Attempts } from './attempts.ts'
import { toStored, type Attributes } from './codec.ts'
import { isReserved } from './table.ts'

export interface StreamParts {
  readonly streams: Pick<DynamoDBStreams, 'describeStream' | 'getShardIterator' | 'getRecords'>
  /** Returns the current stream of the table. Undefined while the table has no stream. */
  readonly arn: () => Promise<string | undefined>
  readonly attempts: Attempts
  readonly clock: Clock
  readonly table: string
}

/** The pause before the shards are read again after they contained no changes. */
const POLL_MS = 100
/** The interval at which the list of shards is requested again. */
const SHARDS_MS = 5_000

/** By shard id, the sequence number of the last record that was read. Null: no record was read yet. `ENDED`: the shard was read completely. */
type Positions = Map<string, string | null>

/** The change feed of a table on DynamoDB Streams. Reads shards in parallel, but a parent shard before its children. Renews expired iterators. */
export const createStreamFeed = (parts: StreamParts): ChangeFeed => ({
  async *follow({ after, signal }) {
    const arn = await streamOf(parts, signal)
    if (arn === undefined) return
    const shards = await openShards(parts, arn, after)
    yield { changes: [], cursor: shards.cursor() }
    while (!signal.aborted) {
      const changes = await shards.read()
      if (changes.length > 0) yield { changes, cursor: shards.cursor() } satisfies ChangePage
      else await parts.clock.sleep(POLL_MS, signal).catch(() => undefined)
    }
  },
})

/**
 * Waits until the table has a stream, and returns its ARN. The stream is enabled when the generation begins to follow the log. Undefined if the
 * signal is aborted first.
 */
const streamOf = ({ arn, clock }: StreamParts, signal: AbortSignal): Promise<string | undefined> =>
  retrying(arn, { clock, when: { result: (found) => found === undefined }, signal, pause: every(POLL_MS) })

const openShards = async (parts: StreamParts, arn: string, after: string | undefined) => {
  const positions: Positions = after === undefined ? new Map() : positionsOf(after, arn)
  const iterators = new Map<string, string | null>()
  let shards = await shardsOf(parts, arn)
  let listedAt = parts.clock.now()
  // Without a cursor, the feed returns only changes from now on. So it skips closed shards, and reads open shards from their end.
  if (after === undefined) {
    for (const shard of shards) {
      const id = shard.ShardId ?? ''
      const isOpen = shard.SequenceNumberRange?.EndingSequenceNumber === undefined
      iterators.set(id, isOpen ? await iteratorAt(parts, { arn, id, type: 'LATEST' }) : null)
    }
  }
  const listShards = async (): Promise<void> => {
    shards = await shardsOf(parts, arn)
    listedAt = parts.clock.now()
  }
  const isRead = (id: string | undefined): boolean =>
    id === undefined || !shards.some(({ ShardId }) => ShardId === id) || iterators.get(id) === null
  const read = async (): Promise<readonly ItemChange[]> => {
    if (parts.clock.now() - listedAt > SHARDS_MS) await listShards()
    const open = shards.filter(
      ({ ShardId: id = '', ParentShardId: parent }) => iterators.get(id) !== null && isRead(parent),
    )
    return (await Promise.all(open.map(({ ShardId: id = '' }) => readShard(id)))).flat()
  }
  const readShard = async (id: string): Promise<readonly ItemChange[]> => {
    const iterator = iterators.get(id) ?? (await openIterator(parts, { arn, id, position: positions.get(id) }))
    const { records, next } = await recordsOf(parts, { arn, id, iterator, position: positions.get(id) })
    iterators.set(id, next)
    // The shard has ended, so the next read lists the shards again and finds the children of this shard.
    if (next === null) listedAt = 0
    positions.set(id, records.at(-1)?.dynamodb?.SequenceNumber ?? positions.get(id) ?? null)
    return records.flatMap((record) => changeIn(record) ?? [])
  }
  const cursor = (): string => {
    const state = shards.map(({ ShardId: id = '' }) => [id, positions.get(id) ?? null, iterators.get(id) === null])
    return Buffer.from(JSON.stringify([arn, state])).toString('base64url')
  }
  for (const [id, position] of positions) if (position === ENDED) iterators.set(id, null)
  return { read, cursor }
}

/** The position of a shard that was read completely. */
const ENDED = 'ended'

const positionsOf = (cursor: string, arn: string): Positions => {
  try {
    const [stream, state] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [
      string,
      [string, string | null, boolean][],
    ]
    if (stream === arn) return new Map(state.map(([id, position, isRead]) => [id, isRead ? ENDED : position]))
  } catch {
    throw changesTrimmed()
  }
  throw changesTrimmed()
}

const shardsOf = async ({ streams, attempts, table }: StreamParts, arn: string): Promise<readonly Shard[]> => {
  const shards: Shard[] = []
  let last: string | undefined
  do {
    const start = last === undefined ? {} : { ExclusiveStartShardId: last }
    const { StreamDescription: page } = await attempts(`DescribeStream of ${table}`, () =>
      streams.describeStream({ StreamArn: arn, ...start }),
    )
    shards.push(...(page?.Shards ?? []))
    last = page?.LastEvaluatedShardId
  } while (last !== undefined)
  return shards
}

interface ShardId {
  readonly arn: string
  readonly id: string
}

/** Returns an iterator that begins after the position. Without a position, it begins at the first record of the shard. */
const openIterator = (
  parts: StreamParts,
  { position, ...shard }: ShardId & { position: string | null | undefined },
): Promise<string | null> =>
  position === undefined || position === null
    ? iteratorAt(parts, { ...shard, type: 'TRIM_HORIZON' })
    : iteratorAt(parts, { ...shard, type: 'AFTER_SEQUENCE_NUMBER', position })

const iteratorAt = async (
  { streams, attempts, table }: StreamParts,
  {
    arn,
    id,
    type,
    position,
  }: ShardId & { type: 'LATEST' | 'TRIM_HORIZON' | 'AFTER_SEQUENCE_NUMBER'; position?: string },
): Promise<string | null> => {
  const { ShardIterator } = await attempts(`GetShardIterator of ${table}`, () =>
    orTrimmed(
      streams.getShardIterator({
        StreamArn: arn,
        ShardId: id,
        ShardIteratorType: type,
        ...(position === undefined ? {} : { SequenceNumber: position }),
      }),
    ),
  )
  return ShardIterator ?? null
}

/** Reads the next records of a shard. An iterator expires after 15 minutes. In this case, returns no records and a new iterator at the position. */
const recordsOf = async (
  parts: StreamParts,
  { iterator, ...shard }: ShardId & { iterator: string | null; position: string | null | undefined },
): Promise<{ records: readonly StreamRecord[]; next: string | null }> => {
  if (iterator === null) return { records: [], next: null }
  const { streams, attempts, table } = parts
  try {
    const { Records: records = [], NextShardIterator: next = null } = await attempts(`GetRecords of ${table}`, () =>
      orTrimmed(streams.getRecords({ ShardIterator: iterator })),
    )
    return { records, next }
  } catch (error) {
    if (!(error instanceof Fault) || !/ExpiredIterator/.test(error.message)) throw error
    return { records: [], next: await openIterator(parts, shard) }
  }
}

const orTrimmed = async <T>(request: Promise<T>): Promise<T> => {
  try {
    return await request
  } catch (error) {
    if (
      error instanceof Error &&
      (error.name === 'TrimmedDataAccessException' || error.name === 'ResourceNotFoundException')
    )
      throw changesTrimmed()
    throw error
  }
}

/** Returns the change in a stream record. Returns undefined for changes that no reader can see: of a checkpoint, and the removal of a tombstone. */
const changeIn = ({ eventName, dynamodb, userIdentity }: StreamRecord): ItemChange | undefined => {
  const [after, before] = [dynamodb?.NewImage, dynamodb?.OldImage].map((image) =>
    image === undefined ? undefined : toStored(image as Attributes),
  )
  const item = after ?? before
  if (item === undefined || isReserved(item.PK)) return undefined
  if (eventName !== 'REMOVE' && after !== undefined) return changeOf(after)
  if (isTombstone(item)) return undefined
  return {
    PK: item.PK,
    SK: item.SK,
    version: item._pos,
    item: undefined,
    ...(isService(userIdentity) && { expired: true as const }),
  }
}

/**
 * True if DynamoDB itself removed the item, because it expired. The API names the field `PrincipalId`. Other services that forward records name it
 * `principalId`.
 */
const isService = (identity: object | undefined): boolean => {
  const { PrincipalId, principalId } = (identity ?? {}) as {
    readonly PrincipalId?: string
    readonly principalId?: string
  }
  return (PrincipalId ?? principalId) === 'dynamodb.amazonaws.com'
}
