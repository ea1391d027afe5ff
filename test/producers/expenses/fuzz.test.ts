import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses.ts'
import { send, type AnswerBody, type MemoryEdge, type Sent } from '../memory-edge.ts'
import { DINNER, openCircle } from './circle.ts'

const RUNS = { mutated: 1_500, anywhere: 1_500 }

let edge: MemoryEdge
let token: string
let names: Readonly<Record<string, string>>

beforeAll(async () => {
  const circle = await openCircle()
  edge = circle.edge
  token = circle.ann.token
  const expense = await circle.ann.say('POST', `${circle.group}/expenses`, DINNER)
  const settlement = await circle.bob.say('POST', `${circle.group}/settlements`, { toUserId: '123', amount: 5, currency: 'EUR' })
  names = { GROUP: circle.id, EXPENSE: expense.body.id, SETTLEMENT: settlement.body.id }
})
afterAll(() => edge.app.close())

const named = (text: string): string => Object.entries(names).reduce((all, [name, id]) => all.replaceAll(name, id), text)

/** What holds for any request at all: it is answered, what is refused by the edge is in no log, and money is never made or lost. */
const holds = async (sent: Sent) => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...sent })
  const appended = edge.events.slice(before).filter(({ type, meta }) => type !== 'PatUsed' && meta.source !== 'derived')
  if (answer.status >= 500) throw new Error(`${sent.method ?? 'GET'} ${sent.url} was answered ${answer.status}: ${answer.text}`)
  if (answer.status >= 400) {
    expect(answer.body).toMatchObject({ code: expect.stringMatching(/^[a-z0-9-]+$/), status: answer.status })
    const kinds = appended.map((event) => edge.outcomes.get(edge.events.indexOf(event))?.kind)
    if (appended.length > 0) expect([kinds.at(-1), answer.status]).toEqual(['refused', expect.toSatisfy((status: number) => [403, 404, 409, 422].includes(status))])
  }
  for (const { meta } of appended) expect(meta.key).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.:@+/=-]{0,131}$/)
  return answer
}

const zeroSum = async () => {
  const { body } = await send(edge.app, { url: named('/api/groups/GROUP/balances'), token })
  for (const { members } of body.items) expect((members as readonly AnswerBody[]).reduce((sum, { net }) => sum + BigInt(String(net).replace('.', '')), 0n)).toBe(0n)
}

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary', maxLength: 40 }), fc.double(),
  fc.constantFrom('', ' ', '#', 'a#b', '__proto__', 'constructor', '\u0000', '\ud800', -0, -1, 0, 1e300, 1e30, 2 ** 53, '1e5', '0.1', '99999999999999999999', 'TON', 'XAU', null, [], {}, '1970-01-01T00:00:00Z', '9999-12-31'),
)

const GOOD: readonly (readonly [Sent['method'] & string, string, Readonly<Record<string, unknown>>])[] = [
  ['POST', '/api/groups', { title: 'X', currency: 'EUR', chatId: '-100', name: 'Ann', username: 'ann', avatarUrl: 'https://t.example/a.jpg' }],
  ['PATCH', '/api/groups/GROUP', { title: 'X' }],
  ['POST', '/api/groups/GROUP/join', { invitation: 'not-the-secret', name: 'Ann', username: 'ann' }],
  ['POST', '/api/groups/GROUP/invitations', { expiresInHours: 24 }],
  ['PUT', '/api/groups/GROUP/owner', { userId: '123' }],
  ['PUT', '/api/groups/GROUP/wallet', { wallet: 'EQabc' }],
  ['PUT', '/api/groups/GROUP/profile', { name: 'Ann' }],
  ['POST', '/api/groups/GROUP/expenses', { ...DINNER, currency: 'EUR', payerId: '123', splitType: 'exact', splits: [{ userId: '123', amount: 100 }], category: 'food', date: '2026-11-16' }],
  ['POST', '/api/groups/GROUP/expenses', { ...DINNER, splitType: 'shares', splits: [{ userId: '123', shares: 2 }, { userId: '456', shares: 1 }] }],
  ['PUT', '/api/groups/GROUP/expenses/EXPENSE', { ...DINNER, currency: 'EUR', revision: 1, reason: 'x', splitType: 'equal' }],
  ['POST', '/api/groups/GROUP/settlements', { toUserId: '456', amount: '1.00', currency: 'EUR', txHash: 'a1b2c3d4e5f60718293a4b5c6d7e8f90' }],
  ['PUT', '/api/groups/GROUP/settlements/SETTLEMENT', { status: 'completed', txHash: 'a1b2c3d4e5f60718293a4b5c6d7e8f90' }],
]

const mutation = fc.tuple(fc.constantFrom(...GOOD), fc.nat({ max: 8 }), junk, fc.boolean()).map(([[method, url, body], at, value, adds]) => {
  const fields = Object.keys(body)
  const name = adds ? 'more' : (fields[at % fields.length] ?? 'more')
  return { method, url, body: { ...body, [name]: value } }
})

const segment = fc.oneof(fc.constantFrom('GROUP', 'EXPENSE', 'SETTLEMENT', 'a#b', '+', '..', '%00', '123', '__proto__'), fc.string({ unit: 'grapheme', maxLength: 30 }))
const paths = [...new Set(expensesEdge.routes.map(({ url }) => url))]
const anywhere = fc.tuple(fc.constantFrom(...paths), fc.array(segment, { minLength: 3, maxLength: 3 }))
  .map(([url, segments]) => segments.reduce((path, one) => path.replace(/:[a-zA-Z]+/, encodeURIComponent(one)), url))

describe('any request is answered', () => {
  test('a body with anything changed is taken or refused, and balances stay zero-sum', async () => {
    await fc.assert(fc.asyncProperty(mutation, async ({ method, url, body }) => {
      await holds({ method, url: named(url), body })
    }), { numRuns: RUNS.mutated })
    await zeroSum()
  }, 300_000)

  test('any path is answered, and no key is built of what is none', async () => {
    const methods = fc.constantFrom('GET' as const, 'POST' as const, 'DELETE' as const, 'PUT' as const, 'PATCH' as const)
    const query = fc.dictionary(fc.constantFrom('limit', 'cursor', 'as-of', 'simplify', 'direction', 'format', 'x'), fc.oneof(fc.constantFrom('1', 'true', 'sent', '2026-11-16', '2026-11-16T00:00:00Z'), fc.string({ maxLength: 20 })), { maxKeys: 2, noNullPrototype: true })
    await fc.assert(fc.asyncProperty(anywhere, methods, query, async (path, method, search) => {
      await holds({ method, url: `${named(path)}?${new URLSearchParams(search).toString()}` })
    }), { numRuns: RUNS.anywhere })
    await zeroSum()
  }, 300_000)
})
