import type { ConnectionItem, GoneProfileItem, ProfileItem } from '../../projections/activities/items.ts'
import { connections, goneProfiles, modelIn, profiles, refIn } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { bare } from '../../projections/item.ts'
import type { Get, Result } from '../../projections/projection.ts'
import type { Refused } from '../../projections/refusal.ts'
import type { Work } from '../folding/work.ts'

/** Imported activities have the link 0. They are erased together with the data of the first link, so both count as link 1. */
export const unitOf = (epoch: number): number => Math.max(epoch, 1)

/** The link whose data the items of a person contain. */
export const unitIn = (get: Get, user: string): number => unitOf(get<ConnectionItem>(connections.key(user))?.epoch ?? 0)

/** True if the log key is the id of a person. */
export const isPerson = (key: string): boolean => refIn(key) === undefined && modelIn(key) === undefined

export const wrongLogKey = (key: string): Refused =>
  refuse(
    'wrong-log-key',
    `This event cannot have the log key ${key.slice(0, 100)}. See docs/activities.md for the keys.`,
  )

/** Why a person cannot do anything. Undefined if they can. */
export const refusedFor = (get: Get, user: string): Result | undefined => {
  if (!isPerson(user)) return wrongLogKey(user)
  const profile = get<ProfileItem>(profiles.key(user))
  const isDeleted = profile === undefined && get<GoneProfileItem>(goneProfiles.key(user)) !== undefined
  return isDeleted || profile?.status === 'DELETING'
    ? refuse('account-deleted', 'This account was deleted or is being deleted.')
    : undefined
}

/** The links up to this one are closed: their events change nothing. */
const closedEpochOf = (get: Get, user: string): number =>
  get<ConnectionItem>(connections.key(user))?.closedEpoch ?? get<GoneProfileItem>(goneProfiles.key(user))?.epoch ?? 0

/** True if the events of a link change items: it is the current link, or the imported activities, and it is not closed. */
export const isOpen = (get: Get, user: string, epoch: number): boolean => {
  if (!isPerson(user) || unitOf(epoch) <= closedEpochOf(get, user)) return false
  const current = get<ConnectionItem>(connections.key(user))?.epoch ?? 0
  return epoch === 0 ? current <= 1 : epoch === current
}

/** The connection of a person whose link is not closed. */
export const openConnection = (get: Get, user: string): ConnectionItem | undefined => {
  const connection = get<ConnectionItem>(connections.key(user))
  return connection === undefined || unitOf(connection.epoch) <= connection.closedEpoch ? undefined : bare(connection)
}

/** The asks and timers of a link. The asks of single activities are not here: their handler withdraws them. */
export const endCalls = (work: Work): void => {
  for (const name of ['backfill', 'resync', 'check']) work.ask({ name, at: null })
  for (const name of ['resync', 'missing', 'presumed']) work.arm({ name, at: null })
}

/** The connection of a person who has none yet. */
export const noConnection = (get: Get, user: string): ConnectionItem => {
  const epoch = get<GoneProfileItem>(goneProfiles.key(user))?.epoch ?? 0
  return {
    ...connections.key(user),
    status: 'NONE',
    athleteId: null,
    athleteName: null,
    ref: '',
    scopes: [],
    missingScopes: [],
    epoch,
    closedEpoch: epoch,
    lastEpoch: epoch,
    secretRef: '',
    secretVersion: 0,
    expiresAtUtc: '',
    linkedAtUtc: '',
    backfill: { run: 0, page: 0, before: null, done: true, fetched: 0 },
    resync: { run: 0, page: 0, before: null, done: true, missing: [], handled: 0 },
  }
}
