import { oneTxHash } from '../../projections/expenses/keys.ts'
import { Fault } from '../../schemas/fault.ts'
import type { TonCheck, TonMismatch, TonPayment } from '../expenses/ton.ts'
import { part, textIn } from '../part.ts'
import { rawAddress } from './address.ts'

export interface ToncenterParts {
  /** The URL in front of `/api/v3`. */
  readonly api: string
  readonly key?: string | undefined
  readonly timeoutMs?: number
  /** Called with the error if the API did not answer. The check then returns `unknown`. */
  failed?(error: unknown): void
}

/** A command waits for the answer. */
const TIMEOUT_MS = 3_000

/** Looks up the transaction on the payee's account, in an API like toncenter's v3. */
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
      if (typeof payment === 'string') return payment
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

interface Payment extends Pick<TonPayment, 'comment' | 'after'> {
  readonly hash: string
  readonly to: string
  readonly value: string
}

const paymentOf = ({ txHash, to, amountMinor, comment, after }: TonPayment): Payment | TonMismatch => {
  const [hash, destination] = [oneTxHash(txHash), rawAddress(to ?? '')]
  if (destination === undefined) return 'no-wallet'
  return /^[0-9a-f]{64}$/.test(hash) ? { hash, to: destination, value: String(amountMinor), comment, after } : 'hash'
}

/**
 * The payment is the message that arrived at the payee's account. The sender's own transaction proves only that a message was sent: the
 * same payment would have two hashes, and the message can still bounce. A transaction in no block of the masterchain is not final.
 */
const judge = (transaction: unknown, { to, value, comment, after }: Payment): 'confirmed' | 'unknown' | TonMismatch => {
  const message = part(transaction, 'in_msg')
  if (textIn(message, 'source') === '' || typeof part(transaction, 'mc_block_seqno') !== 'number' || part(transaction, 'emulated') === true) return 'unknown'
  if (rawAddress(textIn(message, 'destination')) !== to) return 'receiver'
  if (textIn(message, 'value') !== value) return 'amount'
  if (commentIn(message) !== comment) return 'comment'
  if (!(Number(part(transaction, 'now')) * 1000 > after)) return 'early'
  return part(message, 'bounced') === true || cameBack(transaction, message) ? 'bounced' : 'confirmed'
}

const TEXT_OPCODE = '0x00000000'

/** The text comment of a message: a body that begins with 32 zero bits, which the API decodes. Empty if the message has none. */
const commentIn = (message: unknown): string => {
  const decoded = part(part(message, 'message_content'), 'decoded')
  const isText = textIn(message, 'opcode') === TEXT_OPCODE && textIn(decoded, 'type') === 'text_comment'
  return isText ? textIn(decoded, 'comment').trim().toUpperCase() : ''
}

/** An account that cannot take a message sends it back, except if the sender forbade it: an account without a contract then keeps the amount. */
const cameBack = (transaction: unknown, message: unknown): boolean => part(part(transaction, 'description'), 'aborted') !== false && part(message, 'bounce') !== false
