import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'
import { isId } from '../../projections/expenses/keys.ts'
import { expensesRefusals } from '../../projections/expenses/refusals.ts'
import { expensesQueries, type ExpensesQueries } from '../../projections/expenses/queries.ts'
import { drafts } from '../http/drafts.ts'
import { pathId, shown } from '../http/path-id.ts'
import { refusedEarly } from '../http/problem.ts'
import type { Call } from '../http/route.ts'

export const idSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$',
} as const

/** Returns the Problem for a request that the folds would refuse. The edge throws it before it appends an event. */
export const refused = refusedEarly(expensesRefusals)

/** Reads the id of a group from a path. A stranger gets the same error for every group, so nobody can find out which groups exist. */
export const groupOf = pathId('groupId', isId, (id) =>
  refused(
    'group-not-found',
    `There is no group ${shown(id)}, or you are not a member of it. Join a group by an invitation from a member: POST /api/groups/:groupId/join.`,
  ),
)
export const expenseOf = pathId('expenseId', isId, (id) =>
  refused('expense-not-found', `The group has no expense ${shown(id)}.`),
)
export const settlementOf = pathId('settlementId', isId, (id) =>
  refused('settlement-not-found', `The group has no settlement ${shown(id)}.`),
)
/** Reads the id of a member from a path. */
export const memberOf = pathId('userId', isId, (user) =>
  refused('member-not-found', `${shown(user)} was never a member of this group.`),
)
export const invitationOf = pathId('invitationId', isId, (id) =>
  refused('invitation-not-found', `The group has no open invitation ${shown(id)}.`),
)

/** Returns the queries of the domain. They read the generation that answers the request. */
export const queriesOf = ({ caller: { reader } }: Pick<Call, 'caller'>): ExpensesQueries => expensesQueries(reader)

export const event = drafts<ExpensesEvent>()
