import { decimalsOf } from '../../projections/expenses/currencies.ts'
import { isChatId, isId, isTxHash } from '../../projections/expenses/keys.ts'
import { MOST_MINOR } from '../../projections/expenses/money.ts'
import { isHttpsUrl } from '../../projections/https-url.ts'
import type { FieldsOfEvent } from '../../schemas/from-json.ts'
import { COMMON_INTERNAL, HASH, matching, within, words, type AppendRules, type FieldRule } from '../append-rules.ts'
import { revisionSchema } from './expense-bodies.ts'
import { titleSchema } from './group-routes.ts'
import { walletSchema } from './member-routes.ts'
import { personProperties } from './person.ts'
import { splitsSchema } from './splits.ts'

const { revision, description, category, reason } = revisionSchema.properties
const id: FieldRule = { is: isId, what: 'an id of 1 to 64 letters, digits, and _ . : @ -' }

/** Checks that an amount is more than 0, that the exponent is the number of decimals of the currency, and that the splits sum up to the amount. */
const check = (data: FieldsOfEvent['data']): string | undefined => {
  const { amountMinor, splits, currency, exponent } = data
  if (typeof amountMinor === 'bigint' && amountMinor === 0n) return 'amountMinor must be more than zero'
  if (typeof exponent === 'number' && exponent !== decimalsOf(String(currency)))
    return `exponent must be ${decimalsOf(String(currency))}, the decimals of ${String(currency)}`
  if (typeof amountMinor !== 'bigint' || !Array.isArray(splits)) return undefined
  const sum = (splits as readonly { readonly minor: bigint }[]).reduce((total, { minor }) => total + minor, 0n)
  return sum === amountMinor ? undefined : `the splits sum up to ${sum}, and amountMinor is ${amountMinor}`
}

export const expensesAppendRules: AppendRules = {
  internal: {
    ...COMMON_INTERNAL,
    ChatLinked: 'It is derived from the events of a group.',
    ChatUnlinked: 'It is derived from the events of a group.',
    ProfileTold: 'It is derived from the events of a group.',
    TransactionClaimed: 'The edge appends it for a confirmed transaction.',
  },
  past: ['at', 'proposedAt', 'verifiedAt'],
  key: /^[A-Za-z0-9][A-Za-z0-9_.:@+/=-]{0,139}$/,
  fields: {
    expenseId: id,
    settlementId: id,
    groupId: id,
    invitationId: id,
    payerId: id,
    userId: id,
    fromUserId: id,
    toUserId: id,
    txHash: { is: isTxHash, what: 'the hash of a transaction, in hex or base64' },
    chatId: { is: isChatId, what: 'the number of a Telegram chat, such as -1001234567890' },
    revision: within(revision),
    amountMinor: { from: 0, to: Number(MOST_MINOR) },
    minor: { from: 0, to: Number(MOST_MINOR) },
    currency: { is: (code) => decimalsOf(code) !== undefined, what: 'a currency of ISO 4217 such as EUR, or TON' },
    exponent: { from: 0, to: 9 },
    bp: { from: 0, to: 10_000 },
    shares: within(splitsSchema.items.properties.shares),
    category: words(category),
    name: words(personProperties.name),
    title: words(titleSchema),
    description: words(description),
    reason: words(reason),
    username: matching(personProperties.username),
    avatarUrl: {
      is: (text) => text.length <= personProperties.avatarUrl.maxLength && isHttpsUrl(text),
      what: 'an https URL',
    },
    wallet: matching(walletSchema),
    invitation: HASH,
    secretHash: HASH,
    rowHash: HASH,
  },
  check,
}
