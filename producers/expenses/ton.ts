/** The payment that completes a settlement. */
export interface TonPayment {
  readonly txHash: string
  /** The payee's wallet; null if they have set none. */
  readonly to: string | null
  readonly amountMinor: bigint
  /** The text comment that the payment carries. */
  readonly comment: string
  /** Epoch milliseconds: the payment is later than this. */
  readonly after: number
}

/** Why a transaction does not complete a settlement. */
export type TonMismatch = 'no-wallet' | 'receiver' | 'amount' | 'comment' | 'early' | 'bounced' | 'hash'

/**
 * Looks up a TON transaction, within a bounded time. `unknown`: the chain does not contain the transaction yet, or the API did not answer.
 * The caller then requests the check again.
 */
export interface TonCheck {
  check(payment: TonPayment): Promise<'confirmed' | 'unknown' | TonMismatch>
}
