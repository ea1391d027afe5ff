import { Problem } from '../http/problem.ts'
import type { Call, Route } from '../http/route.ts'
import { members } from '../../projections/expenses/keys.ts'
import { groupOf, refused } from './params.ts'

export const wasRemoved = (): Problem =>
  refused('members-only', 'You were removed from this group. A new invitation from a member admits you again.')

/** Returns a check that admits members. If `writes` is false, it also admits people who have left. It never admits people who were removed. */
const demandMember =
  (writes: boolean) =>
  async (call: Call): Promise<undefined> => {
    const group = groupOf(call)
    const member = await members.get(call.caller.reader, group, call.caller.user)
    if (member === undefined) throw groupOf.missing(group)
    if (member.removedAt !== undefined) throw wasRemoved()
    if (writes && member.leftAt !== undefined)
      throw new Problem(
        403,
        'member-left',
        'You left this group: you can read it and settle your debts. An invitation from a member admits you again: POST …/join.',
      )
  }

const [reads, writes] = [demandMember(false), demandMember(true)]

/** Routes of a group for its members. People who have left can use the GET routes, because their balance stays. Strangers get 404. */
export const inGroup = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({ ...route, admit: route.method === 'GET' ? reads : writes }))

/** Routes that people who have left the group can use, too, because these people can still settle their debts (E-i). */
export const inGroupOrFormer = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({ ...route, admit: reads }))
