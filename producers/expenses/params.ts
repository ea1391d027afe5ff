import { isId } from '../../projections/expenses/keys.ts'
import { Problem } from '../http/problem.ts'
import type { Call } from '../http/route.ts'

type Params = Pick<Call, 'params'>

const shown = (id: string): string => id.slice(0, 64)

export const idSchema = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$' } as const

/** A stranger gets the same answer for every group, whether it exists or not. */
export const noGroup = (group: string): Problem => new Problem(404, 'group-not-found', `There is no group ${shown(group)}, or you are not a member of it. Join a group by an invitation from a member: POST /api/groups/:groupId/join.`)

/** Every key is built from what went through here. */
export const groupOf = ({ params }: Params): string => {
  const group = params['groupId'] ?? ''
  if (isId(group)) return group
  throw noGroup(group)
}

export const noExpense = (expense: string): Problem => new Problem(404, 'expense-not-found', `The group has no expense ${shown(expense)}.`)

export const expenseOf = ({ params }: Params): string => {
  const expense = params['expenseId'] ?? ''
  if (isId(expense)) return expense
  throw noExpense(expense)
}

/** The person that a path names. */
export const memberOf = ({ params }: Params): string => {
  const user = params['userId'] ?? ''
  if (isId(user)) return user
  throw new Problem(404, 'member-not-found', `${shown(user)} was never a member of this group.`)
}

export const invitationOf = ({ params }: Params): string => {
  const invitation = params['invitationId'] ?? ''
  if (isId(invitation)) return invitation
  throw new Problem(404, 'invitation-not-found', `The group has no open invitation ${shown(invitation)}.`)
}

export const noSettlement = (settlement: string): Problem => new Problem(404, 'settlement-not-found', `The group has no settlement ${shown(settlement)}.`)

export const settlementOf = ({ params }: Params): string => {
  const settlement = params['settlementId'] ?? ''
  if (isId(settlement)) return settlement
  throw noSettlement(settlement)
}
