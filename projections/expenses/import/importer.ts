import type { Importer, Origin, ReadRow, ImportedEvent } from '../../importing.ts'
import { isHttpsUrl } from '../../https-url.ts'
import { isInstant } from '../../instant.ts'
import { isObject } from '../../../schemas/object.ts'
import { field, instantOf, textField, type Row } from '../../rows.ts'
import type { SplitType } from '../../../schemas/generated/expenses.ts'
import { sortLines } from './sort-lines.ts'
import { decimalsOf } from '../currencies.ts'
import { isChatId, isId, isTxHash, oneTxHash, transactionLogKey } from '../keys.ts'
import { isPresent } from './is-present.ts'
import { decimalText, minorFrom, minorNear, MOST_MINOR } from '../money.ts'
import { idIn, oldSplits } from './old-splits.ts'

/**
 * Imports groups from a table of the original design (docs/moving.md), from an export of the program Spliit, and
 * from an export of this program. `sortLines` runs before `read` and sets the `kind` of each row.
 */
export const expensesImporter: Importer = {
  options: [{ name: 'currency', value: 'code', about: 'the currency of items that have none' }],
  sortLines,
  isPresent,
  read(raw, origin) {
    const row: Row = isObject(raw) ? (raw as Row) : {}
    const [kind, unfit] = [textField(row, 'kind'), textField(row, 'unreadable')]
    if (unfit !== undefined) return unreadable(unfit)
    const reader = kind !== undefined && Object.hasOwn(READERS, kind) ? READERS[kind] : undefined
    return reader === undefined ? DERIVED : reader(row, origin)
  },
}

const unreadable = (reason: string): ReadRow => ({ kind: 'unreadable', reason })
const DERIVED: ReadRow = { kind: 'derived' }

const READERS: Readonly<Record<string, (row: Row, origin: Origin) => ReadRow>> = {
  group: (row, { at }) => {
    const [id, currency, chatId] = [
      idIn(row, 'id'),
      textField(row, 'currency')?.toUpperCase() ?? 'TON',
      idIn(row, 'chatId') ?? null,
    ]
    if (id === undefined || !isId(id))
      return unreadable(`its id ${JSON.stringify(id ?? null)} is not a valid id of a group`)
    const linked = chatId !== null && isChatId(chatId) ? chatId : null
    const created = { key: id, person: null, occurredAt: timeNotAfter(row, ['createdAt'], at), personal: null }
    const made: ImportedEvent = {
      ...created,
      person: creatorIn(row) ?? null,
      type: 'GroupCreated',
      data: { chatId: linked, title: textField(row, 'title') ?? id, currency },
    }
    const plain: ImportedEvent = { ...created, type: 'GroupSettingsChanged', data: { simplify: false } }
    return readEvents(
      [made, ...(field(row, 'simplify') === false ? [plain] : [])],
      linked === chatId ? undefined : `its chatId ${JSON.stringify(chatId)} is not the id of a chat and was left out`,
    )
  },
  member: (row, { at }) => {
    const [key, userId] = [idIn(row, 'groupId'), idIn(row, 'id')]
    if (key === undefined || userId === undefined || !isId(userId))
      return unreadable(`the id of the member, ${JSON.stringify(userId ?? null)}, is not a valid id of a person`)
    const joined = { key, person: userId, occurredAt: timeNotAfter(row, ['joinedAt'], at) }
    const wallet = textField(row, 'wallet')
    const personal = {
      name: textField(row, 'name') ?? textField(row, 'username') ?? userId,
      username: textField(row, 'username') ?? null,
      avatarUrl: pictureIn(row),
    }
    return readEvents([
      { ...joined, type: 'MemberJoined', data: { userId, invitation: null, chatId: null }, personal },
      ...(wallet ? [{ ...joined, type: 'WalletSet', data: { userId }, personal: { wallet } }] : []),
    ])
  },
  left: (row, { at }) => {
    const [key, userId] = [idIn(row, 'groupId') ?? '', idIn(row, 'id') ?? '']
    const joinedAt = textField(row, 'joinedAt')
    // `since` restricts the departure to a person whom this file adds to the group. A person who was a member before stays.
    const since = joinedAt === undefined ? {} : { since: instantOf(joinedAt) ?? 0 }
    return readEvents([
      {
        key,
        person: userId,
        ...changed(row, 'leftAt', at),
        type: 'MemberLeft',
        data: { userId },
        personal: null,
        ...since,
      },
    ])
  },
  removed: (row, { at }) => {
    const [key, userId] = [idIn(row, 'groupId') ?? '', idIn(row, 'id') ?? '']
    return readEvents([
      {
        key,
        person: null,
        ...changed(row, 'removedAt', at),
        type: 'GroupMemberRemoved',
        data: { userId },
        personal: null,
      },
    ])
  },
  owner: (row, { at }) =>
    readEvents([
      {
        key: idIn(row, 'groupId') ?? '',
        person: null,
        ...changed(row, 'ownerSince', at),
        type: 'GroupOwnerChanged',
        data: { userId: idIn(row, 'id') ?? '' },
        personal: null,
      },
    ]),
  archived: (row, { at }) =>
    readEvents([
      {
        key: idIn(row, 'groupId') ?? '',
        person: null,
        ...changed(row, 'archivedAt', at),
        type: 'GroupArchived',
        data: {},
        personal: null,
      },
    ]),
  expense: (row, origin) => expenseRow(row, origin),
  settlement: (row, origin) => settlementRow(row, origin),
}

/** The picture of a person: an https URL, or a path in the storage of an older program. Null for anything else, such as an http URL. */
const pictureIn = (row: Row): string | null => {
  const text = textField(row, 'avatarUrl')
  return text !== undefined && (isHttpsUrl(text) || /^[^:\s]+$/.test(text)) ? text : null
}

/** The person who created the group or recorded the expense. Undefined if the row names no person, or if the name is not a valid id. */
const creatorIn = (row: Row): string | undefined => {
  const id = idIn(row, 'createdBy')
  return id !== undefined && isId(id) ? id : undefined
}

const readEvents = (events: readonly ImportedEvent[], note?: string): ReadRow => ({
  kind: 'events',
  events,
  ...(note !== undefined && { note }),
})

const timeIn = (row: Row, names: readonly string[]): number | undefined =>
  names
    .map((name) => instantOf(textField(row, name)) ?? dayIn(textField(row, name)))
    .find((ms) => ms !== undefined && isInstant(ms))

/**
 * The time in the first of these fields that has one, but at most `now`. Without a time, returns `now`. A time in the future is not used:
 * the time of a balance never decreases, so all later changes would get this future time.
 */
const timeNotAfter = (row: Row, names: readonly string[], now: number): number =>
  Math.min(timeIn(row, names) ?? now, now)

/** The times of a change, from the time in this field. If the field has no time or a future time, the change occurs now and has no `changedAt`. */
const changed = (row: Row, name: string, now: number): Pick<ImportedEvent, 'occurredAt' | 'changedAt'> => {
  const stated = timeIn(row, [name])
  return stated === undefined || stated > now ? { occurredAt: now } : { occurredAt: stated, changedAt: stated }
}

const dayIn = (text: string | undefined): number | undefined =>
  /^\d{4}-\d\d-\d\d$/.test(text ?? '') ? instantOf(`${text}T00:00:00Z`) : undefined

interface Sum {
  readonly amountMinor: bigint
  readonly currency: string
  readonly exponent: number
}

/** The amount and the currency of a row, or the reason why they are not valid. A float is rounded to the currency's smallest unit. */
const sumIn = (row: Row): Sum | string => {
  const currency = textField(row, 'currency')?.toUpperCase() ?? ''
  const exponent = decimalsOf(currency)
  if (exponent === undefined) return `there is no currency ${JSON.stringify(currency)}`
  const [minor, amount] = [field(row, 'amountMinor'), field(row, 'amount')]
  const amountMinor =
    typeof minor === 'number' || typeof minor === 'string'
      ? minorFrom(minor, 0)
      : typeof amount === 'number' || typeof amount === 'string'
        ? minorNear(amount, exponent)
        : undefined
  if (amountMinor === undefined || amountMinor <= 0n || amountMinor > MOST_MINOR)
    return `its amount ${JSON.stringify(minor ?? amount ?? null)} must be above zero and at most ${decimalText(MOST_MINOR, exponent)}`
  return { amountMinor, currency, exponent }
}

const SPLIT_TYPES: readonly string[] = ['equal', 'exact', 'percentage', 'shares'] satisfies SplitType[]

const expenseRow = (row: Row, { rowHash, at }: Origin): ReadRow => {
  const [key, id, payerId] = [idIn(row, 'groupId') ?? '', idIn(row, 'id') ?? '', idIn(row, 'payerId') ?? '']
  const sum = sumIn(row)
  if (typeof sum === 'string') return unreadable(`expense ${id}: ${sum}`)
  const given = textField(row, 'splitType')
  const splitType = (given !== undefined && SPLIT_TYPES.includes(given) ? given : 'exact') as SplitType
  const listed = field(row, 'splits')
  const splits = oldSplits(Array.isArray(listed) ? (listed as readonly Row[]) : [], {
    id,
    amountMinor: sum.amountMinor,
    decimals: sum.exponent,
    splitType,
  })
  if (typeof splits === 'string') return unreadable(`expense ${id}: ${splits}`)
  const spentAt = timeIn(row, ['date', 'spentAt', 'createdAt']) ?? at
  const data = {
    expenseId: id,
    spentAt,
    payerId,
    ...sum,
    splitType,
    splits,
    category: textField(row, 'category')?.slice(0, 100) || null,
    rowHash,
  }
  // An export of this program names the person who recorded the expense. This person can correct the expense later.
  return readEvents([
    {
      type: 'ExpenseRecorded',
      key,
      person: creatorIn(row) ?? payerId,
      occurredAt: timeNotAfter(row, ['createdAt', 'spentAt'], at),
      data,
      personal: { description: textField(row, 'description') ?? '' },
    },
  ])
}

const settlementRow = (row: Row, { rowHash, at }: Origin): ReadRow => {
  const [key, settlementId, fromUserId, toUserId] = [
    idIn(row, 'groupId') ?? '',
    idIn(row, 'id') ?? '',
    idIn(row, 'fromUserId') ?? '',
    idIn(row, 'toUserId') ?? '',
  ]
  const sum = sumIn(row)
  if (typeof sum === 'string') return unreadable(`settlement ${settlementId}: ${sum}`)
  const [status, hash] = [textField(row, 'status') ?? 'pending', textField(row, 'txHash') || null]
  const txHash = hash !== null && isTxHash(hash) ? oneTxHash(hash) : null
  const proposedAt = timeIn(row, ['spentAt', 'createdAt']) ?? at
  const verifiedAt = timeIn(row, ['completedAt', 'createdAt']) ?? proposedAt
  const common = { key, person: fromUserId, personal: null }
  // An export of this program contains `confirmedBy`. In other files, a transaction means that the TON blockchain
  // confirmed the settlement.
  const confirmedBy = field(row, 'confirmedBy') === 'manual' || txHash === null ? 'manual' : 'ton'
  const [then, end] = [
    { ...common, occurredAt: Math.min(timeIn(row, ['createdAt']) ?? proposedAt, at) },
    { ...common, occurredAt: Math.min(verifiedAt, at) },
  ]
  const events: ImportedEvent[] = [
    {
      ...then,
      type: 'SettlementProposed',
      data: { settlementId, fromUserId, toUserId, ...sum, txHash, proposedAt, rowHash },
    },
  ]
  if (status === 'failed')
    events.push({ ...end, type: 'SettlementFailed', data: { settlementId, txHash, confirmedBy } })
  if (status === 'completed')
    events.push({ ...end, type: 'SettlementConfirmed', data: { settlementId, txHash, verifiedAt, confirmedBy } })
  // Claims the transaction, so that it cannot complete another settlement.
  if (status === 'completed' && txHash !== null)
    events.push({
      ...end,
      key: transactionLogKey(txHash),
      type: 'TransactionClaimed',
      data: { txHash, groupId: key, settlementId, verifiedAt, confirmedBy },
    })
  return readEvents(
    events,
    hash === null || txHash !== null
      ? undefined
      : `settlement ${settlementId}: its txHash ${JSON.stringify(hash)} is not the hash of a transaction and was left out`,
  )
}
