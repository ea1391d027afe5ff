import { oneTxHash } from '../../projections/expenses/keys.ts'
import { Fault } from '../../schemas/fault.ts'
import type { TonAsked, TonCheck } from '../expenses/ton.ts'
import { part, textIn } from '../part.ts'
import { rawAddress } from './address.ts'

export interface ToncenterParts {
  /** Where `/api/v3` lies. */
  readonly api: string
  readonly key?: string | undefined
  readonly timeoutMs?: number
  /** Nobody could be asked: told, and the check answers `unknown`. */
  failed?(error: unknown): void
}

/** A command waits for the answer. */
const TIMEOUT_MS = 3_000

/** Asks an API like toncenter's v3 for the transaction on the receiver's account that brought the payment. */
export const createTonCheck = ({ api, key, timeoutMs = TIMEOUT_MS, failed }: ToncenterParts): TonCheck => {
  const headers = { accept: 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) }
  const transactions = async (hash: string): Promise<readonly unknown[]> => {
    const response = await fetch(`${api}/api/v3/transactions?limit=1&hash=${hash}`, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    if (!response.ok) throw new Fault('ton-unavailable', `${api} answered ${response.status} to a question about a transaction. Check TRIBUTARY_TON_API and TRIBUTARY_TON_API_KEY.`)
    const found = part(await response.json(), 'transactions')
    return Array.isArray(found) ? found : []
  }
  return {
    check: async (asked) => {
      const payment = paymentOf(asked)
      if (payment === undefined) return 'unknown'
      try {
        const found = (await transactions(payment.hash)).find((each) => oneTxHash(textIn(each, 'hash')) === payment.hash)
        return found === undefined ? 'unknown' : judge(found, payment)
      } catch (error) {
        failed?.(error)
        return 'unknown'
      }
    },
  }
}

interface Payment {
  readonly hash: string
  readonly from: string
  readonly to: string
  readonly value: string
}

/** Without both wallets a transaction of others would do as well, so nobody is asked. */
const paymentOf = ({ txHash, from, to, amountMinor }: TonAsked): Payment | undefined => {
  const [hash, source, destination] = [oneTxHash(txHash), rawAddress(from ?? ''), rawAddress(to ?? '')]
  if (!/^[0-9a-f]{64}$/.test(hash) || source === undefined || destination === undefined) return undefined
  return { hash, from: source, to: destination, value: String(amountMinor) }
}

/**
 * The payment is the message that came in. The sender's own transaction, which only says that it went out, and one that is in no block of
 * the masterchain yet, tell nothing: the same payment under two hashes could settle twice, and what was sent can still come back.
 */
const judge = (transaction: unknown, { from, to, value }: Payment): 'confirmed' | 'failed' | 'unknown' => {
  const message = part(transaction, 'in_msg')
  if (textIn(message, 'source') === '' || typeof part(transaction, 'mc_block_seqno') !== 'number' || part(transaction, 'emulated') === true) return 'unknown'
  const isIt = rawAddress(textIn(message, 'source')) === from && rawAddress(textIn(message, 'destination')) === to && textIn(message, 'value') === value
  return isIt && part(message, 'bounced') !== true && !cameBack(transaction, message) ? 'confirmed' : 'failed'
}

/** What an account could not take goes back, unless the sender wanted it to stay: an account that is no contract yet keeps it. */
const cameBack = (transaction: unknown, message: unknown): boolean => part(part(transaction, 'description'), 'aborted') !== false && part(message, 'bounce') !== false
