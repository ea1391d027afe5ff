import { refuse } from '../../projections/expenses/refusals.ts'
import type { Refused } from '../../projections/refusal.ts'

export const noGroup = (group: string): Refused<'group-not-found'> =>
  refuse('group-not-found', `There is no group ${group}.`)

export const leftGroup = (user: string, group: string, leftAt: string): Refused<'member-left'> =>
  refuse('member-left', `${user} left group ${group} on ${leftAt.slice(0, 10)}.`)
