import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { MemberJoinedPersonal, ProfileTold } from '../../schemas/generated/expenses.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { ProfileItem } from '../../projections/expenses/items.ts'
import { isId, profiles, telegramIdOf } from '../../projections/expenses/keys.ts'
import type { Work } from '../folding/work.ts'

export type Profile = Pick<ProfileItem, 'name' | 'username' | 'avatarUrl'>

export const NAMELESS: Profile = { name: null, username: null, avatarUrl: null }

/** The profile in the event. Its fields are null if the person is forgotten. Undefined if the event has no profile of this person. */
export const profileIn = (
  { meta, personal }: Event<string, unknown, MemberJoinedPersonal>,
  user: string,
): Profile | undefined => {
  if (personal === null || meta.subjectId !== user) return undefined
  return personal === FORGOTTEN
    ? NAMELESS
    : { name: personal.name, username: personal.username, avatarUrl: personal.avatarUrl }
}

/** Derives a ProfileTold event (E-m), also if the person is forgotten. Does nothing if the event has no profile of this person. */
export const deriveProfile = (work: Work, event: Event<string, unknown, MemberJoinedPersonal>, user: string): void => {
  const { meta, personal } = event
  if (personal === null || meta.subjectId !== user) return
  const sealed = personal === FORGOTTEN ? {} : { personal, subjectId: user }
  work.derive({
    purpose: 'profile',
    event: { type: 'ProfileTold', key: user, data: { at: meta.occurredAt }, ...sealed },
  })
}

/**
 * Stores the latest profile of a person, by the time of the event that it is derived from: events of different groups
 * can arrive in any order. The fold does not depend on the names themselves, so it writes the same items after the
 * person is forgotten.
 */
export const storeProfile = (event: ProfileTold, get: Get): Result => {
  const {
    data,
    meta: { key: user },
  } = event
  const profile = isId(user) ? profileIn(event, user) : undefined
  const before = get(profiles.key(user))
  const toldAt = isoOf(data.at)
  if (profile === undefined || (before !== undefined && before.toldAt >= toldAt)) return NOTHING
  return {
    items: [
      { ...profiles.key(user), id: user, telegramId: telegramIdOf(user), ...profile, toldAt } satisfies ProfileItem,
    ],
  }
}
