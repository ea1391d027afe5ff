import type { MemberJoinedPersonal } from '../../schemas/generated/expenses.ts'
import { HTTPS_URL } from '../../projections/https-url.ts'
import type { MemberItem } from '../../projections/expenses/items.ts'
import { profiles } from '../../projections/expenses/keys.ts'
import { misfitOf } from '../../projections/expenses/rules.ts'
import type { Call } from '../http/route.ts'
import { refused } from './params.ts'

/** The JSON Schema of a person's profile in a group. */
export const personProperties = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  username: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_]+$',
    description: 'Telegram username without the @.',
  },
  avatarUrl: { type: 'string', minLength: 1, maxLength: 1_000, pattern: HTTPS_URL, description: 'An https URL.' },
} as const

export type PersonFields = { readonly name?: string; readonly username?: string; readonly avatarUrl?: string }

/**
 * Returns the caller's profile. The name comes from the body, else from the sign-in, else from the latest profile in the caller's groups. If none
 * of these has a name, the name is the user id. User name and avatar come from the body, else from the sign-in or that latest profile.
 */
export const personOf = async (
  { caller: { reader, user, profile } }: Pick<Call, 'caller'>,
  fields: PersonFields,
): Promise<MemberJoinedPersonal> => {
  if (fields.name !== undefined)
    return {
      name: fields.name,
      username: fields.username ?? profile?.username ?? null,
      avatarUrl: fields.avatarUrl ?? profile?.avatarUrl ?? null,
    }
  const known = profile ?? (await profiles.get(reader, user))
  return {
    name: known?.name ?? user,
    username: fields.username ?? known?.username ?? null,
    avatarUrl: fields.avatarUrl ?? known?.avatarUrl ?? null,
  }
}

const MISFITS = { 'member-unknown': 'was never a member of', 'member-left': 'left' } as const

/**
 * Throws for the first person whom an event of the group cannot name: a person who was never a member, or who has left and for whom `canHaveLeft`
 * returns false. `pointer` is the place of the person in the body.
 */
export const demandMembers = (
  members: readonly MemberItem[],
  people: readonly (readonly [user: string, pointer: string])[],
  canHaveLeft: (user: string) => boolean,
): void => {
  const byId = new Map(members.map((member) => [member.id, member]))
  for (const [user, pointer] of people) {
    const code = misfitOf(byId.get(user), canHaveLeft(user))
    if (code !== undefined) throw refused(code, `${pointer}: ${user} ${MISFITS[code]} this group.`, pointer)
  }
}
