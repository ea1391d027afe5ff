import type { TransactionClaimed } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { TransactionItem } from '../../projections/expenses/items.ts'
import { isId, isTxHash, transactionLogKey, transactions } from '../../projections/expenses/keys.ts'
import { refuse } from '../../projections/expenses/refusals.ts'

/** Claims a TON transaction for a settlement. The log key is the transaction, so only the first claim applies (E-j). */
export const transactionClaimed = ({ data, meta }: TransactionClaimed, get: Get): Result => {
  const { txHash, groupId, settlementId, verifiedAt, confirmedBy } = data
  if (!isTxHash(txHash) || transactionLogKey(txHash) !== meta.key || !isId(groupId) || !isId(settlementId)) {
    return refuse(
      'transaction-invalid',
      'The claim of a transaction needs its hash as the log key, a group id and a settlement id.',
    )
  }
  const claim = get(transactions.key(txHash))
  if (claim !== undefined) {
    if (claim.groupId === groupId && claim.settlementId === settlementId) return DUPLICATE
    return refuse('transaction-claimed', `Transaction ${txHash} already completes settlement ${claim.settlementId}.`)
  }
  const item: TransactionItem = {
    ...transactions.key(txHash),
    txHash,
    groupId,
    settlementId,
    claimedAt: isoOf(meta.occurredAt),
    event: meta.eventId,
  }
  return {
    items: [item],
    derived: [
      {
        purpose: 'confirmed',
        event: { type: 'SettlementConfirmed', key: groupId, data: { settlementId, txHash, verifiedAt, confirmedBy } },
      },
    ],
  }
}
