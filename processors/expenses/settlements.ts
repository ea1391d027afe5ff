import type { SettlementConfirmed, SettlementFailed, SettlementProposed } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type {
  EntryItem,
  GroupItem,
  ReceivedItem,
  SettlementItem,
  SettlementNameItem,
} from '../../projections/expenses/items.ts'
import {
  isId,
  isTxHash,
  members,
  ofUser,
  received,
  settlementNamed,
  settlementNames,
  settlements,
} from '../../projections/expenses/keys.ts'
import { commentOf } from '../../projections/expenses/comments.ts'
import { decimalNumber, wholeOf } from '../../projections/expenses/money.ts'
import { isTooLate } from '../../projections/expenses/rules.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { contribute, exponentFits, ofSettlement } from './balances.ts'
import { addEntry } from './entries.ts'
import { changeableGroup } from './rights.ts'
import { strangerAmong, sumMisfit } from './sharing.ts'

/**
 * Proposes a settlement. The settlement changes no balance until it is confirmed (E46). People who left the group can
 * still pay and be paid (E-i).
 */
export const settlementProposed = (event: SettlementProposed, get: Get): Result => {
  const { data, meta } = event
  const { settlementId: id, fromUserId, toUserId, amountMinor, txHash } = data
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (!isId(id) || (txHash !== null && !isTxHash(txHash)))
    return refuse(
      'settlement-invalid',
      'A settlement has an id of 1 to 64 letters, digits and _ . : @ -, and optionally the hash of a transaction.',
    )
  if (get(settlementNames.key(meta.key, id)) !== undefined) return DUPLICATE
  if (fromUserId === toUserId) return refuse('settlement-to-self', 'The payer and the payee must be different people.')
  const work = startWork(get)
  const refused =
    sumMisfit(amountMinor, data) ??
    exponentFits(work, meta.key, data) ??
    strangerAmong(work, meta.key, [fromUserId, toUserId])
  if (refused !== undefined) return refused
  const settlement = proposed(work, event, group)
  work.put({ ...settlementNames.key(meta.key, id), at: settlement.createdAt } satisfies SettlementNameItem)
  putSettlement(work, settlement)
  addEntry(work, event, 'settlement-proposed', entryOf(settlement))
  return work.result()
}

const proposed = (work: Work, event: SettlementProposed, group: GroupItem): SettlementItem => {
  const {
    data: { settlementId: id, fromUserId, toUserId, amountMinor, currency, exponent, txHash, proposedAt, rowHash },
    meta,
  } = event
  const nameOf = (user: string): string | null => work.get(members.key(meta.key, user))?.name ?? null
  const at = isoOf(proposedAt)
  return {
    ...settlements.key(meta.key, at, id),
    GSI2PK: settlementNamed(id),
    GSI2SK: meta.key,
    GSI3PK: ofUser(fromUserId),
    GSI3SK: `${settlements.prefix}${at}#${id}`,
    id,
    groupId: meta.key,
    groupTitle: group.title,
    fromUserId,
    fromUserName: nameOf(fromUserId),
    toUserId,
    toUserName: nameOf(toUserId),
    amount: decimalNumber(amountMinor, exponent),
    amountMinor: wholeOf(amountMinor),
    currency,
    exponent,
    txHash,
    status: 'pending',
    comment: commentOf(meta.key, id),
    createdAt: at,
    createdBy: meta.actorId,
    ...(rowHash !== null && { rowHash }),
    _heard: withApplied(undefined, event),
  }
}

/** Completes a pending settlement and changes the balances. A settlement can be completed only once (E-j). */
export const settlementConfirmed = (event: SettlementConfirmed, get: Get): Result => {
  const { data, meta } = event
  const found = findSettlement(get, event)
  if ('refusal' in found) return found
  const decided = decidedBefore(found, event, isTooLate(found, 'completed', data.txHash))
  if (decided !== undefined) return decided
  if (data.txHash !== null && !isTxHash(data.txHash))
    return refuse('settlement-invalid', 'txHash is not the hash of a transaction.')
  const work = startWork(get)
  const refused = exponentFits(work, meta.key, found)
  if (refused !== undefined) return refused
  const moved = contribute(work, meta.key, meta.occurredAt, [ofSettlement(found)])
  if ('refusal' in moved) return moved
  const settlement: SettlementItem = {
    ...found,
    status: 'completed',
    txHash: data.txHash,
    completedAt: isoOf(data.verifiedAt),
    confirmedBy: data.confirmedBy,
    _heard: withApplied(found._heard, event),
  }
  putSettlement(work, settlement)
  addEntry(work, event, 'settlement-confirmed', { ...entryOf(settlement), ...moved })
  return work.result()
}

export const settlementFailed = (event: SettlementFailed, get: Get): Result => {
  const found = findSettlement(get, event)
  if ('refusal' in found) return found
  const decided = decidedBefore(found, event, isTooLate(found, 'failed', null))
  if (decided !== undefined) return decided
  const work = startWork(get)
  const settlement: SettlementItem = {
    ...found,
    status: 'failed',
    confirmedBy: event.data.confirmedBy,
    _heard: withApplied(found._heard, event),
  }
  putSettlement(work, settlement)
  addEntry(work, event, 'settlement-failed', entryOf(settlement))
  return work.result()
}

const findSettlement = (get: Get, event: SettlementConfirmed | SettlementFailed): SettlementItem | Refused => {
  const {
    data: { settlementId: id },
    meta: { key: group },
  } = event
  const item = changeableGroup(event, get)
  if ('refusal' in item) return item
  const name = isId(id) ? get(settlementNames.key(group, id)) : undefined
  const settlement = name && get(settlements.key(group, name.at, id))
  return settlement ?? refuse('settlement-not-found', `There is no settlement ${id} in group ${group}.`)
}

/** The result of an event that was folded before, or whose settlement is not pending. Undefined if the event can end the settlement. */
const decidedBefore = (
  { id, status, _heard }: SettlementItem,
  event: SettlementConfirmed | SettlementFailed,
  tooLate: boolean,
): Result | undefined => {
  if (hasApplied(_heard, event)) return DUPLICATE
  if (tooLate)
    return refuse('settlement-final', `Settlement ${id} is ${status}, which is final. Propose another settlement.`)
  return status === 'pending' ? undefined : DUPLICATE
}

/** Puts the settlement, and a copy in the payee's index (E-e). */
const putSettlement = (work: Work, settlement: SettlementItem): void => {
  work.put(settlement)
  const { PK: _, SK: __, GSI2PK: ___, GSI2SK: ____, _heard, ...body } = settlement
  const { groupId, id, toUserId, createdAt } = settlement
  work.put({
    ...body,
    ...received.key(groupId, id, toUserId),
    GSI3PK: ofUser(toUserId),
    GSI3SK: `${received.prefix}${createdAt}#${id}`,
  } satisfies ReceivedItem)
}

const entryOf = ({
  id,
  fromUserId,
  toUserId,
  currency,
  exponent,
  amountMinor,
}: SettlementItem): Partial<EntryItem> => ({
  settlementId: id,
  subjectId: toUserId,
  fromId: fromUserId,
  currency,
  exponent,
  amountMinor,
})
