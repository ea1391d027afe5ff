import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../person.ts'
import { openGroupOfThree } from './group-of-three.ts'

let setup: Awaited<ReturnType<typeof openGroupOfThree>>
let ann: Person
let other: string

beforeAll(async () => {
  setup = await openGroupOfThree()
  ann = setup.ann
  await setup.cyd.sendCommand('POST', `${setup.group}/leave`)
  other = (await setup.bob.sendCommand('POST', '/api/groups', { title: 'Other' })).body.id
})
afterAll(() => setup.edge.app.close())

const expenseBody = (more: object) => ({ amount: 100, description: 'Dinner', ...more })
const exact = (...amounts: readonly unknown[]) =>
  expenseBody({ splitType: 'exact', splits: amounts.map((amount, at) => ({ userId: ['123', '456'][at], amount })) })
const percent = (...points: readonly unknown[]) =>
  expenseBody({
    splitType: 'percentage',
    splits: points.map((percentage, at) => ({ userId: ['123', '456'][at], percentage })),
  })

const WRONG: readonly (readonly [string, number, string, string, object])[] = [
  ['nothing', 400, 'missing-field', '/amount', {}],
  ['zero', 400, 'amount-invalid', '/amount', expenseBody({ amount: 0 })],
  ['zero as text', 400, 'amount-invalid', '/amount', expenseBody({ amount: '0.00' })],
  ['less than zero', 400, 'amount-invalid', '/amount', expenseBody({ amount: -1 })],
  ['less than zero as text', 400, 'amount-invalid', '/amount', expenseBody({ amount: '-0.01' })],
  ['10^30', 400, 'amount-invalid', '/amount', expenseBody({ amount: 1e30 })],
  ['10^30 as text', 400, 'amount-invalid', '/amount', expenseBody({ amount: `1${'0'.repeat(30)}` })],
  ['more than may be', 400, 'amount-invalid', '/amount', expenseBody({ amount: '10000000000000000.01' })],
  ['more decimals than the currency has', 400, 'amount-invalid', '/amount', expenseBody({ amount: 0.001 })],
  [
    'decimals of a currency without',
    400,
    'amount-invalid',
    '/amount',
    expenseBody({ amount: '10.5', currency: 'JPY' }),
  ],
  ['ten decimals of TON', 400, 'amount-invalid', '/amount', expenseBody({ amount: '0.0000000001', currency: 'TON' })],
  ['a number that no double holds', 400, 'amount-invalid', '/amount', expenseBody({ amount: 9007199254740993 })],
  ['text that is no number', 400, 'amount-invalid', '/amount', expenseBody({ amount: '1e3' })],
  ['a comma', 400, 'amount-invalid', '/amount', expenseBody({ amount: '10,50' })],
  ['a list', 400, 'wrong-type', '/amount', expenseBody({ amount: [1] })],
  ['an unknown currency', 400, 'currency-unknown', '/currency', expenseBody({ currency: 'XXX' })],
  ['a currency in small letters', 400, 'currency-unknown', '/currency', expenseBody({ currency: 'eur' })],
  ['no words', 400, 'too-short', '/description', expenseBody({ description: '' })],
  ['blank words', 400, 'bad-format', '/description', expenseBody({ description: ' ' })],
  ['an unknown field', 400, 'unknown-field', '/payer', expenseBody({ payer: '123' })],
  ['an unknown type of split', 400, 'not-allowed', '/splitType', expenseBody({ splitType: 'random' })],
  ['no splits where they are needed', 400, 'missing-field', '/splits', expenseBody({ splitType: 'exact' })],
  ['nobody to bear it', 400, 'too-few', '/splits', expenseBody({ splits: [] })],
  ['parts below the amount', 400, 'splits-mismatch', '/splits', exact(50, 49.99)],
  ['parts above the amount', 400, 'splits-mismatch', '/splits', exact('50', '50.01')],
  ['a negative part', 400, 'amount-invalid', '/splits/1/amount', exact(101, -1)],
  ['a part of too many decimals', 400, 'amount-invalid', '/splits/0/amount', exact(50.001, 49.999)],
  ['no part', 400, 'missing-field', '/splits/1/amount', exact(100, undefined)],
  ['a percentage over 100', 400, 'out-of-range', '/splits/0/percentage', percent(101, 0)],
  ['a negative percentage', 400, 'out-of-range', '/splits/1/percentage', percent(100, -1)],
  ['percentages that sum up to more', 400, 'splits-mismatch', '/splits', percent(60, 60)],
  ['percentages that sum up to less', 400, 'splits-mismatch', '/splits', percent(33.33, 33.33)],
  ['a percentage with three decimals', 400, 'percentage-invalid', '/splits/0/percentage', percent(33.333, 66.667)],
  [
    'no shares',
    400,
    'out-of-range',
    '/splits/0/shares',
    expenseBody({ splitType: 'shares', splits: [{ userId: '123', shares: 0 }] }),
  ],
  [
    'broken shares',
    400,
    'wrong-type',
    '/splits/0/shares',
    expenseBody({ splitType: 'shares', splits: [{ userId: '123', shares: 1.5 }] }),
  ],
  [
    'an amount in an equal split',
    400,
    'unknown-field',
    '/splits/0/amount',
    expenseBody({ splits: [{ userId: '123', amount: 100 }] }),
  ],
  [
    'a person twice',
    400,
    'duplicate-entry',
    '/splits/1/userId',
    expenseBody({ splits: [{ userId: '123' }, { userId: '123' }] }),
  ],
  ['an unknown payer', 409, 'member-unknown', '/payerId', expenseBody({ payerId: '999' })],
  [
    'an unknown member',
    409,
    'member-unknown',
    '/splits/1/userId',
    expenseBody({ splits: [{ userId: '123' }, { userId: 'constructor' }] }),
  ],
  ['a payer who left', 409, 'member-left', '/payerId', expenseBody({ payerId: '789' })],
  [
    'a member who left',
    409,
    'member-left',
    '/splits/1/userId',
    expenseBody({ splits: [{ userId: '123' }, { userId: '789' }] }),
  ],
  ['a name that is no id', 400, 'bad-format', '/payerId', expenseBody({ payerId: 'a#b' })],
  ['a day that no calendar has', 400, 'bad-date', '/date', expenseBody({ date: '2026-02-30' })],
  ['a time without a zone', 400, 'bad-instant', '/date', expenseBody({ date: '2026-11-16T12:00:00' })],
]

describe('E30: an invalid expense is rejected with a pointer, and the log has no event of it', () => {
  test.each(WRONG)('%s', async (_name, status, code, field, body) => {
    const before = setup.edge.events.length
    const answer = await ann.sendCommand('POST', `${setup.group}/expenses`, body)
    expect(answer).toMatchObject({ status, body: { code, field, detail: expect.stringContaining('.') } })
    expect(setup.edge.events.slice(before).map(({ type }) => type)).not.toContain('ExpenseRecorded')
  })
})

const paid = (more: object) => ({ toUserId: '456', amount: 10, currency: 'EUR', ...more })

describe('E34: an invalid settlement is rejected with a pointer', () => {
  test.each([
    ['no currency', 400, 'missing-field', '/currency', { toUserId: '456', amount: 10 }],
    ['an unknown currency', 400, 'currency-unknown', '/currency', paid({ currency: 'ABC' })],
    ['nothing', 400, 'amount-invalid', '/amount', paid({ amount: 0 })],
    ['less than nothing', 400, 'amount-invalid', '/amount', paid({ amount: '-5' })],
    ['10^30', 400, 'amount-invalid', '/amount', paid({ amount: 1e30 })],
    ['oneself', 409, 'settlement-to-self', '/toUserId', paid({ toUserId: '123' })],
    ['a stranger', 409, 'member-unknown', '/toUserId', paid({ toUserId: '999' })],
    ['between others', 403, 'party-only', '/fromUserId', paid({ fromUserId: '789' })],
    ['a hash that is none', 400, 'bad-format', '/txHash', paid({ txHash: 'not a hash at all' })],
    ['a status', 400, 'unknown-field', '/status', paid({ status: 'completed' })],
  ])('%s', async (_name, status, code, field, body) => {
    expect(await ann.sendCommand('POST', `${setup.group}/settlements`, body)).toMatchObject({
      status,
      body: { code, field },
    })
  })
})

test.each([1e19, 1e30, 1e300, `1${'0'.repeat(30)}`])('the rejection of %s names the maximum', async (amount) =>
  expect((await ann.sendCommand('POST', `${setup.group}/expenses`, expenseBody({ amount }))).body['detail']).toContain(
    'at most 10000000000000000.00 EUR',
  ),
)

test('a revision needs a revision number', async () => {
  const {
    body: { id },
  } = await ann.sendCommand('POST', `${setup.group}/expenses`, expenseBody({}))
  for (const [body, field, code] of [
    [expenseBody({}), '/revision', 'missing-field'],
    [expenseBody({ revision: 0 }), '/revision', 'out-of-range'],
    [expenseBody({ revision: '1' }), '/revision', 'wrong-type'],
    [expenseBody({ revision: 1, date: '2026-11-31' }), '/date', 'bad-date'],
    [expenseBody({ revision: 1, amount: 0 }), '/amount', 'amount-invalid'],
    [{ revision: 1, amount: 5 }, '/description', 'missing-field'],
  ] as const) {
    expect(await ann.sendCommand('PUT', `${setup.group}/expenses/${id}`, body), JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { field, code },
    })
  }
})

test("another group's ids in the path find nothing", async () => {
  const {
    body: { id: expense },
  } = await ann.sendCommand('POST', `${setup.group}/expenses`, expenseBody({}))
  const {
    body: { id: settlement },
  } = await ann.sendCommand('POST', `${setup.group}/settlements`, paid({}))
  const bob = setup.bob
  for (const path of [`expenses/${expense}`, `expenses/${expense}/history`])
    expect(await bob.getPath(`/api/groups/${other}/${path}`)).toMatchObject({
      status: 404,
      body: { code: 'expense-not-found' },
    })
  expect(await bob.getPath(`/api/groups/${other}/settlements/${settlement}`)).toMatchObject({
    status: 404,
    body: { code: 'settlement-not-found' },
  })
  expect(
    await bob.sendCommand('PUT', `/api/groups/${other}/settlements/${settlement}`, { status: 'completed' }),
  ).toMatchObject({ status: 404, body: { code: 'settlement-not-found' } })
  expect(await bob.sendCommand('POST', `/api/groups/${other}/expenses/${expense}/restore`)).toMatchObject({
    status: 404,
    body: { code: 'expense-not-found' },
  })
})
