import { accountSubject, goneProfiles, profiles } from '../../projections/activities/keys.ts'
import { Problem } from '../http/problem.ts'
import type { Call, Decision } from '../http/route.ts'
import { event, refused } from './params.ts'

type ByCaller = Pick<Call, 'caller'>

/** For routes that read: throws if the account is being deleted. */
export const requireNotDeleting = async ({ caller: { reader, user } }: ByCaller): Promise<undefined> => {
  if ((await profiles.get(reader, user))?.status === 'DELETING')
    throw new Problem(404, 'account-not-found', 'Your account is being deleted.')
}

/** For commands: returns the event that opens the account, if the person has none. Throws if the account is being deleted. */
export const openAccount = async ({
  caller: { reader, user, email = null },
}: ByCaller): Promise<Decision | undefined> => {
  const [profile, gone] = await Promise.all([profiles.get(reader, user), goneProfiles.get(reader, user)])
  if (profile?.status === 'DELETING') throw refused('account-deleted', 'Your account is being deleted.')
  if (profile !== undefined) return undefined
  return {
    draft: event('AccountOpened', { number: (gone?.number ?? 0) + 1 }, { email }),
    subject: accountSubject(user),
  }
}
