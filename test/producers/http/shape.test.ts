import { describe, expect, test } from 'vitest'
import { Problem } from '../../../producers/http/problem.ts'
import { drafts } from '../../../producers/http/drafts.ts'
import { listing } from '../../../producers/http/lists.ts'
import { pathId } from '../../../producers/http/path-id.ts'
import type { Call } from '../../../producers/http/route.ts'
import { integer, text, textOrNull } from '../../../producers/http/schemas.ts'
import { optional, shape } from '../../../producers/http/shape.ts'
import type { Event } from '../../../schemas/event.ts'

interface Item {
  readonly id: string
  readonly cents: number | bigint
  readonly name: string | null
  readonly note?: string
  readonly state: 'open' | 'closed'
  readonly secret: string
}

const ITEM: Item = { id: 'a', cents: 1050n, name: null, state: 'open', secret: 'x' }

const bill = shape<Item>()({
  id: text,
  name: { ...textOrNull, description: 'Null if the person was forgotten.' },
  note: optional(text),
  state: { type: 'string', enum: ['open', 'closed'] },
  amount: { ...text, from: ({ cents }) => String(cents) },
})

describe('a shape', () => {
  test('gives the schema: every field is required unless it is optional', () => {
    expect(bill.schema).toEqual({
      type: 'object',
      required: ['id', 'name', 'state', 'amount'],
      properties: {
        id: text,
        name: { type: ['string', 'null'], description: 'Null if the person was forgotten.' },
        note: text,
        state: { type: 'string', enum: ['open', 'closed'] },
        amount: text,
      },
    })
    expect(shape<Item>()({ note: optional(text) }).schema).toEqual({ type: 'object', properties: { note: text } })
  })

  test('gives the view: declared fields and no others, copied or computed', () => {
    expect(bill.view(ITEM)).toStrictEqual({ id: 'a', name: null, note: undefined, state: 'open', amount: '1050' })
    expect([ITEM, { ...ITEM, note: 'n' }].map(bill.view)).toMatchObject([{ id: 'a' }, { note: 'n' }])
  })

  test('passes further arguments of the view to computed fields, and takes over the fields of another shape', () => {
    const named = shape<Item, [names: ReadonlyMap<string, string>]>()({
      ...bill.fields,
      called: { ...text, from: ({ id }, names) => names.get(id) },
    })
    expect(named.view(ITEM, new Map([['a', 'Ada']]))).toMatchObject({ id: 'a', amount: '1050', called: 'Ada' })
    expect(named.schema.required).toEqual(['id', 'name', 'state', 'amount', 'called'])
  })

  test('does not compile with a field that does not fit the item', () => {
    const misfits = [
      // @ts-expect-error The item has no such property.
      shape<Item>()({ missing: text }).view,
      // @ts-expect-error The name can be null.
      shape<Item>()({ name: text }).view,
      // @ts-expect-error The note can be absent.
      shape<Item>()({ note: text }).view,
      // @ts-expect-error The cents can be a bigint.
      shape<Item>()({ cents: integer }).view,
      // @ts-expect-error The state has another value, too.
      shape<Item>()({ state: { type: 'string', enum: ['open'] } }).view,
    ]
    expect(misfits).toHaveLength(5)
  })
})

const callWith = (query: unknown, params: Readonly<Record<string, string>> = {}): Call =>
  ({ query, params }) as Partial<Call> as Call

describe('a listing', () => {
  const bills = listing({
    url: '/bills',
    operationId: 'listBills',
    summary: 'The bills.',
    query: { state: { type: 'string' }, since: { type: 'string' } },
    required: ['since'],
    of: bill,
    page: async ({ query: { since } }, { limit }) => ({
      items: [{ ...ITEM, note: `${since} ${limit}` }],
      cursor: 'next',
    }),
  })

  test('declares limit and cursor in addition to its own parameters, and a page of the shape as result', () => {
    expect(bills).toMatchObject({
      method: 'GET',
      query: {
        additionalProperties: false,
        required: ['since'],
        properties: { state: text, since: text, limit: { type: 'string' }, cursor: { type: 'string' } },
      },
      result: {
        required: ['items'],
        properties: { items: { type: 'array', items: bill.schema }, cursor: { type: 'string' } },
      },
    })
  })

  test('answers with the views of a page and its cursor', async () => {
    expect(await bills.answer(callWith({ since: '2026', limit: '7' }))).toEqual({
      items: [bill.view({ ...ITEM, note: '2026 7' })],
      cursor: 'next',
    })
    await expect(bills.answer(callWith({ since: '2026', limit: '0' }))).rejects.toMatchObject({ code: 'out-of-range' })
  })
})

test('a path id returns a valid id, and throws its problem for another', () => {
  const billOf = pathId(
    'bill',
    (id) => /^\w+$/.test(id),
    (id) => new Problem(404, 'bill-not-found', `There is no bill ${id}.`),
  )
  expect(billOf(callWith({}, { bill: 'b1' }))).toBe('b1')
  expect(() => billOf(callWith({}, { bill: '../b1' }))).toThrow('There is no bill ../b1.')
  expect(() => billOf(callWith({}))).toThrow('There is no bill .')
  expect(billOf.missing('b2')).toMatchObject({ status: 404, code: 'bill-not-found' })
})

test('a draft has the type and the data of one event, and its personal data if the event has any', () => {
  const event = drafts<
    | Event<'BillPaid', { readonly id: string }, never>
    | Event<'BillNoted', { readonly id: string }, { readonly note: string }>
  >()
  expect(event('BillPaid', { id: 'a' })).toEqual({ type: 'BillPaid', data: { id: 'a' }, personal: null })
  expect(event('BillNoted', { id: 'a' }, { note: 'n' })).toEqual({
    type: 'BillNoted',
    data: { id: 'a' },
    personal: { note: 'n' },
  })
  // @ts-expect-error The personal data is missing.
  expect(event('BillNoted', { id: 'a' })).toHaveProperty('personal', null)
  // @ts-expect-error The event has no personal data.
  expect(event('BillPaid', { id: 'a' }, { note: 'n' })).toHaveProperty('type')
})
