import { createdId } from '../ids.ts'
import { createRandom, type Random } from '../demo/random.ts'
import type { SimulatedRequest } from '../demo/request.ts'

export interface Holiday {
  readonly seed: number
  /** At least two people. The first creates the group. */
  readonly users: readonly string[]
  /** Epoch milliseconds. The id of the group is derived from this time, so another time creates another group. */
  readonly now: number
}

const GROUPS = '/api/groups'

interface Spent {
  readonly id: string
  readonly payer: string
  revision: number
  deleted: boolean
}

interface Trip {
  readonly random: Random
  readonly group: string
  readonly users: readonly string[]
  readonly away: Set<string>
  readonly spent: Spent[]
  /** The secret of the invitation that the first user created. */
  secret: string
  /** Returns an Idempotency-Key that no other request has. */
  key(): string
}

const THINGS = [
  'Dinner by the sea',
  'Taxi',
  'Groceries',
  'Museum tickets',
  'Boat',
  'Coffee',
  'Hotel',
  'Ice cream',
] as const
const NAMES = ['Ann', 'Bob', 'Cem', 'Dot', 'Eli', 'Fay'] as const

/** The body of an answer. */
type Answer = Readonly<Record<string, unknown>>

/**
 * Generates requests of friends on a holiday. They join by invitation, pay for each other with every type of split,
 * correct expenses and settle debts. Each request depends on the previous requests. Pass the body of each answer to
 * `next`, because one of the answers contains the secret of the invitation.
 */
export function* holiday({ seed, users, now }: Holiday): Generator<SimulatedRequest, never, Answer> {
  const random = createRandom(seed)
  let count = 0
  const key = (): string => `holiday-${seed}-${now}-${(count += 1)}`
  const [owner = ''] = users
  const made = key()
  const trip: Trip = {
    random,
    key,
    users,
    group: createdId(owner, made, GROUPS),
    away: new Set(),
    spent: [],
    secret: '',
  }
  const path = `${GROUPS}/${trip.group}`
  yield {
    user: owner,
    method: 'POST',
    path: GROUPS,
    headers: { 'idempotency-key': made },
    body: { title: 'Holiday', currency: 'EUR', name: NAMES[0] },
  }
  const invited = yield {
    user: owner,
    method: 'POST',
    path: `${path}/invitations`,
    headers: { 'idempotency-key': key() },
    body: {},
  }
  trip.secret = String(invited['secret'])
  for (const [index, user] of users.entries()) {
    if (user !== owner)
      yield {
        user,
        method: 'POST',
        path: `${path}/join`,
        headers: { 'idempotency-key': key() },
        body: { invitation: trip.secret, name: NAMES[index % NAMES.length] },
      }
  }
  for (;;) yield* step(trip, path)
}

const others = ({ users, away }: Trip, than: string): readonly string[] =>
  users.filter((user) => user !== than && !away.has(user))

const someone = ({ random }: Trip, of: readonly string[]): string => random.pick(of as readonly [string, ...string[]])

function* step(trip: Trip, path: string): Generator<SimulatedRequest> {
  const { random, spent } = trip
  const draw = random.next()
  const expense =
    spent.length === 0 ? undefined : random.pick(spent as readonly Spent[] as readonly [Spent, ...Spent[]])
  if (draw < 0.55 || expense === undefined || trip.away.has(expense.payer)) return yield* pay(trip, path)
  const own = { user: expense.payer, headers: { 'idempotency-key': trip.key() } } as const
  if (expense.deleted) {
    expense.deleted = false
    return yield { ...own, method: 'POST', path: `${path}/expenses/${expense.id}/restore` }
  }
  if (draw < 0.67)
    return yield {
      ...own,
      method: 'PUT',
      path: `${path}/expenses/${expense.id}`,
      body: { ...bodyOf(trip, expense.payer), revision: expense.revision++, reason: 'the amount was wrong' },
    }
  if (draw < 0.75) {
    expense.deleted = true
    return yield { ...own, method: 'DELETE', path: `${path}/expenses/${expense.id}` }
  }
  if (draw < 0.85) return yield* settle(trip, path)
  if (draw < 0.9) return yield* leave(trip, path)
  return yield {
    user: expense.payer,
    method: 'GET',
    path: `${path}/${random.pick(['balances', 'debts', 'expenses', 'activity'])}`,
    headers: {},
  }
}

function* pay(trip: Trip, path: string): Generator<SimulatedRequest> {
  const [payer, idempotencyKey] = [someone(trip, others(trip, '')), trip.key()]
  trip.spent.push({ id: createdId(payer, idempotencyKey, `${path}/expenses`), payer, revision: 1, deleted: false })
  yield {
    user: payer,
    method: 'POST',
    path: `${path}/expenses`,
    headers: { 'idempotency-key': idempotencyKey },
    body: bodyOf(trip, payer),
  }
}

/** The body of an expense of a random amount, with a random type of split among all people who are present. */
const bodyOf = (trip: Trip, payer: string): object => {
  const { random } = trip
  const cents = random.whole(150, 20_000)
  const [first, ...rest] = [payer, ...others(trip, payer)]
  const fields = { amount: (cents / 100).toFixed(2), description: random.pick(THINGS), category: 'travel' }
  const way = random.pick(['equal', 'exact', 'percentage', 'shares'] as const)
  if (way === 'equal') return { ...fields, splits: [first, ...rest].map((userId) => ({ userId })) }
  if (way === 'shares')
    return {
      ...fields,
      splitType: way,
      splits: [first, ...rest].map((userId) => ({ userId, shares: random.whole(1, 3) })),
    }
  const whole = way === 'exact' ? cents : 10_000
  const part = Math.floor(whole / (rest.length + 1))
  const parts = [whole - part * rest.length, ...rest.map(() => part)]
  return {
    ...fields,
    splitType: way,
    splits: [first, ...rest].map((userId, at) => ({
      userId,
      ...(way === 'exact' ? { amount: ((parts[at] ?? 0) / 100).toFixed(2) } : { percentage: (parts[at] ?? 0) / 100 }),
    })),
  }
}

/** The payer proposes a settlement. Then the payee marks it as completed or failed. */
function* settle(trip: Trip, path: string): Generator<SimulatedRequest> {
  const from = someone(trip, others(trip, ''))
  const [to, idempotencyKey] = [someone(trip, others(trip, from)), trip.key()]
  yield {
    user: from,
    method: 'POST',
    path: `${path}/settlements`,
    headers: { 'idempotency-key': idempotencyKey },
    body: { toUserId: to, amount: (trip.random.whole(100, 5_000) / 100).toFixed(2), currency: 'EUR' },
  }
  const status = trip.random.chance(0.9) ? 'completed' : 'failed'
  yield {
    user: to,
    method: 'PUT',
    path: `${path}/settlements/${createdId(from, idempotencyKey, `${path}/settlements`)}`,
    headers: { 'idempotency-key': trip.key() },
    body: { status },
  }
}

/** If everybody is present, one person leaves. Otherwise the absent person returns. The owner never leaves, because the invitation would end. */
function* leave(trip: Trip, path: string): Generator<SimulatedRequest> {
  const [gone] = trip.away
  const user = gone ?? someone(trip, trip.users.slice(1))
  if (gone === undefined && trip.users.length < 3) return
  if (gone === undefined) trip.away.add(user)
  else trip.away.delete(user)
  yield {
    user,
    method: 'POST',
    path: `${path}/${gone === undefined ? 'leave' : 'join'}`,
    headers: { 'idempotency-key': trip.key() },
    ...(gone === undefined ? {} : { body: { invitation: trip.secret } }),
  }
}
