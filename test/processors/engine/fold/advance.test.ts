import { expect, test } from 'vitest'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { keyOf, type Stored } from '../../../../projections/item.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { accountKey, accounts, eventOf, heardOf, paid, paymentKey } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'

const span = (events: Parameters<typeof heardOf>[0], first = 0) => ({
  decider: accounts,
  key: 'a',
  events: heardOf(events, first),
})
const total = (store: MemoryStore) => store.items.get(keyOf(accountKey('a')))

test('a burst of one key is written once per item', async () => {
  const store = memoryStore()
  const events = Array.from({ length: 30 }, (_, index) => paid(1, `p${index}`))
  await advance({ store, spans: [span(events)] })
  expect(total(store)).toMatchObject({ total: 30, _pos: 29 })
  expect(store.commits.flat()).toHaveLength(1)
  expect(store.commits.flat(2)).toHaveLength(31)
})

test('the missing items of all keys are loaded in one batch, then the folds run again', async () => {
  const store = memoryStore()
  const other = { decider: accounts, key: 'b', events: heardOf([paid(2, 'q', { key: 'b' })], 7) }
  await advance({ store, spans: [span([paid(1, 'p')]), other] })
  expect(store.loads).toEqual([4])
})

test('a commit is a prefix of whole events: a burst above 100 items is cut before the event that would exceed them', async () => {
  const store = memoryStore()
  const tall = eventOf('Spread', { count: 90 }, { id: 'tall' })
  const some = (name: string, count: number) => Array.from({ length: count }, (_, index) => paid(1, `${name}${index}`))
  await advance({ store, spans: [span([...some('x', 4), tall, ...some('y', 12)])] })
  expect(store.commits.flat().map((chunk) => chunk.length)).toEqual([100, 8])
  expect(total(store)).toMatchObject({ total: 16 })
})

test('a commit stays under 4 MB', async () => {
  const store = memoryStore()
  const large = (id: string) => eventOf('Spread', { count: 12, text: 'x'.repeat(200_000) }, { id })
  const heavier = eventOf('Spread', { count: 20, text: 'y'.repeat(200_000) }, { id: 'heavier' })
  await advance({ store, spans: [span([large('one'), heavier])] })
  expect(store.commits.flat().map((chunk) => chunk.length)).toEqual([12, 20])
})

test('an event that alone needs more than 95 changes is refused by the engine', async () => {
  const store = memoryStore()
  const [result] = await advance({
    store,
    spans: [span([eventOf('Spread', { count: 96 }, { id: 'wide' }), paid(1, 'p')])],
  })
  expect(result?.outcomes).toMatchObject([
    { kind: 'refused', refusal: { code: 'too-many-changes' } },
    { kind: 'applied' },
  ])
  expect(total(store)).toMatchObject({ total: 1 })
})

test('events that the items show as applied are skipped whole', async () => {
  const store = memoryStore()
  const events = [paid(1, 'p'), paid(2, 'q')]
  await advance({ store, spans: [span(events)] })
  const before = store.dump()
  const [again] = await advance({ store, spans: [span([...events, paid(4, 'r')])] })
  expect(again?.outcomes).toEqual([undefined, undefined, { kind: 'applied' }])
  expect(total(store)).toMatchObject({ total: 7, _pos: 2 })
  expect(before).toHaveLength(3)
})

test('if another writer has changed the items, the events are folded again from the stored items', async () => {
  const store = memoryStore()
  const events = [paid(1, 'p'), paid(2, 'q')]
  const ahead = memoryStore()
  await advance({ store: ahead, spans: [span(events.slice(0, 1))] })
  store.interrupt(() => ahead.items.forEach((item, id) => store.items.set(id, item)))
  let conflicts = 0
  const [result] = await advance({ store, spans: [span(events)], conflicted: () => (conflicts += 1) })
  expect(conflicts).toBe(1)
  expect(result?.outcomes).toMatchObject([{ kind: 'applied' }, { kind: 'applied' }])
  expect(total(store)).toMatchObject({ total: 3, _pos: 1 })
})

test('a zombie that continues after the owner finds all events applied and changes nothing', async () => {
  const store = memoryStore()
  const events = [paid(1, 'p'), paid(2, 'q'), paid(3, 'r')]
  const owner = memoryStore()
  await advance({ store: owner, spans: [span(events)] })
  store.interrupt(() => owner.items.forEach((item, id) => store.items.set(id, item)))
  await advance({ store, spans: [span(events.slice(0, 2))] })
  expect(store.dump()).toEqual(owner.dump())
})

test('a refusal writes an outcome row and is not decided again when the event is delivered again', async () => {
  const store = memoryStore()
  const events = [paid(-5, 'p'), paid(10, 'q')]
  await advance({ store, spans: [span(events)] })
  const before = store.dump()
  await advance({ store, spans: [span(events)] })
  expect(store.dump()).toEqual(before)
  expect(store.items.get(keyOf({ PK: 'OUTCOME#0#0', SK: 'OUTCOME' }))).toMatchObject({
    kind: 'refused',
    code: 'overdrawn',
  })
})

test('the same Idempotency-Key and body gives the first outcome, and another body is refused', async () => {
  const store = memoryStore()
  const request = { key: 'k1', hash: 'h1' }
  const first = paid(5, 'p', { request })
  const again = paid(5, 'p2', { request })
  const other = paid(6, 'p3', { request: { key: 'k1', hash: 'h2' } })
  const late = paid(7, 'p4', { request: { key: 'k1', hash: 'h2' }, at: 1_000 + 25 * 60 * 60 * 1000 })
  const [result] = await advance({ store, spans: [span([first, again, other, late])] })
  expect(result?.outcomes).toMatchObject([
    { kind: 'applied' },
    { kind: 'duplicate', of: 'event-p' },
    { kind: 'refused', refusal: { code: 'idempotency-key-reused' } },
    { kind: 'applied' },
  ])
  expect(total(store)).toMatchObject({ total: 12 })
})

test('a repeated refused command gets the same refusal, although the state has changed', async () => {
  const store = memoryStore()
  const request = { key: 'k1', hash: 'h1' }
  const [result] = await advance({
    store,
    spans: [span([paid(-5, 'p', { request }), paid(10, 'q'), paid(-5, 'p2', { request })])],
  })
  expect(result?.outcomes[2]).toMatchObject({ kind: 'refused', refusal: { code: 'overdrawn' } })
  expect(total(store)).toMatchObject({ total: 10 })
})

test('if a fold throws, its span is poisoned at that event, and the events before it are stored', async () => {
  const store = memoryStore()
  const [result] = await advance({
    store,
    spans: [span([paid(1, 'p'), eventOf('Broke', {}, { id: 'b' }), paid(2, 'q')])],
    checkpoint: { partition: 0, from: 0, offset: 3 },
  })
  expect(result?.poison?.logged.offset).toBe(1)
  expect(result?.outcomes).toEqual([{ kind: 'applied' }])
  expect(total(store)).toMatchObject({ total: 1 })
  expect((await store.checkpoints()).size).toBe(0)
})

test('an item above 400 KB is poison with its own code, and is not retried', async () => {
  const store = memoryStore()
  const [result] = await advance({
    store,
    spans: [span([eventOf('Spread', { count: 1, text: 'x'.repeat(420_000) }, { id: 'l' })])],
  })
  expect(isFault(result?.poison?.error, 'item-too-large')).toBe(true)
})

test('a redelivered event does not restore a removed item', async () => {
  const store = memoryStore()
  const events = [paid(1, 'p'), eventOf('Closed', {}, { id: 'c' })]
  await advance({ store, spans: [span(events)] })
  await advance({ store, spans: [span(events)] })
  expect(total(store)).toMatchObject({ _removed: true, _pos: 1 })
  expect(await store.reader(() => 0).get(accountKey('a'))).toBeUndefined()
  expect(store.items.get(keyOf(paymentKey('a', 'p')))).toMatchObject({ amount: 1 } satisfies Partial<Stored>)
})
