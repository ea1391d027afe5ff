import { oneTxHash } from '../../../projections/expenses/keys.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { TonCheck, TonMismatch, TonPayment } from '../ton.ts'
import { memberOf, textMember } from '../../json-member.ts'
import { rawAddress } from './address.ts'

export interface ToncenterParts {
  /** The URL in front of `/api/v3`. */
  readonly api: string
  readonly key?: string | undefined
  readonly timeoutMs?: number
  /** Called with the error if the request to the API failed. The check then returns `unknown`. */
  failed?(error: unknown): void
}

/** The time is short, because the caller of a command waits for the answer of the API. */
const TIMEOUT_MS = 3_000

/** Looks up the transaction on the payee's account, in the API of toncenter (version 3) or a compatible API. */
export const createTonCheck = ({ api, key, timeoutMs = TIMEOUT_MS, failed }: ToncenterParts): TonCheck => {
  const headers = { accept: 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) }
  const transactions = async (hash: string): Promise<readonly unknown[]> => {
    const response = await fetch(`${api}/api/v3/transactions?limit=1&hash=${hash}`, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok)
      throw new Fault(
        'ton-unavailable',
        `${api} answered ${response.status} to a request for a transaction. Check TRIBUTARY_TON_API and TRIBUTARY_TON_API_KEY.`,
      )
    const found = memberOf(await response.json(), 'transactions')
    return Array.isArray(found) ? found : []
  }
  return {
    check: async (requested) => {
      const payment = paymentOf(requested)
      if (typeof payment === 'string') return payment
      try {
        const found = (await transactions(payment.hash)).find(
          (each) => oneTxHash(textMember(each, 'hash')) === payment.hash,
        )
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
 * Compares a transaction with the expected payment. A payment in TON is a message with two transactions: one sends it, and one receives it. Only
 * the transaction in which the payee's account received the message is accepted, because a sent message can still be returned (bounce).
 * `unknown`: the transaction is not final, because no block of the masterchain contains it, or it received no message of an account.
 */
const judge = (transaction: unknown, { to, value, comment, after }: Payment): 'confirmed' | 'unknown' | TonMismatch => {
  const message = memberOf(transaction, 'in_msg')
  if (
    textMember(message, 'source') === '' ||
    typeof memberOf(transaction, 'mc_block_seqno') !== 'number' ||
    memberOf(transaction, 'emulated') === true
  )
    return 'unknown'
  if (rawAddress(textMember(message, 'destination')) !== to) return 'receiver'
  if (textMember(message, 'value') !== value) return 'amount'
  if (commentIn(message) !== comment) return 'comment'
  if (!(Number(memberOf(transaction, 'now')) * 1000 > after)) return 'early'
  return memberOf(message, 'bounced') === true || isBounce(transaction, message) ? 'bounced' : 'confirmed'
}

const TEXT_OPCODE = '0x00000000'

/** Returns the text comment of a message, in upper case, as the API decoded it. Empty if the message has none. 32 zero bits mark a text comment. */
const commentIn = (message: unknown): string => {
  const decoded = memberOf(memberOf(message, 'message_content'), 'decoded')
  const isText = textMember(message, 'opcode') === TEXT_OPCODE && textMember(decoded, 'type') === 'text_comment'
  return isText ? textMember(decoded, 'comment').trim().toUpperCase() : ''
}

/**
 * True if the account sent the message back. An account does this if its transaction was aborted, for example because it has no contract. If the
 * sender has set `bounce` to false, the account keeps the amount nevertheless.
 */
const isBounce = (transaction: unknown, message: unknown): boolean =>
  memberOf(memberOf(transaction, 'description'), 'aborted') !== false && memberOf(message, 'bounce') !== false

const CHECK_MS = 3_000

/** Returns a sentence for `tributary doctor` if the API answers, and throws otherwise. */
export const checkToncenter = async ({ api, key }: Pick<ToncenterParts, 'api' | 'key'>): Promise<string> => {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  const response = await fetch(`${api}/api/v3/masterchainInfo`, {
    headers,
    signal: AbortSignal.timeout(CHECK_MS),
  }).catch((error: unknown) => {
    throw new Error(`${api} does not answer. Correct TRIBUTARY_TON_API`, { cause: error })
  })
  if (!response.ok)
    throw new Error(`${api} answers HTTP ${response.status}. Correct TRIBUTARY_TON_API or TRIBUTARY_TON_API_KEY`)
  return `${api} answers`
}
