import { expenses } from '../../processors/expenses/domain.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Random } from './random.ts'
import { checkExpenses } from './checkers-expenses.ts'
import { createSpeaker, dealt, marked, type Said, type Workload } from './workload.ts'
import { requestOf } from './workload-toy.ts'

const GROUPS = ['trip', 'home']
const USERS = ['ann', 'ben', 'constructor']
const CHATS = ['-1', '-2']
const HASHES = ['ab'.repeat(16), 'cd'.repeat(16)]
const MONEY = [{ currency: 'EUR', exponent: 2 }, { currency: 'EUR', exponent: 2 }, { currency: 'TON', exponent: 9 }]

const codec = openCodec()

/** As whoever writes it down believes: what was refused, or is on its way, is in it too. */
interface Book {
  readonly group: string
  readonly expenses: { readonly id: string; payer: string; revision: number }[]
  readonly settlements: string[]
  readonly invitations: { readonly id: string; readonly hash: string }[]
}

interface Turn extends Book {
  readonly random: Random
  readonly now: number
}

/** A few people's groups by the seed: few ids and hashes, so that events meet; two edit at once, and some of it is not theirs to edit. */
export const expensesWorkload = (random: Random, length: number): Workload => {
  const speaker = createSpeaker(random)
  const books: readonly Book[] = GROUPS.slice(0, random.between(1, 2)).map((group) => ({ group, expenses: [], settlements: [], invitations: [] }))
  const events: Event[] = []
  const say = ({ personal, ...rest }: Said) => void events.push(speaker.say({ ...rest, ...(personal ? { personal: marked(personal, events.length) } : {}) }))
  for (const book of books) opening({ ...book, random, now: speaker.now() }).forEach(say)
  for (const book of books) if (random.chance(0.4)) visit({ ...book, random, now: speaker.now() }).forEach(say)
  while (events.length < length + books.length * USERS.length) say({ request: requestOf(random), ...saidBy({ ...random.pick(books), random, now: speaker.now() }) })
  const sealed = random.chance(0.5)
  const forgets = sealed && random.chance(0.6) ? USERS.slice(0, random.between(1, 2)) : []
  const keys = [...books.map(({ group }) => group), ...HASHES.map((hash) => `tx:${hash}`)]
  // A key that stands still for ever cannot forget.
  const clients = dealt(random, { events, keys, ...(forgets.length > 0 ? { poisoned: [] } : {}) })
  return { domain: expenses, codec, clients, sends: true, users: [], forgets, check: checkExpenses, ...(sealed ? { sealed } : {}) }
}

const nameOf = (user: string) => ({ name: user, username: user, avatarUrl: null })

/** Mostly, so that the rest has something to be about. */
const opening = ({ random, group: key }: Turn): readonly Said[] => {
  const [first = '', ...others] = USERS
  const made: Said = { type: 'GroupCreated', key, by: first, data: { chatId: random.pick([null, ...CHATS]), title: key, currency: 'EUR' }, personal: nameOf(first) }
  return [made, ...others.map((by): Said => ({ type: 'MemberJoined', key, by, data: { userId: by, invitation: null, chatId: null }, personal: nameOf(by) }))].filter(() => random.chance(0.95))
}

const saidBy = (turn: Turn): Said => {
  const { random } = turn
  const draw = random.next()
  if (draw < 0.3) return recorded(turn)
  if (draw < 0.44) return revised(turn)
  if (draw < 0.53) return byPayer(turn, 'ExpenseDeleted')
  if (draw < 0.61) return byPayer(turn, 'ExpenseRestored')
  if (draw < 0.7) return proposed(turn)
  if (draw < 0.79) return ended(turn)
  if (draw < 0.85) return claimed(turn)
  if (draw < 0.88) return ofMember(turn)
  if (draw < 0.94) return ofGuest(turn)
  return draw < 0.97 ? ofOwner(turn) : ofGroup(turn)
}

/** Each bears a part; now and then the sum is not that of the parts. */
const spent = ({ random }: Turn, payerId: string) => {
  const sharing = USERS.filter(() => random.chance(0.7))
  const splits = (sharing.length > 0 ? sharing : [payerId]).map((userId) => ({ userId, minor: BigInt(random.pick([0, 1, 333, 1000, 2_500_000_000])), bp: null, shares: null }))
  const sum = splits.reduce((total, { minor }) => total + minor, 0n)
  return { payerId, amountMinor: random.chance(0.04) ? sum + 1n : sum, ...random.pick(MONEY), splitType: 'exact', splits, category: random.pick([null, 'food']) }
}

const recorded = (turn: Turn): Said => {
  const { random, group: key, expenses: known, now } = turn
  const payer = random.pick(USERS)
  // The same expense said again, as a client does that lost its answer.
  const again = known.length > 0 && random.chance(0.1)
  const id = again ? random.pick(known).id : `${key}-e${known.length}`
  if (!again) known.push({ id, payer, revision: 1 })
  const by = random.pick(USERS)
  return { type: 'ExpenseRecorded', key, by, data: { expenseId: id, spentAt: now - random.between(0, 2) * 86_400_000, ...spent(turn, payer), rowHash: null }, personal: { description: 'soup' } }
}

/** By whoever paid, mostly, and of the revision that was last heard of. */
const revised = (turn: Turn): Said => {
  const { random, group: key, expenses: known, now } = turn
  if (known.length === 0) return recorded(turn)
  const expense = random.pick(known)
  const by = random.chance(0.85) ? expense.payer : random.pick(USERS)
  const payer = random.chance(0.8) ? expense.payer : random.pick(USERS)
  const revision = expense.revision + random.pick([1, 1, 1, 1, 0, 2])
  Object.assign(expense, { payer, revision })
  return { type: 'ExpenseRevised', key, by, data: { expenseId: expense.id, revision, spentAt: random.chance(0.3) ? now - random.between(0, 2) * 86_400_000 : null, ...spent(turn, payer) }, personal: { description: 'stew', reason: random.pick([null, 'typo']) } }
}

const byPayer = (turn: Turn, type: 'ExpenseDeleted' | 'ExpenseRestored'): Said => {
  const { random, group: key, expenses: known } = turn
  if (known.length === 0) return recorded(turn)
  const { id, payer } = random.pick(known)
  return { type, key, by: random.chance(0.85) ? payer : random.pick(USERS), data: { expenseId: random.chance(0.03) ? 'nobody' : id } }
}

const proposed = ({ random, group: key, settlements, now }: Turn): Said => {
  const [from, to] = [random.pick(USERS), random.pick(USERS)]
  const id = settlements.length > 0 && random.chance(0.1) ? random.pick(settlements) : `${key}-s${settlements.length}`
  if (!settlements.includes(id)) settlements.push(id)
  const amountMinor = BigInt(random.pick([1, 500, 1000]))
  return { type: 'SettlementProposed', key, by: from, data: { settlementId: id, fromUserId: from, toUserId: to, amountMinor, ...random.pick(MONEY), txHash: random.pick([null, ...HASHES]), proposedAt: now, rowHash: null } }
}

const ended = (turn: Turn): Said => {
  const { random, group: key, settlements, now } = turn
  if (settlements.length === 0) return proposed(turn)
  const settlementId = random.pick(settlements)
  const by = random.pick(USERS)
  if (random.chance(0.3)) return { type: 'SettlementFailed', key, by, data: { settlementId, txHash: null, confirmedBy: 'manual' } }
  return { type: 'SettlementConfirmed', key, by, data: { settlementId, txHash: null, verifiedAt: now, confirmedBy: 'manual' } }
}

const claimed = (turn: Turn): Said => {
  const { random, group, settlements, now } = turn
  if (settlements.length === 0) return proposed(turn)
  const txHash = random.pick(HASHES)
  return { type: 'TransactionClaimed', key: `tx:${txHash}`, by: random.pick(USERS), data: { txHash, groupId: group, settlementId: random.pick(settlements), verifiedAt: now, confirmedBy: 'ton' } }
}

const ofMember = ({ random, group: key }: Turn): Said => {
  const by = random.pick(USERS)
  const data = { userId: by }
  return random.pick<Said>([
    { type: 'MemberJoined', key, by, data: { ...data, invitation: null, chatId: null }, personal: nameOf(by) },
    { type: 'MemberLeft', key, by, data },
    { type: 'MemberProfileChanged', key, by, data, personal: nameOf(`${by} again`) },
    { type: 'WalletSet', key, by, data, personal: { wallet: random.pick([null, 'UQ']) } },
  ])
}

/** Joins by an invitation only. */
const GUEST = 'dan'
const HOUR = 3_600_000

/** Invites, revokes, and joins: often by an invitation that is revoked, expired or older than a removal. */
const ofGuest = ({ random, group: key, invitations, now }: Turn): Said => {
  const draw = random.next()
  const known = invitations.length === 0 ? undefined : random.pick(invitations)
  if (known === undefined || draw < 0.3) {
    const made = { id: `${key}-i${invitations.length}`, hash: String(invitations.length).padStart(64, 'a') }
    invitations.push(made)
    return { type: 'InvitationCreated', key, by: random.pick(USERS), data: { invitationId: made.id, secretHash: made.hash, expiresAt: now + random.pick([1, 24, 7 * 24]) * HOUR } }
  }
  if (draw < 0.38) return { type: 'InvitationRevoked', key, by: random.pick(USERS), data: { invitationId: known.id } }
  const by = random.pick([GUEST, GUEST, ...USERS])
  if (draw < 0.48) return { type: 'MemberLeft', key, by, data: { userId: by } }
  return { type: 'MemberJoined', key, by, data: { userId: by, invitation: known.hash, chatId: null }, personal: nameOf(by) }
}

/** The guest tries to join by an invitation that ended: by their removal, by its revocation, or because its creator left. */
const visit = ({ random, group: key, invitations, now }: Turn): readonly Said[] => {
  const [owner = '', creator = ''] = USERS
  const [id, hash] = [`${key}-i${invitations.length}`, 'b'.repeat(64)]
  invitations.push({ id, hash })
  const join = (invitation: string | null): Said => ({ type: 'MemberJoined', key, by: GUEST, data: { userId: GUEST, invitation, chatId: null }, personal: nameOf(GUEST) })
  const remove: Said = { type: 'GroupMemberRemoved', key, by: owner, data: { userId: GUEST } }
  const invite: Said = { type: 'InvitationCreated', key, by: creator, data: { invitationId: id, secretHash: hash, expiresAt: now + 7 * 24 * HOUR } }
  return [invite, ...random.pick<readonly Said[]>([
    [join(hash), remove, join(hash)],
    [join(hash), remove, join(null)],
    [{ type: 'InvitationRevoked', key, by: creator, data: { invitationId: id } }, join(hash)],
    [{ type: 'MemberLeft', key, by: creator, data: { userId: creator } }, join(hash)],
  ])]
}

/** Mostly by the first user, who owns the group unless they left. */
const ofOwner = ({ random, group: key }: Turn): Said => {
  const [by, userId] = [random.chance(0.7) ? (USERS[0] ?? '') : random.pick(USERS), random.pick([GUEST, ...USERS])]
  const draw = random.next()
  if (draw < 0.6) return { type: 'GroupMemberRemoved', key, by, data: { userId } }
  if (draw < 0.7) return { type: 'GroupOwnerChanged', key, by, data: { userId } }
  return { type: draw < 0.8 ? 'GroupArchived' : 'GroupUnarchived', key, by, data: {} }
}

const ofGroup = ({ random, group: key }: Turn): Said => random.pick<Said>([
  { type: 'GroupRenamed', key, by: 'ann', data: { title: random.pick(['Trip', 'Home', '']) } },
  { type: 'GroupCurrencyChanged', key, by: 'ann', data: { currency: 'TON' } },
  { type: 'GroupSettingsChanged', key, by: 'ann', data: { simplify: random.chance(0.5) } },
  { type: 'GroupChatMigrated', key, by: 'ann', data: { chatId: random.pick(CHATS) } },
])
