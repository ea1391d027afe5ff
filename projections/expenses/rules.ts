import type { ExpenseItem, GroupItem, MemberItem, SettlementItem } from './items.ts'

/** This file contains the rules of expenses that two places apply: the edge before it appends an event, and the fold of the event. */

/** The maximum number of people besides the payer who can share an expense. A revision with 45 people fits into one commit (E-f). */
export const MOST_BENEFICIARIES = 45

/** The refusal code if an event cannot name this person, else undefined. `canHaveLeft`: the event can name a person who left the group. */
export const misfitOf = (
  member: MemberItem | undefined,
  canHaveLeft: boolean,
): 'member-unknown' | 'member-left' | undefined => {
  if (member === undefined) return 'member-unknown'
  return canHaveLeft || member.leftAt === undefined ? undefined : 'member-left'
}

/** True if the user can correct the expense: the payer, the person who recorded the expense, and the owner of the group can. */
export const canCorrect = (user: string, { payerId, createdBy }: ExpenseItem, { ownerId }: GroupItem): boolean =>
  [payerId, createdBy, ownerId].includes(user)

/** True if the settlement is final, and this change is not a repetition of the change that made it final. `named`: the transaction in the event. */
export const isTooLate = (
  { status, txHash }: SettlementItem,
  to: 'completed' | 'failed',
  named: string | null,
): boolean => status !== 'pending' && (status !== to || (to === 'completed' && named !== null && named !== txHash))
