/** The payment that completes a settlement. */
export interface TonPayment {
  readonly txHash: string
  /** The payee's wallet. Null if the payee has set none. */
  readonly to: string | null
  readonly amountMinor: bigint
  /** The text comment that the payment carries. */
  readonly comment: string
  /** Epoch milliseconds. The payment must be later than this time. */
  readonly after: number
}

/** The reason why a transaction does not complete a settlement. */
export type TonMismatch = 'no-wallet' | 'receiver' | 'amount' | 'comment' | 'early' | 'bounced' | 'hash'

/**
 * Looks up a TON transaction, within a bounded time. `unknown`: the blockchain does not contain the transaction yet, or the API did not answer.
 * The caller can then repeat the check later.
 */
export interface TonCheck {
  check(payment: TonPayment): Promise<'confirmed' | 'unknown' | TonMismatch>
}
