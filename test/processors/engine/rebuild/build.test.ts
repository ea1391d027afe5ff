import { expect, test } from 'vitest'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import type { Event } from '../../../../schemas/event.ts'
import { jsonPacking } from '../../../../simulation/json-packing.ts'
import { accounts, activity, eventOf, heardOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'
import type { UnsentEvents } from '../../../../processors/engine/generations/generation.ts'

const packing = jsonPacking()

const recordsOf = (events: readonly Event[]): readonly LogRecord[] =>
  events.map((event, offset) => ({
    partition: 0,
    offset,
    timestamp: 0,
    key: event.meta.key,
    value: jsonCodec.encode(event),
  }))

const buildOf = async (events: readonly Event[], workingSet = 2, unsent: readonly UnsentEvents[] = []) => {
  const store = memoryStore()
  const records = recordsOf(events)
  const read = async function* (_: number, from: number, to = records.length) {
    for (let at = from; at < to; at += 3) yield records.slice(at, Math.min(at + 3, to))
  }
  const built = await build({
    domain: ledger,
    log: { read },
    codec: jsonCodec,
    target: memoryTarget(store, packing),
    ends: new Map([[0, events.length]]),
    workingSet,
    unsent,
  })
  return { store, built }
}

const liveOf = async (events: readonly Event[]) => {
  const store = memoryStore()
  const spans = [accounts, activity].map((decider) => ({
    decider,
    key: 'a',
    events: heardOf(events).filter(({ event }) => decider.projection.folds[event.type] !== undefined),
  }))
  await advance({ store, spans })
  return store
}

const payments = Array.from({ length: 40 }, (_, index) => paid(index % 7 === 3 ? -5 : 3, `p${index % 30}`))

test('a build that flushes after every few items gives the same bytes as live folding', async () => {
  const { store, built } = await buildOf(payments)
  expect(store.dump()).toEqual((await liveOf(payments)).dump())
  expect(built).toMatchObject({ events: 40, parked: [] })
  expect(await store.checkpoints()).toEqual(new Map([[0, 40]]))
})

test('the result of a build does not depend on the size of its memory', async () => {
  const small = await buildOf(payments, 1)
  const large = await buildOf(payments, 10_000)
  expect(small.store.dump()).toEqual(large.store.dump())
})

test('an item above 400 KB parks its key in a build as it does live, and its event changes nothing', async () => {
  const events = [
    paid(1, 'p'),
    eventOf('Spread', { count: 2, text: 'x'.repeat(420_000) }, { id: 'large' }),
    paid(2, 'q'),
  ]
  const { store, built } = await buildOf(events)
  expect(built.parked).toMatchObject([{ code: 'item-too-large', key: 'a', offset: 1 }])
  expect([...store.items.values()].filter(({ SK }) => SK.startsWith('ROW#'))).toEqual([])
})

test('a build sends nothing', async () => {
  const { store } = await buildOf([paid(9, 'p'), eventOf('Moved', { to: 'b', amount: 4 }, { id: 'm' })])
  expect([...store.items.keys()].filter((id) => id.startsWith('OUTBOX#'))).toEqual([])
})

test('a build writes outbox rows only for keys that are parked in the serving generation, from the parked event on', async () => {
  const move = (id: string, key: string) => eventOf('Moved', { to: 'c', amount: 1 }, { id, key })
  const events = [move('m0', 'a'), move('m1', 'a'), move('m2', 'b'), move('m3', 'a')]
  const rows = async (owed: readonly UnsentEvents[]) =>
    [...(await buildOf(events, 2, owed)).store.items.values()]
      .filter(({ PK }) => PK.startsWith('OUTBOX#'))
      .map(({ _pos }) => _pos)
  expect(await rows([])).toEqual([])
  expect(await rows([{ projection: 'accounts', key: 'a', offset: 1 }])).toEqual([1, 3])
  expect(await rows([{ projection: '*', key: 'b', offset: 0 }])).toEqual([2])
  expect(await rows([{ projection: 'activity', key: 'a', offset: 0 }])).toEqual([])
  expect(await rows([{ projection: '*', key: null, partition: 0, offset: 1 }])).toEqual([1, 2, 3])
  expect(await rows([{ projection: '*', key: null, partition: 1, offset: 1 }])).toEqual([])
})
