/** What a settlement says happened on the chain; wallets as their members told them, null where they did not. */
export interface TonAsked {
  readonly txHash: string
  readonly from: string | null
  readonly to: string | null
  readonly amountMinor: bigint
}

/**
 * Whether a TON transaction is the payment that a settlement says; answers within a bounded time. `unknown` where the chain does not know
 * it (yet) or nobody could be asked: then nothing is said, and the caller asks again.
 */
export interface TonCheck {
  check(asked: TonAsked): Promise<'confirmed' | 'failed' | 'unknown'>
}
