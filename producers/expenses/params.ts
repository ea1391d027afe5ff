import { isId } from '../../projections/expenses/keys.ts'
import { Problem } from '../http/problem.ts'
import type { Call } from '../http/route.ts'

type Params = Pick<Call, 'params'>

const shown = (id: string): string => id.slice(0, 64)

export const idSchema = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$' } as const

/** Reads an id from the path. Every key is built from what went through here. */
const idOf = (name: string, missing: (id: string) => Problem) => ({ params }: Params): string => {
  const id = params[name] ?? ''
  if (isId(id)) return id
  throw missing(id)
}

/** A stranger gets the same answer for every group, whether it exists or not. */
export const noGroup = (group: string): Problem => new Problem(404, 'group-not-found', `There is no group ${shown(group)}, or you are not a member of it. Join a group by an invitation from a member: POST /api/groups/:groupId/join.`)
export const noExpense = (expense: string): Problem => new Problem(404, 'expense-not-found', `The group has no expense ${shown(expense)}.`)
export const noSettlement = (settlement: string): Problem => new Problem(404, 'settlement-not-found', `The group has no settlement ${shown(settlement)}.`)

export const groupOf = idOf('groupId', noGroup)
export const expenseOf = idOf('expenseId', noExpense)
export const settlementOf = idOf('settlementId', noSettlement)
/** The person that a path names. */
export const memberOf = idOf('userId', (user) => new Problem(404, 'member-not-found', `${shown(user)} was never a member of this group.`))
export const invitationOf = idOf('invitationId', (id) => new Problem(404, 'invitation-not-found', `The group has no open invitation ${shown(id)}.`))
