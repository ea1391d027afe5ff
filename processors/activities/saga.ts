import type {
  ConnectionItem,
  GoneProfileItem,
  MilestoneItem,
  MilestonesItem,
  ProfileItem,
  SagaItem,
} from '../../projections/activities/items.ts'
import {
  accountSubject,
  athleteKey,
  connections,
  goneProfiles,
  milestoneLists,
  milestones,
  profiles,
  sagas,
  stravaSubject,
} from '../../projections/activities/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { NOTHING, type Derived, type Get, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type { SagaDue, SagaStep, StepDone } from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isUntold, tellMinted } from './awards.ts'
import { endCalls, unitOf } from './connections.ts'
import { DAY_MS, dueAfter } from './instants.ts'
import { removeMilestones } from './removal.ts'
import { queueOf } from './syncs.ts'

/** If Strava does not answer the revocation for this time, the erasure continues without it. */
const REVOKE_MS = 7 * DAY_MS

/** The maximum number of milestones whose awards one event tells. */
const TOLD_PER_EVENT = 80

/**
 * The saga that erases the data of a connection, and of an account. Each step is repeated until it succeeds, and an event starts the next one:
 * - `revoke`: an ask revokes the tokens.
 * - `tell`: derived events record the awards that no event contains yet. Then the claim of the athlete is released.
 * - `forget`: an ask destroys the key of the data from Strava, and removes it from the items.
 * - `account`: an ask destroys the key of the account.
 * - `remove`: the milestones are removed, and then the account.
 * The last two steps are for accounts only.
 */
export const startErasure = (
  work: Work,
  event: Event,
  { connection, revoke, kind }: { connection: ConnectionItem; revoke: boolean; kind: SagaItem['kind'] },
): void => {
  const { key: user } = event.meta
  const { checking: _, ...rest } = connection
  const epoch = unitOf(connection.epoch)
  work.put({
    ...rest,
    status: 'REVOKING',
    epoch,
    closedEpoch: epoch,
    lastEpoch: Math.max(epoch, connection.lastEpoch),
  } satisfies ConnectionItem)
  endCalls(work)
  const saga = { kind, epoch: connection.epoch, startedAtUtc: isoOf(event.meta.occurredAt) }
  if (!revoke) return beginStep(work, event, { ...saga, step: 'tell' })
  const ask = { name: 'revoke', kind: 'revoke', body: { epoch: connection.epoch }, queue: queueOf(user), priority: 1 }
  work.ask({ ...ask, at: dueAfter(event) })
  beginStep(work, event, { ...saga, step: 'revoke' }, REVOKE_MS)
}

/** Begins the erasure of an account without a connection. */
export const startRemoval = (work: Work, event: Event): void =>
  forgetAccount(work, event, { kind: 'account', epoch: 0, startedAtUtc: isoOf(event.meta.occurredAt) })

type SagaStart = Pick<SagaItem, 'kind' | 'epoch' | 'startedAtUtc'>

/** Stores the step, and arms the timer that continues it. Default of `delayMs`: at once. */
const beginStep = (
  work: Work,
  event: Event,
  saga: SagaStart & { step: SagaStep; cursor?: number },
  delayMs = 0,
): void => {
  const { key: user } = event.meta
  const { kind, step, epoch, cursor = 0, startedAtUtc } = saga
  work.put({ ...sagas.key(user), kind, step, epoch, cursor, startedAtUtc } satisfies SagaItem)
  work.arm({
    name: 'saga',
    at: dueAfter(event, delayMs),
    event: { type: 'SagaDue', key: user, data: { step, cursor } },
  })
}

/** Continues a step. A timer that belongs to an earlier state of the saga changes nothing. */
export const sagaDue = (event: SagaDue, get: Get): Result => {
  const { data, meta } = event
  const saga = get<SagaItem>(sagas.key(meta.key))
  if (saga === undefined || saga.step !== data.step || saga.cursor !== data.cursor) return NOTHING
  const work = startWork(get)
  if (saga.step === 'revoke') endRevocation(work, event, saga)
  else if (saga.step === 'tell') tellAwards(work, event, saga)
  else if (saga.step === 'remove') removeAccount(work, event, saga)
  return work.result()
}

/** The answer to an ask of the saga. */
export const stepDone = (event: StepDone, get: Get): Result => {
  const { data, meta } = event
  const saga = get<SagaItem>(sagas.key(meta.key))
  const work = startWork(get)
  if (data.step === 'forget') work.ask({ name: refusedLink(data.epoch), at: null })
  if (saga === undefined || saga.step !== data.step) return work.result()
  if (saga.step === 'revoke' && saga.epoch === data.epoch) endRevocation(work, event, saga)
  else if (saga.step === 'forget' && partsOf(get, meta.key, saga)[saga.cursor] === data.epoch)
    forgetNextPart(work, event, { ...bare(saga), cursor: saga.cursor + 1 })
  else if (saga.step === 'account') {
    work.ask({ name: 'forget', at: null })
    beginStep(work, event, { ...saga, step: 'remove', cursor: 0 })
  }
  return work.result()
}

const endRevocation = (work: Work, event: Event, saga: SagaItem): void => {
  work.ask({ name: 'revoke', at: null })
  beginStep(work, event, { ...saga, step: 'tell', cursor: 0 })
}

const tellAwards = (work: Work, event: Event, saga: SagaItem): void => {
  const { key: user } = event.meta
  const all = work.get<MilestonesItem>(milestoneLists.key(user))?.all ?? []
  const next = saga.cursor + TOLD_PER_EVENT
  for (const milestone of all.slice(saga.cursor, next).map((id) => work.get<MilestoneItem>(milestones.key(user, id))))
    if (milestone !== undefined && isUntold(milestone)) tellMinted(work, event, milestone)
  if (next < all.length) return beginStep(work, event, { ...saga, cursor: next })
  releaseClaim(work, user, work.get<ConnectionItem>(connections.key(user)))
  work.arm({ name: 'saga', at: null })
  forgetNextPart(work, event, { ...bare(saga), step: 'forget', cursor: 0 })
}

const refusedLink = (epoch: number): string => `forget:${epoch}`

/** Forgets the data of a link that cannot be used. */
export const forgetRefusedLink = (work: Work, event: Event, epoch: number): void =>
  work.ask({
    ...forgetAsk(event, stravaSubject(event.meta.key, epoch), { step: 'forget', epoch, result: 'done' }),
    name: refusedLink(epoch),
  })

/** Derives the event that ends the claim of an athlete, so that another person can link the athlete. */
export const releaseClaim = (work: Work, user: string, linked: { ref: string; epoch: number } | undefined): void => {
  if (linked === undefined || linked.ref === '') return
  const { ref, epoch } = linked
  const event: Derived['event'] = { type: 'StravaAthleteReleased', key: athleteKey(ref), data: { userId: user, epoch } }
  work.derive({ purpose: `released:${ref}:${epoch}`, event })
}

/** The links whose data the saga erases. Imported activities are erased with the data of the first link. */
const partsOf = (get: Get, user: string, { epoch }: SagaItem): readonly number[] => {
  const imported = get<ConnectionItem>(connections.key(user))?.imported === true
  return [...(imported ? [0] : []), ...(epoch > 0 ? [epoch] : [])]
}

const forgetNextPart = (work: Work, event: Event, saga: SagaItem): void => {
  const { key: user } = event.meta
  const part = partsOf(work.get, user, saga)[saga.cursor]
  if (part === undefined) return endErasure(work, event, saga)
  work.put(saga)
  work.ask(forgetAsk(event, stravaSubject(user, part), { step: 'forget', epoch: part, result: 'done' }))
}

const forgetAsk = (event: Event, subject: string, data: { step: SagaStep; epoch: number; result: string }) => ({
  name: 'forget',
  at: dueAfter(event),
  kind: 'forget',
  body: { subject, answer: 'StepDone', data },
  priority: 2,
})

const endErasure = (work: Work, event: Event, saga: SagaItem): void => {
  const { key: user } = event.meta
  const connection = work.get<ConnectionItem>(connections.key(user))
  if (connection !== undefined) {
    const { imported: _, ...rest } = connection
    work.put({ ...rest, status: 'REVOKED' } satisfies ConnectionItem)
  }
  if (saga.kind === 'account') return forgetAccount(work, event, saga)
  work.ask({ name: 'forget', at: null })
  work.remove(sagas.key(user))
}

const forgetAccount = (work: Work, event: Event, { kind, epoch, startedAtUtc }: SagaStart): void => {
  const { key: user } = event.meta
  work.put({ ...sagas.key(user), kind, step: 'account', epoch, cursor: 0, startedAtUtc } satisfies SagaItem)
  work.ask(forgetAsk(event, accountSubject(user), { step: 'account', epoch: 0, result: 'done' }))
}

/** Removes milestones, as many as fit into one event. When none is left, removes the account. */
const removeAccount = (work: Work, event: Event, saga: SagaItem): void => {
  const { key: user, occurredAt } = event.meta
  if (!removeMilestones(work, user)) return beginStep(work, event, { ...saga, cursor: saga.cursor + 1 })
  const number = work.get<ProfileItem>(profiles.key(user))?.number ?? 1
  const epoch = work.get<ConnectionItem>(connections.key(user))?.lastEpoch ?? 0
  work.put({ ...goneProfiles.key(user), deletedAtUtc: isoOf(occurredAt), number, epoch } satisfies GoneProfileItem)
  for (const { key } of [profiles, connections, milestoneLists, sagas]) work.remove(key(user))
  work.arm({ name: 'saga', at: null })
  work.derive({ purpose: 'deleted', event: { type: 'AccountDeleted', key: user, data: {} } })
}
