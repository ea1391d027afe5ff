import { isId } from '../../projections/expenses/keys.ts'
import { Problem } from '../http/problem.ts'
import type { Call } from '../http/route.ts'

type Params = Pick<Call, 'params'>

const shown = (id: string): string => id.slice(0, 64)

export const idSchema = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$' } as const

/** The same for a stranger as for a group that is not there. */
export const noGroup = (group: string): Problem => new Problem(404, 'group-not-found', `There is no group ${shown(group)} that you may see. Whoever knows its id may join it: POST /api/groups/:groupId/join.`)

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

export const noSettlement = (settlement: string): Problem => new Problem(404, 'settlement-not-found', `The group has no settlement ${shown(settlement)}.`)

export const settlementOf = ({ params }: Params): string => {
  const settlement = params['settlementId'] ?? ''
  if (isId(settlement)) return settlement
  throw noSettlement(settlement)
}
