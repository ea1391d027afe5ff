import { userKey } from '../access/keys.ts'
import type { Key } from '../item.ts'

/**
 * Every key of the expenses table, spelled once, as the source document has them with the requirements' corrections. Ids hold no `#`;
 * instants have a fixed width: two different things never share a key.
 */
export const groupPartition = (group: string): string => `GROUP#${group}`
const inGroup = (group: string, SK: string): Key => ({ PK: groupPartition(group), SK })

export const groupKey = (group: string): Key => inGroup(group, 'METADATA')
export const MEMBERS = 'USER#'
export const memberKey = (group: string, user: string): Key => inGroup(group, `USER#${user}`)

export const rosterKey = (group: string): Key => inGroup(group, 'ROSTER')
export const invitationsKey = (group: string): Key => inGroup(group, 'INVITATIONS')

/** Two expenses of one millisecond are two items (E-a). */
export const EXPENSES = 'TX#'
export const expenseKey = (group: string, iso: string, expense: string): Key => inGroup(group, `TX#${iso}#${expense}`)
/** Deleted expenses, by the time of their deletion. */
export const DELETED = 'DELETED#'
export const deletedExpenseKey = (group: string, deletedAt: string, expense: string): Key => inGroup(group, `DELETED#${deletedAt}#${expense}`)
/** Locates an expense by its id alone. */
export const EXPENSE_NAMES = 'EXPENSE#'
export const expenseNameKey = (group: string, expense: string): Key => inGroup(group, `EXPENSE#${expense}`)
export const participantsOf = (expense: string): string => `PART#${expense}#`
export const participantKey = (group: string, expense: string, user: string): Key => inGroup(group, `PART#${expense}#${user}`)

export const SETTLEMENTS = 'SETTLE#'
export const settlementKey = (group: string, iso: string, settlement: string): Key => inGroup(group, `SETTLE#${iso}#${settlement}`)
export const SETTLEMENT_NAMES = 'SETTLEMENT#'
export const settlementNameKey = (group: string, settlement: string): Key => inGroup(group, `SETTLEMENT#${settlement}`)
/** The receiver's side of a settlement (E-e). */
export const receivedKey = (group: string, settlement: string, user: string): Key => inGroup(group, `RECEIVED#${settlement}#${user}`)

/** What every member paid, bears, sent and received, a currency (E-c). */
export const BALANCES = 'BALANCE#'
export const balanceKey = (group: string, currency: string): Key => inGroup(group, `BALANCE#${currency}`)
/** The balance as a day on which it changed left it; written when a later day changes it. */
export const balanceDays = (currency: string): string => `ASOF#${currency}#`
export const balanceDayKey = (group: string, currency: string, day: string): Key => inGroup(group, `ASOF#${currency}#${day}`)
/** What the others owe to one who paid, before anything is netted. */
export const credits = (currency: string): string => `OWED#${currency}#`
export const creditKey = (group: string, currency: string, payer: string): Key => inGroup(group, `OWED#${currency}#${payer}`)

/** What happened in the group, in the order of time. */
export const ENTRIES = 'LOG#'
export const entryKey = (group: string, iso: string, event: string): Key => inGroup(group, `LOG#${iso}#${event}`)

/** What is known of a person beside their groups (E-m). */
export const profileKey = (user: string): Key => userKey(user, 'PROFILE')
/** Which settlement a TON transaction settles (E-j). */
export const transactionKey = (txHash: string): Key => ({ PK: `TXHASH#${txHash}`, SK: 'CLAIM' })
export const chatKey = (chatId: string): Key => ({ PK: `CHAT#${chatId}`, SK: 'GROUP' })

/** Log keys of what is neither a group's nor a person's. */
export const transactionLogKey = (txHash: string): string => `tx:${txHash}`
export const chatLogKey = (chatId: string): string => `chat:${chatId}`

/** The indexes' halves of keys. */
export const ofUser = (user: string): string => `USER#${user}`
export const GROUPS_OF_USER = 'GROUP#'
/** Those that the user left: what they owe there they still owe. */
export const LEFT_BY_USER = 'LEFT#'
/** The groups from which the user was removed. No query lists them to the user. */
export const REMOVED_FROM = 'REMOVED#'
export const OWES = 'OWES#'
export const RECEIVED = 'RECEIVED#'
export const expenseNamed = (expense: string): string => `EXPENSE#${expense}`
export const settlementNamed = (settlement: string): string => `SETTLEMENT#${settlement}`
export const historyOf = (expense: string): string => `HISTORY#${expense}`

const ID = /^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$/
/** Ids of groups, people, expenses and settlements: fit for a key and a path. */
export const isId = (id: string): boolean => ID.test(id)
/** Telegram's number, where the id of a person is one. */
export const telegramIdOf = (user: string): number | null => (/^[1-9]\d{0,14}$/.test(user) ? Number(user) : null)
/** `meta.source` of what Telegram's webhook reports. */
export const TELEGRAM_SOURCE = 'telegram'
/** Telegram numbers groups below zero. */
export const isChatId = (id: string): boolean => /^-?\d{1,20}$/.test(id)
/** Hex or base64, as explorers write them. */
export const isTxHash = (hash: string): boolean => /^[A-Za-z0-9+/_=-]{16,128}$/.test(hash)
/** One spelling for all: a hash of 32 bytes in lower-case hex, so that a transaction in hex and in base64 is the same one (E-j). */
export const oneTxHash = (hash: string): string => {
  if (/^[0-9a-fA-F]{64}$/.test(hash)) return hash.toLowerCase()
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(hash) ? Buffer.from(hash, 'base64').toString('hex') : hash
}

/** The log key of which every item of a partition is derived. */
export const logKeyOf = (pk: string): string | undefined => {
  const at = pk.indexOf('#')
  const [kind, name] = [pk.slice(0, at), pk.slice(at + 1)]
  if (kind === 'GROUP' || kind === 'USER') return name
  if (kind === 'TXHASH') return transactionLogKey(name)
  return kind === 'CHAT' ? chatLogKey(name) : undefined
}
