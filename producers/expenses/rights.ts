import { expensesQueries } from '../../projections/expenses/queries.ts'
import { Problem } from '../http/problem.ts'
import type { Call, Route } from '../http/route.ts'
import { groupOf, noGroup } from './params.ts'

/** Whether the caller is, or was, a member: who left may read on, since what they owe stays. */
const demandMember = (writes: boolean) => async (call: Call): Promise<undefined> => {
  const { caller: { reader, user } } = call
  const group = groupOf(call)
  const member = await expensesQueries(reader).member(group, user)
  if (member === undefined) throw noGroup(group)
  if (writes && member.leftAt !== undefined) throw new Problem(403, 'member-left', 'You left this group: you may read it, and settle what is open. POST …/join makes you a member again.')
}

const [reads, writes] = [demandMember(false), demandMember(true)]

/** Routes of a group, for its members; to others it is not there. */
export const inGroup = (routes: readonly Route[]): readonly Route[] => routes.map((route) => ({ ...route, admit: route.method === 'GET' ? reads : writes }))

/** For who left, too: debts are paid after one has gone (E-i). */
export const alsoForWhoLeft = (routes: readonly Route[]): readonly Route[] => routes.map((route) => ({ ...route, admit: reads }))
