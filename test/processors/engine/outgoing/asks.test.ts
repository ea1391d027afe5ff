import { describe, expect, test } from 'vitest'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { decidersOf, type Decider } from '../../../../processors/engine/fold/decide.ts'
import { rowRulesOf } from '../../../../processors/engine/outgoing/row-rules.ts'
import type { Ask } from '../../../../projections/ask.ts'
import { isTombstone, type Value } from '../../../../projections/item.ts'
import type { Domain } from '../../../../projections/projection.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { eventOf, jsonCodec, ledger, logRecords } from '../ledger.ts'

const decider = (domain: Domain = ledger) => decidersOf(domain, rowRulesOf(domain, jsonCodec))[0] as Decider
const asked = (asks: readonly Ask[], id: string) => eventOf('Asked', { asks }, { id })
const foldIn = async (store = memoryStore(), events: Parameters<typeof logRecords>[0], first = 0, by = decider()) => {
  const results = await advance({ store, spans: [{ decider: by, key: 'a', events: logRecords(events, first) }] })
  const rows = [...store.items.values()].filter((item) => !isTombstone(item) && item.PK.startsWith('ASK#'))
  return { rows, poison: results[0]?.poison?.error, due: results[0]?.due }
}

const READ: Ask = { name: 'n', at: 5_000, kind: 'read' }

test('the row of an ask has its kind, body, queue and priority, and the event that asked', async () => {
  const { rows, due } = await foldIn(memoryStore(), [asked([{ ...READ, body: { of: 1 }, once: true }], 'e1')])
  expect(rows).toMatchObject([
    { PK: 'ASK#0#5', SK: '1970-01-01T00:00:05.000Z#a#n', kind: 'read', body: '{"of":1}', queue: 'a', cause: 'e1', once: true },
  ]) // prettier-ignore
  expect(due).toEqual({ fetcher: 5_000 })
})

test('an ask replaces the ask of the same name, also with another priority; `at: null` withdraws it', async () => {
  const store = memoryStore()
  await foldIn(store, [asked([READ], 'e1')])
  const { rows } = await foldIn(store, [asked([{ ...READ, at: 6_000, priority: 1 }], 'e2')], 1)
  expect(rows.map(({ PK, SK }) => [PK, SK])).toEqual([['ASK#0#1', '1970-01-01T00:00:06.000Z#a#n']])
  expect((await foldIn(store, [asked([{ name: 'n', at: null }], 'e3')], 2)).rows).toEqual([])
})

test('an event that is delivered again after its ask was withdrawn does not ask again', async () => {
  const store = memoryStore()
  const events = [asked([READ], 'e1'), asked([{ name: 'n', at: null }], 'e2')]
  await foldIn(store, events)
  const dump = store.dump()
  expect((await foldIn(store, events.slice(0, 1))).rows).toEqual([])
  expect(store.dump()).toEqual(dump)
})

describe('an ask that is not valid parks its key', () => {
  const list = { pk: 'P', prefix: '', answer: 'T', data: {} }
  const forget = { subject: 'a~part', answer: 'T', data: {} }
  const body = (kind: string, value: Value): Ask => ({ name: 'n', at: 0, kind, body: value })

  test.for<[string, Ask]>([
    ['an undeclared kind', { ...READ, kind: 'other' }],
    ['no kind', { name: 'n', at: 0 }],
    ['the name of an inherited property as its kind', { ...READ, kind: 'constructor' }],
    ['a time before 1970', { ...READ, at: -1 }],
    ['a priority above 9', { ...READ, priority: 10 }],
    ['a priority that is no integer', { ...READ, priority: 1.5 }],
    ['a list of more than 90 keys', body('list', { ...list, limit: 91 })],
    ['a list without a partition', body('list', { ...list, pk: null })],
    ['a person to forget who is not the log key', body('forget', { ...forget, subject: 'b' })],
    ['a person to forget whose id begins with the log key', body('forget', { ...forget, subject: 'ab~part' })],
  ])('%s', async ([, ask]) => {
    expect((await foldIn(memoryStore(), [asked([ask], 'e1')])).poison).toMatchObject({ code: 'bad-ask' })
  })

  test('any ask of a domain that declares no asks', async () => {
    const { asks: _, ...domain } = ledger
    const { poison } = await foldIn(memoryStore(), [asked([body('list', list)], 'e1')], 0, decider(domain))
    expect(poison).toMatchObject({ code: 'bad-ask' })
  })

  test('a valid list and a valid person to forget are stored', async () => {
    const { rows } = await foldIn(memoryStore(), [
      asked([body('list', list), { ...body('forget', forget), name: 'm' }], 'e1'),
    ])
    expect(rows.map(({ kind, changes }) => [kind, changes])).toEqual([['list', undefined], ['forget', true]]) // prettier-ignore
  })
})
