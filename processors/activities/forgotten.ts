import type {
  AwardItem,
  ClaimItem,
  ConnectionItem,
  MilestoneItem,
  ProfileItem,
  SyncItem,
  WorkoutItem,
} from '../../projections/activities/items.ts'
import {
  claims,
  connections,
  isAward,
  ledgers,
  milestones,
  profiles,
  refIn,
  syncs,
  workouts,
} from '../../projections/activities/keys.ts'
import { covers, holds, scopeOf, type Scope } from '../../projections/activities/personal.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare, keyOf, type Item, type Key } from '../../projections/item.ts'
import { type Get, type PersonalItems, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokenForgotten } from '../folding/tokens.ts'
import { startWork, type Work } from '../folding/work.ts'
import { releaseItems } from './athletes.ts'
import { recordedAwards } from './awards.ts'
import { endCalls, isPerson, openConnection, unitIn, unitOf } from './connections.ts'

const partitionsOf = (key: string, subject: string): readonly string[] => {
  const ref = refIn(key)
  if (ref !== undefined) return [claims.key(ref).PK]
  return scopeOf(subject).user === key || key === subject ? [userPartition(key)] : []
}

export const activitiesPersonalItems: PersonalItems = {
  partitions: partitionsOf,
  hasPersonalData: (item, subject) => holds(item, scopeOf(subject)),
}

/**
 * Removes the data of a person, or of a part of a person, from the items that the event names. The link is closed: its later events change
 * nothing. Awards and milestones stay without the numbers from Strava. The fold writes each named item, even if the item does not change, so that
 * every replay writes the same items.
 */
export const personForgotten = (event: PersonForgotten, get: Get): Result => {
  const { data, meta } = event
  const subject = meta.subjectId ?? meta.key
  const scope = scopeOf(subject)
  const own = partitionsOf(meta.key, subject)
  const named: readonly Key[] = data.items
    .filter(({ pk }) => own.includes(pk))
    .map(({ pk, sk }) => ({ PK: pk, SK: sk }))
  const work = startWork(get)
  for (const key of named) {
    const item = get<Item>(key)
    if (item !== undefined) erase(work, event, bare(item), scope)
  }
  if (own.length > 0 && isPerson(meta.key)) closeLink(work, meta.key, scope)
  const result = work.result()
  const changed = new Set(result.items?.map(keyOf))
  const unchanged = new Map(
    named.flatMap((key) => (changed.has(keyOf(key)) ? [] : [[keyOf(key), work.get<Item>(key)] as const])),
  )
  return {
    ...result,
    items: [...(result.items ?? []), ...[...unchanged.values()].flatMap((item) => (item ? [bare(item)] : []))],
  }
}

/** Removes the personal data of one item. An item of another link stays, because the event is not about it. */
const erase = (work: Work, event: Event, item: Item, scope: Scope): void => {
  const { SK } = item
  if (typeof item['epoch'] === 'number' && !covers(scope, unitOf(item['epoch']))) return
  if (SK.startsWith(tokens.prefix)) revokeToken(work, event, item)
  else if (SK === profiles.prefix) work.put({ ...item, email: null } as ProfileItem)
  else if (SK === claims.prefix) releaseItems(work, item as ClaimItem)
  else if (SK.startsWith(syncs.prefix)) removeActivity(work, event.meta.key, item as SyncItem)
  else if (SK.startsWith(ledgers.prefix)) work.remove(item)
  else if (SK === connections.prefix) work.put(withoutAthlete(item as ConnectionItem))
  else if (isAward(SK)) eraseAward(work, item as AwardItem)
  else if (SK.startsWith(milestones.prefix))
    work.put(withoutNumbers(item as MilestoneItem, unitIn(work.get, event.meta.key)))
}

const revokeToken = (work: Work, { meta }: Event, item: Item): void => {
  for (const change of tokenForgotten(meta.key, item, isoOf(meta.occurredAt)))
    if ('_removed' in change) work.remove(change)
    else work.put(change)
}

const removeActivity = (work: Work, user: string, sync: SyncItem): void => {
  const workout = sync.activityId === null ? undefined : work.get<WorkoutItem>(workouts.key(user, sync.activityId))
  if (workout?.ref === sync.ref) work.remove(workout)
  work.remove(sync)
}

const withoutAthlete = ({ GSI1PK: _pk, GSI1SK: _sk, ...connection }: ConnectionItem): ConnectionItem => ({
  ...connection,
  athleteId: null,
  athleteName: null,
  backfill: { ...connection.backfill, before: null },
  resync: { ...connection.resync, before: null },
})

const eraseAward = (work: Work, award: AwardItem): void =>
  award.told ? work.put({ ...award, progressValueAtAward: null }) : work.remove(award)

/** The milestone with the awards that events contain, and without progress. */
const withoutNumbers = (milestone: MilestoneItem, epoch: number): MilestoneItem => {
  const { completedAtUtc, ...rest } = milestone
  const version = milestone._toldVersion + 1
  return {
    ...rest,
    ...recordedAwards(milestone._awards),
    ...(milestone._toldCompleted ? { status: 'COMPLETED', completedAtUtc } : { status: 'ACTIVE' }),
    epoch,
    progressValue: 0,
    highWaterProgress: 0,
    percentComplete: 0,
    partsEarned: 0,
    version,
    _toldVersion: version,
  } as MilestoneItem
}

/** Closes the link of the person if its data is forgotten. */
const closeLink = (work: Work, user: string, scope: Scope): void => {
  const connection = openConnection(work.get, user)
  if (connection === undefined || !covers(scope, unitOf(connection.epoch))) return
  const { checking: _, ...rest } = connection
  const closed = unitOf(connection.epoch)
  const status = connection.status === 'NONE' ? 'NONE' : 'REVOKED'
  work.put({
    ...rest,
    status,
    epoch: closed,
    closedEpoch: closed,
    lastEpoch: Math.max(closed, connection.lastEpoch),
  } satisfies ConnectionItem)
  endCalls(work)
}
