import { isoOf } from '../../instant.ts'
import type { ImportedEvent } from '../../importing.ts'
import type { Reader } from '../../table.ts'
import type { GroupItem, MemberItem, TransactionItem } from '../items.ts'
import { expenseNames, groups, members, settlementNames, settlements, transactions } from '../keys.ts'

/** The fields that identify an imported event. */
type Named = {
  readonly userId: string
  readonly expenseId: string
  readonly groupId: string
  readonly settlementId: string
  readonly txHash: string | null
}

/**
 * True if the items contain the change of the imported event, or a later change of the same thing. The import skips such
 * an event, so it does not undo a change that was made in this program: a person left or joined again, a group was
 * unarchived, or a group got another owner.
 */
export const isPresent = async (event: ImportedEvent, reader: Reader): Promise<boolean> => {
  const { type, key, data } = event
  const named = data as Named
  switch (type) {
    case 'GroupCreated':
    case 'GroupSettingsChanged':
      return (await groups.get(reader, key)) !== undefined
    case 'MemberJoined':
    case 'WalletSet':
      return (await members.get(reader, key, named.userId)) !== undefined
    case 'GroupMemberRemoved':
    case 'MemberLeft':
      return isGone(await members.get(reader, key, named.userId), event)
    case 'GroupOwnerChanged':
    case 'GroupArchived':
      return isStateKnown(await groups.get(reader, key), event)
    case 'ExpenseRecorded':
      return (await expenseNames.get(reader, key, named.expenseId)) !== undefined
    case 'SettlementProposed':
      return (await settlementNames.get(reader, key, named.settlementId)) !== undefined
    case 'TransactionClaimed':
      return isOf(await transactions.get(reader, named.txHash ?? ''), named)
    // If the transaction paid another settlement, this event is skipped. The fold refuses the TransactionClaimed of the same row,
    // and the report of the import shows the refusal.
    case 'SettlementConfirmed':
      return (
        (await isSettled(reader, key, named.settlementId)) ||
        isOfAnother(await transactions.get(reader, named.txHash ?? ''), { ...named, groupId: key })
      )
    default:
      return isSettled(reader, key, named.settlementId)
  }
}

const isSettled = async (reader: Reader, group: string, id: string): Promise<boolean> => {
  const name = await settlementNames.get(reader, group, id)
  const settlement = name && (await settlements.get(reader, group, name.at, id))
  return settlement !== undefined && settlement.status !== 'pending'
}

const isGone = (member: MemberItem | undefined, event: ImportedEvent): boolean => {
  if (member === undefined) return false
  const isDone = (event.type === 'MemberLeft' ? member.leftAt : member.removedAt) !== undefined
  return (
    isDone ||
    isOutdated(event, member.rejoinedAt) ||
    (event.since !== undefined && member.joinedAt !== isoOf(event.since))
  )
}

const isStateKnown = (group: GroupItem | undefined, event: ImportedEvent): boolean => {
  if (group === undefined) return false
  if (event.type === 'GroupArchived') return group.archivedAt !== undefined || isOutdated(event, group.unarchivedAt)
  return group.ownerId === (event.data as Named).userId || isOutdated(event, group.ownerSince)
}

/** True if this program made such a change at the time `last`, and the imported change is not later or has no time. */
const isOutdated = ({ changedAt }: ImportedEvent, last: string | undefined): boolean =>
  last !== undefined && (changedAt === undefined || isoOf(changedAt) <= last)

type Claim = Pick<Named, 'groupId' | 'settlementId'>

const isOf = (claim: TransactionItem | undefined, { groupId, settlementId }: Claim): boolean =>
  claim !== undefined && claim.groupId === groupId && claim.settlementId === settlementId

const isOfAnother = (claim: TransactionItem | undefined, settlement: Claim): boolean =>
  claim !== undefined && !isOf(claim, settlement)
