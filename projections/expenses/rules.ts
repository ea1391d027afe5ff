import type { ExpenseItem, GroupItem, MemberItem, SettlementItem } from './items.ts'

/** The rules of expenses that both the edge and the folds apply: the edge before it appends an event, the folds when they decide on it. */

/** The number of people besides the payer who can share an expense. A revision for as many fits one commit (E-f). */
export const MOST_BENEFICIARIES = 45

/** The code with which a group refuses that an event names this person. Some events can name people who left. */
export const misfitOf = (
  member: MemberItem | undefined,
  canHaveLeft: boolean,
): 'member-unknown' | 'member-left' | undefined => {
  if (member === undefined) return 'member-unknown'
  return canHaveLeft || member.leftAt === undefined ? undefined : 'member-left'
}

/** The payer, the person who recorded the expense and the owner of the group can correct it. */
export const canCorrect = (user: string, { payerId, createdBy }: ExpenseItem, { ownerId }: GroupItem): boolean =>
  [payerId, createdBy, ownerId].includes(user)

/** True if the settlement is final and the change does not repeat the one that made it final. */
export const isTooLate = (
  { status, txHash }: SettlementItem,
  to: 'completed' | 'failed',
  named: string | null,
): boolean => status !== 'pending' && (status !== to || (to === 'completed' && named !== null && named !== txHash))
