import type { GoneProfileItem, ProfileItem, SagaItem } from '../../projections/activities/items.ts'
import { goneProfiles, profiles, sagas } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { AccountDeletionRequested, AccountOpened } from '../../schemas/generated/activities.ts'
import { startWork } from '../folding/work.ts'
import { readable } from './bodies.ts'
import { isPerson, openConnection, wrongLogKey } from './connections.ts'
import { startErasure, startRemoval } from './saga.ts'

const MAX_EMAIL = 320

/** Opens the account of a person. A person whose account was deleted can open another one, with the next number. */
export const accountOpened = ({ data, meta, personal }: AccountOpened, get: Get): Result => {
  if (!isPerson(meta.key)) return wrongLogKey(meta.key)
  if (get<ProfileItem>(profiles.key(meta.key)) !== undefined) return DUPLICATE
  if (data.number !== nextNumber(get, meta.key)) return refuse('account-deleted', 'This account was deleted.')
  const profile: ProfileItem = {
    ...profiles.key(meta.key),
    userId: meta.key,
    email: readable(personal)?.email?.slice(0, MAX_EMAIL) ?? null,
    createdAtUtc: isoOf(meta.occurredAt),
    status: 'ACTIVE',
    number: data.number,
  }
  return { items: [profile] }
}

const nextNumber = (get: Get, user: string): number => (get<GoneProfileItem>(goneProfiles.key(user))?.number ?? 0) + 1

/** Begins the deletion of an account. From now on the folds refuse every command of the person. */
export const accountDeletionRequested = (event: AccountDeletionRequested, get: Get): Result => {
  const { key: user, occurredAt } = event.meta
  if (!isPerson(user)) return wrongLogKey(user)
  const before = get<ProfileItem>(profiles.key(user))
  const isGone = before === undefined && get<GoneProfileItem>(goneProfiles.key(user)) !== undefined
  if (isGone || before?.status === 'DELETING') return NOTHING
  const work = startWork(get)
  const profile: ProfileItem = before ?? {
    ...profiles.key(user),
    userId: user,
    email: null,
    createdAtUtc: isoOf(occurredAt),
    status: 'ACTIVE',
    number: nextNumber(get, user),
  }
  work.put({ ...profile, status: 'DELETING' })
  const saga = get<SagaItem>(sagas.key(user))
  const connection = openConnection(get, user)
  if (saga !== undefined) work.put({ ...bare(saga), kind: 'account' })
  else if (connection !== undefined)
    startErasure(work, event, { connection, revoke: connection.status !== 'NONE', kind: 'account' })
  else startRemoval(work, event)
  return work.result()
}
