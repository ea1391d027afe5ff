import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { MemberJoinedPersonal, ProfileTold } from '../../schemas/generated/expenses.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { ProfileItem } from '../../projections/expenses/items.ts'
import { isId, profiles, telegramIdOf } from '../../projections/expenses/keys.ts'
import type { Work } from '../access/work.ts'

export type Profile = Pick<ProfileItem, 'name' | 'username' | 'avatarUrl'>

export const NAMELESS: Profile = { name: null, username: null, avatarUrl: null }

/** The profile in the event, without names if the person is forgotten. Undefined if the event has none, or is about another person. */
export const profileIn = ({ meta, personal }: Event<string, unknown, MemberJoinedPersonal>, user: string): Profile | undefined => {
  if (personal === null || meta.subjectId !== user) return undefined
  return personal === FORGOTTEN ? NAMELESS : { name: personal.name, username: personal.username, avatarUrl: personal.avatarUrl }
}

/** Derives ProfileTold for the person (E-m), also if the personal data is forgotten. */
export const tellProfile = (work: Work, event: Event<string, unknown, MemberJoinedPersonal>, user: string): void => {
  const { meta, personal } = event
  if (personal === null || meta.subjectId !== user) return
  const words = personal === FORGOTTEN ? {} : { personal, subjectId: user }
  work.derive({ purpose: 'profile', event: { type: 'ProfileTold', key: user, data: { at: meta.occurredAt }, ...words } })
}

/** The last word counts, by when it was said: groups are not in step with each other. Whether it does never depends on what it says. */
export const profileTold = (event: ProfileTold, get: Get): Result => {
  const { data, meta: { key: user } } = event
  const profile = isId(user) ? profileIn(event, user) : undefined
  const before = get(profiles.key(user))
  const toldAt = isoOf(data.at)
  if (profile === undefined || (before !== undefined && before.toldAt >= toldAt)) return NOTHING
  return { items: [{ ...profiles.key(user), id: user, telegramId: telegramIdOf(user), ...profile, toldAt } satisfies ProfileItem] }
}
