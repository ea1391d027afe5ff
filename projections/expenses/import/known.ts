import { isoOf } from '../../instant.ts'
import type { Item, Key } from '../../item.ts'
import type { Said } from '../../importing.ts'
import type { Reader } from '../../table.ts'
import type { GroupItem, MemberItem, SettlementItem, SettlementNameItem, TransactionItem } from '../items.ts'
import { expenseNameKey, groupKey, memberKey, settlementKey, settlementNameKey, transactionKey } from '../keys.ts'

/** What identifies what an import says. */
type Named = { readonly userId: string; readonly expenseId: string; readonly groupId: string; readonly settlementId: string; readonly txHash: string | null }

/** Whether an import would say what is there: who has left since does not join by it, and what was changed since stays changed. */
export const known = async ({ type, key, data, since }: Said, reader: Reader): Promise<boolean> => {
  const named = data as Named
  const there = async (at: Key): Promise<Item | undefined> => reader.get(at)
  switch (type) {
    case 'GroupCreated':
    case 'GroupSettingsChanged': return (await there(groupKey(key))) !== undefined
    case 'MemberJoined':
    case 'WalletSet': return (await there(memberKey(key, named.userId))) !== undefined
    case 'GroupMemberRemoved': return ((await there(memberKey(key, named.userId))) as MemberItem | undefined)?.removedAt !== undefined
    case 'GroupOwnerChanged': return ((await there(groupKey(key))) as GroupItem | undefined)?.ownerId === named.userId
    case 'GroupArchived': return ((await there(groupKey(key))) as GroupItem | undefined)?.archivedAt !== undefined
    case 'MemberLeft': return hasLeft((await there(memberKey(key, named.userId))) as MemberItem | undefined, since)
    case 'ExpenseRecorded': return (await there(expenseNameKey(key, named.expenseId))) !== undefined
    case 'SettlementProposed': return (await there(settlementNameKey(key, named.settlementId))) !== undefined
    case 'TransactionClaimed': return isOf((await there(transactionKey(named.txHash ?? ''))) as TransactionItem | undefined, named)
    // What another settlement was paid by is not said to have paid this one, too; the claim beside it is refused, and tells so.
    case 'SettlementConfirmed': return (await isSettled(reader, key, named.settlementId)) || isAnothers((await there(transactionKey(named.txHash ?? ''))) as TransactionItem | undefined, { ...named, groupId: key })
    default: return isSettled(reader, key, named.settlementId)
  }
}

const isSettled = async (reader: Reader, group: string, id: string): Promise<boolean> => {
  const name = (await reader.get(settlementNameKey(group, id))) as SettlementNameItem | undefined
  const settlement = name && ((await reader.get(settlementKey(group, name.at, id))) as SettlementItem | undefined)
  return settlement !== undefined && settlement.status !== 'pending'
}

const hasLeft = (member: MemberItem | undefined, since: number | undefined): boolean =>
  member !== undefined && (member.leftAt !== undefined || (since !== undefined && member.joinedAt !== isoOf(since)))

type Claim = Pick<Named, 'groupId' | 'settlementId'>

const isOf = (claim: TransactionItem | undefined, { groupId, settlementId }: Claim): boolean => claim !== undefined && claim.groupId === groupId && claim.settlementId === settlementId

const isAnothers = (claim: TransactionItem | undefined, settlement: Claim): boolean => claim !== undefined && !isOf(claim, settlement)
