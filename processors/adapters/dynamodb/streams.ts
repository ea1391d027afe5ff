import type { DynamoDBStreams, Shard, _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams'
import { changeOf, changesTrimmed, type ChangeFeed, type ChangePage, type ItemChange } from '../../../projections/changes.ts'
import { isTrace } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Clock } from '../../engine/clock.ts'
import { every, retrying } from '../../engine/retry.ts'
import type { Attempts } from './attempts.ts'
import { toStored, type Attributes } from './codec.ts'
import { isReserved } from './table.ts'

export interface StreamParts {
  readonly streams: Pick<DynamoDBStreams, 'describeStream' | 'getShardIterator' | 'getRecords'>
  /** The stream of the table as it is now; undefined while it has none. */
  readonly arn: () => Promise<string | undefined>
  readonly attempts: Attempts
  readonly clock: Clock
  readonly table: string
}

/** A shard is asked this often, and for new shards somewhat less. */
const POLL_MS = 100
const SHARDS_MS = 5_000

/** Where a reader of one stream stands: behind the last record it saw of each shard. `null`: from its beginning. */
type Places = Map<string, string | null>

/** What changes in a table, by DynamoDB Streams: shards side by side, parents before their children, iterators renewed when they expire. */
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

/** It is switched on when the generation follows: until then there is nothing to see. */
const streamOf = ({ arn, clock }: StreamParts, signal: AbortSignal): Promise<string | undefined> =>
  retrying(arn, { clock, when: { result: (found) => found === undefined }, signal, pause: every(POLL_MS) })

const openShards = async (parts: StreamParts, arn: string, after: string | undefined) => {
  const places: Places = after === undefined ? new Map() : placesOf(after, arn)
  const iterators = new Map<string, string | null>()
  let known = await shardsOf(parts, arn)
  let looked = parts.clock.now()
  // From now on: what is over is over, and what is open is read from its end.
  if (after === undefined) {
    for (const shard of known) {
      const id = shard.ShardId ?? ''
      const isOpen = shard.SequenceNumberRange?.EndingSequenceNumber === undefined
      iterators.set(id, isOpen ? await iteratorAt(parts, { arn, id, type: 'LATEST' }) : null)
    }
  }
  const look = async (): Promise<void> => {
    known = await shardsOf(parts, arn)
    looked = parts.clock.now()
  }
  const isRead = (id: string | undefined): boolean => id === undefined || !known.some(({ ShardId }) => ShardId === id) || iterators.get(id) === null
  const read = async (): Promise<readonly ItemChange[]> => {
    if (parts.clock.now() - looked > SHARDS_MS) await look()
    const open = known.filter(({ ShardId: id = '', ParentShardId: parent }) => iterators.get(id) !== null && isRead(parent))
    return (await Promise.all(open.map(({ ShardId: id = '' }) => readShard(id)))).flat()
  }
  const readShard = async (id: string): Promise<readonly ItemChange[]> => {
    const iterator = iterators.get(id) ?? (await beginning(parts, { arn, id, place: places.get(id) }))
    const { records, next } = await recordsOf(parts, { arn, id, iterator, place: places.get(id) })
    iterators.set(id, next)
    // It has ended: its children are looked for at once.
    if (next === null) looked = 0
    places.set(id, records.at(-1)?.dynamodb?.SequenceNumber ?? places.get(id) ?? null)
    return records.flatMap((record) => changeIn(record) ?? [])
  }
  const cursor = (): string => {
    const standing = known.map(({ ShardId: id = '' }) => [id, places.get(id) ?? null, iterators.get(id) === null])
    return Buffer.from(JSON.stringify([arn, standing])).toString('base64url')
  }
  for (const [id, place] of places) if (place === ENDED) iterators.set(id, null)
  return { read, cursor }
}

/** A shard of which nothing is left to read. */
const ENDED = 'ended'

const placesOf = (cursor: string, arn: string): Places => {
  try {
    const [of, standing] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, [string, string | null, boolean][]]
    if (of === arn) return new Map(standing.map(([id, place, isRead]) => [id, isRead ? ENDED : place]))
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
    const { StreamDescription: page } = await attempts(`DescribeStream of ${table}`, () => streams.describeStream({ StreamArn: arn, ...start }))
    shards.push(...(page?.Shards ?? []))
    last = page?.LastEvaluatedShardId
  } while (last !== undefined)
  return shards
}

interface At {
  readonly arn: string
  readonly id: string
}

const beginning = (parts: StreamParts, { place, ...at }: At & { place: string | null | undefined }): Promise<string | null> =>
  place === undefined || place === null ? iteratorAt(parts, { ...at, type: 'TRIM_HORIZON' }) : iteratorAt(parts, { ...at, type: 'AFTER_SEQUENCE_NUMBER', place })

const iteratorAt = async ({ streams, attempts, table }: StreamParts, { arn, id, type, place }: At & { type: 'LATEST' | 'TRIM_HORIZON' | 'AFTER_SEQUENCE_NUMBER'; place?: string }): Promise<string | null> => {
  const { ShardIterator } = await attempts(`GetShardIterator of ${table}`, () => orTrimmed(streams.getShardIterator({
    StreamArn: arn, ShardId: id, ShardIteratorType: type, ...(place === undefined ? {} : { SequenceNumber: place }),
  })))
  return ShardIterator ?? null
}

/** Iterators live for a quarter of an hour: one that expired is asked for again, where this reader stands. */
const recordsOf = async (parts: StreamParts, { iterator, ...at }: At & { iterator: string | null; place: string | null | undefined }): Promise<{ records: readonly StreamRecord[]; next: string | null }> => {
  if (iterator === null) return { records: [], next: null }
  const { streams, attempts, table } = parts
  try {
    const { Records: records = [], NextShardIterator: next = null } = await attempts(`GetRecords of ${table}`, () => orTrimmed(streams.getRecords({ ShardIterator: iterator })))
    return { records, next }
  } catch (error) {
    if (!(error instanceof Fault) || !/ExpiredIterator/.test(error.message)) throw error
    return { records: [], next: await beginning(parts, at) }
  }
}

const orTrimmed = async <T>(asked: Promise<T>): Promise<T> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Error && (error.name === 'TrimmedDataAccessException' || error.name === 'ResourceNotFoundException')) throw changesTrimmed()
    throw error
  }
}

/** Undefined for what nobody can see: our own rows, and the end of what only marked a removal. */
const changeIn = ({ eventName, dynamodb, userIdentity }: StreamRecord): ItemChange | undefined => {
  const [now, before] = [dynamodb?.NewImage, dynamodb?.OldImage].map((image) => (image === undefined ? undefined : toStored(image as Attributes)))
  const any = now ?? before
  if (any === undefined || isReserved(any.PK)) return undefined
  if (eventName !== 'REMOVE' && now !== undefined) return changeOf(now)
  if (isTrace(any)) return undefined
  return { PK: any.PK, SK: any.SK, version: any._pos, item: undefined, ...(isService(userIdentity) && { expired: true as const }) }
}

/** The API says `PrincipalId`, what is handed on by other services `principalId`. */
const isService = (identity: object | undefined): boolean => {
  const { PrincipalId, principalId } = (identity ?? {}) as { readonly PrincipalId?: string; readonly principalId?: string }
  return (PrincipalId ?? principalId) === 'dynamodb.amazonaws.com'
}
