import type { MemberJoinedPersonal } from '../../schemas/generated/expenses.ts'
import { HTTPS_URL } from '../../projections/https-url.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import type { Call } from '../http/route.ts'

/** As people call themselves in a group. */
export const personProperties = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  username: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_]+$', description: 'Of Telegram, without the @.' },
  avatarUrl: { type: 'string', minLength: 1, maxLength: 1_000, pattern: HTTPS_URL, description: 'An https URL.' },
} as const

export type SaidPerson = { readonly name?: string; readonly username?: string; readonly avatarUrl?: string }

/** What the caller says of themselves, came in as, or was last heard to say; else they are called by their id. */
export const personOf = async ({ caller: { reader, user, profile } }: Pick<Call, 'caller'>, said: SaidPerson): Promise<MemberJoinedPersonal> => {
  if (said.name !== undefined) return { name: said.name, username: said.username ?? profile?.username ?? null, avatarUrl: said.avatarUrl ?? profile?.avatarUrl ?? null }
  const known = profile ?? (await expensesQueries(reader).profile(user))
  return { name: known?.name ?? user, username: said.username ?? known?.username ?? null, avatarUrl: said.avatarUrl ?? known?.avatarUrl ?? null }
}
