import type { Event, EventMeta } from '../../../schemas/event.ts'
import type {
  ChatLinked,
  ChatUnlinked,
  ExpenseDeleted,
  ExpenseRecorded,
  ExpenseRestored,
  ExpenseRevised,
  GroupArchived,
  GroupChatMigrated,
  GroupCreated,
  GroupCurrencyChanged,
  GroupMemberRemoved,
  GroupOwnerChanged,
  GroupRenamed,
  GroupSettingsChanged,
  GroupUnarchived,
  InvitationCreated,
  InvitationRevoked,
  MemberJoined,
  MemberLeft,
  MemberProfileChanged,
  ProfileTold,
  SettlementConfirmed,
  SettlementFailed,
  SettlementProposed,
  Split,
  TransactionClaimed,
  WalletSet,
} from '../../../schemas/generated/expenses.ts'
import { metaOf as eventMeta } from '../../../testing/event.ts'

// The functions of this file make events as the edge appends them, with defaults for all fields. Each event has its own id.

export const NOW = Date.parse('2026-11-16T12:00:00.000Z')
export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE
export const GROUP = 'g1'
export const HASH = 'ab12'.repeat(16)

export const metaOf = (meta: Partial<EventMeta> = {}): EventMeta =>
  eventMeta({ key: GROUP, actorId: 'ann', subjectId: null, ...meta })

type Fields<E extends Event> = Partial<E['data']> & { meta?: Partial<EventMeta>; personal?: E['personal'] }

/** Returns a function that makes events of one type. The default of each field is its value in `usual`. */
const maker =
  <E extends Event>(
    type: E['type'],
    usual: E['data'],
    { meta, personal = null }: { meta?: Partial<EventMeta>; personal?: E['personal'] } = {},
  ) =>
  ({ meta: more, personal: words = personal, ...fields }: Fields<E> = {} as Fields<E>): E =>
    ({ type, meta: metaOf({ ...meta, ...more }), data: { ...(usual as object), ...fields }, personal: words }) as E

export const at = (minutes: number): { meta: { occurredAt: number } } => ({
  meta: { occurredAt: NOW + minutes * MINUTE },
})
export const named = (name: string) => ({
  name,
  username: name.toLowerCase(),
  avatarUrl: `https://t.example/${name}.png`,
})

export const created = maker<GroupCreated>(
  'GroupCreated',
  { chatId: '-100', title: 'Trip', currency: 'EUR' },
  { meta: { subjectId: 'ann' }, personal: named('Ann') },
)
export const renamed = maker<GroupRenamed>('GroupRenamed', { title: 'Journey' })
export const currencyChanged = maker<GroupCurrencyChanged>('GroupCurrencyChanged', { currency: 'TON' })
export const settingsChanged = maker<GroupSettingsChanged>('GroupSettingsChanged', { simplify: false })
export const migrated = maker<GroupChatMigrated>('GroupChatMigrated', { chatId: '-200' })

/** Returns a function that makes events about the member `userId`. The member is also the actor and the subject of the event. */
const own =
  <E extends MemberJoined | MemberLeft | MemberProfileChanged | WalletSet>(make: (fields: Fields<E>) => E) =>
  (userId: string, fields: Omit<Fields<E>, 'userId'> = {} as Fields<E>): E =>
    make({ ...fields, userId, meta: { actorId: userId, subjectId: userId, ...fields.meta } } as Fields<E>)
export const joined = (userId: string, fields: Omit<Fields<MemberJoined>, 'userId'> = {}): MemberJoined =>
  own(
    maker<MemberJoined>(
      'MemberJoined',
      { userId, invitation: null, chatId: null },
      { personal: named(userId.charAt(0).toUpperCase() + userId.slice(1)) },
    ),
  )(userId, fields)
export const removed = (userId: string, fields: Omit<Fields<GroupMemberRemoved>, 'userId'> = {}): GroupMemberRemoved =>
  maker<GroupMemberRemoved>('GroupMemberRemoved', { userId })({ ...fields, userId })
export const ownerChanged = (
  userId: string,
  fields: Omit<Fields<GroupOwnerChanged>, 'userId'> = {},
): GroupOwnerChanged => maker<GroupOwnerChanged>('GroupOwnerChanged', { userId })({ ...fields, userId })
export const archived = maker<GroupArchived>('GroupArchived', {})
export const unarchived = maker<GroupUnarchived>('GroupUnarchived', {})
/** The hash (SHA-256) of the secret of an invitation. */
export const SECRET = 'ef56'.repeat(16)
export const invited = maker<InvitationCreated>('InvitationCreated', {
  invitationId: 'i1',
  secretHash: SECRET,
  expiresAt: NOW + 7 * DAY,
})
export const revoked = maker<InvitationRevoked>('InvitationRevoked', { invitationId: 'i1' })
export const left = own(maker<MemberLeft>('MemberLeft', { userId: 'bob' }))
export const profileChanged = own(
  maker<MemberProfileChanged>('MemberProfileChanged', { userId: 'bob' }, { personal: named('Robert') }),
)
export const walletSet = own(maker<WalletSet>('WalletSet', { userId: 'bob' }, { personal: { wallet: 'UQ-bob' } }))

export const splits = (parts: Readonly<Record<string, bigint>>): readonly Split[] =>
  Object.entries(parts).map(([userId, minor]) => ({ userId, minor, bp: null, shares: null }))

const dinner = {
  expenseId: 'e1',
  payerId: 'ann',
  amountMinor: 3000n,
  currency: 'EUR',
  exponent: 2,
  splitType: 'equal' as const,
  splits: splits({ ann: 1000n, bob: 1000n, cy: 1000n }),
  category: 'food',
}
export const recorded = maker<ExpenseRecorded>(
  'ExpenseRecorded',
  { ...dinner, spentAt: NOW, rowHash: null },
  { meta: { subjectId: 'ann' }, personal: { description: 'Dinner' } },
)
export const revised = maker<ExpenseRevised>(
  'ExpenseRevised',
  { ...dinner, revision: 2, spentAt: null },
  { meta: { subjectId: 'ann' }, personal: { description: 'Late dinner', reason: 'forgot the tip' } },
)
export const deleted = maker<ExpenseDeleted>('ExpenseDeleted', { expenseId: 'e1' })
export const restored = maker<ExpenseRestored>('ExpenseRestored', { expenseId: 'e1' })

export const proposed = maker<SettlementProposed>(
  'SettlementProposed',
  {
    settlementId: 's1',
    fromUserId: 'bob',
    toUserId: 'ann',
    amountMinor: 1000n,
    currency: 'EUR',
    exponent: 2,
    txHash: null,
    proposedAt: NOW,
    rowHash: null,
  },
  { meta: { actorId: 'bob' } },
)
export const confirmed = maker<SettlementConfirmed>('SettlementConfirmed', {
  settlementId: 's1',
  txHash: null,
  verifiedAt: NOW,
  confirmedBy: 'manual',
})
export const failed = maker<SettlementFailed>('SettlementFailed', {
  settlementId: 's1',
  txHash: null,
  confirmedBy: 'manual',
})
export const claimed = maker<TransactionClaimed>(
  'TransactionClaimed',
  { txHash: HASH, groupId: GROUP, settlementId: 's1', verifiedAt: NOW, confirmedBy: 'ton' },
  { meta: { key: `tx:${HASH}` } },
)
export const chatLinked = maker<ChatLinked>(
  'ChatLinked',
  { chatId: '-100', groupId: GROUP, moved: false },
  { meta: { key: 'chat:-100' } },
)
export const chatUnlinked = maker<ChatUnlinked>(
  'ChatUnlinked',
  { chatId: '-100', groupId: GROUP },
  { meta: { key: 'chat:-100' } },
)
export const profileTold = maker<ProfileTold>(
  'ProfileTold',
  { at: NOW },
  { meta: { key: '4711', subjectId: '4711' }, personal: named('Ann') },
)

/** Events of a group that Ann creates and Bob and Cy join. */
export const trip: readonly Event[] = [created(), joined('bob'), joined('cy')]

// The names by which the tests find items: partition key / sort key.

export const META = 'GROUP#g1 / METADATA'
export const memberName = (user: string): string => `GROUP#g1 / USER#${user}`
export const EXPENSE = 'GROUP#g1 / TX#2026-11-16T12:00:00.000Z#e1'
export const EXPENSE_NAME = 'GROUP#g1 / EXPENSE#e1'
/** The item of the expense e1 if it was deleted at noon. */
export const DELETED_EXPENSE = 'GROUP#g1 / DELETED#2026-11-16T12:00:00.000Z#e1'
export const partName = (user: string): string => `GROUP#g1 / PART#e1#${user}`
export const BALANCE = 'GROUP#g1 / BALANCE#EUR'
export const creditName = (payer: string): string => `GROUP#g1 / OWED#EUR#${payer}`
export const SETTLEMENT = 'GROUP#g1 / SETTLE#2026-11-16T12:00:00.000Z#s1'
