import { expect, test } from 'vitest'
import { advance } from '../../../processors/engine/advance.ts'
import { decidersOf, type Decider } from '../../../processors/engine/decide.ts'
import type { Log, NewRecord } from '../../../processors/engine/log.ts'
import { outboxOf } from '../../../processors/engine/outbox.ts'
import { startSender } from '../../../processors/engine/sender.ts'
import { startTimers, timerChanges } from '../../../processors/engine/timers.ts'
import { Fault } from '../../../schemas/fault.ts'
import { eventOf, heardOf, jsonCodec, ledger, paid } from './ledger.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'
import { virtualClock } from './virtual-clock.ts'

const [accounts] = decidersOf(ledger, { outbox: outboxOf(jsonCodec), timers: timerChanges(jsonCodec) }) as [Decider, Decider]
const move = (id: string) => eventOf('Moved', { to: 'b', amount: 5 }, { id })
const fold = (store: MemoryStore, events: Parameters<typeof heardOf>[0], first = 0) =>
  advance({ store, spans: [{ decider: accounts, key: 'a', heard: heardOf(events, first) }] })

const appending = (fail: () => boolean = () => false) => {
  const records: NewRecord[] = []
  const append: Log['append'] = async (more) => {
    if (fail()) throw new Fault('log-unavailable', 'The log is away.', { retriable: true })
    records.push(...more)
    return more.map((_, index) => ({ partition: 0, offset: records.length - more.length + index }))
  }
  return { records, log: { append } as Log, events: () => records.map(({ value }) => jsonCodec.decode(value)) }
}

const outbox = (store: MemoryStore) => [...store.items.values()].filter(({ PK }) => PK.startsWith('OUTBOX#'))

const sending = (store: MemoryStore, ledgerStore: MemoryStore, parts: { log: Log; from?: number; former?: readonly MemoryStore[] }) => {
  const clock = virtualClock()
  const failures: unknown[] = []
  const serving = async () => ({ store, from: new Map([[0, parts.from ?? 0]]), former: parts.former ?? [] })
  const sender = startSender({ log: parts.log, serving, ledger: ledgerStore, partitions: 1, clock, pollMs: 1_000, failed: (error) => failures.push(error) })
  return { clock, sender, failures }
}

test('a derived event is written in the same commit as its cause, then sent once and its row removed', async () => {
  const store = memoryStore()
  await fold(store, [move('m1')])
  expect(store.commits.flat().map((chunk) => chunk.length)).toEqual([2])
  const { log, events } = appending()
  const { clock, sender } = sending(store, memoryStore(), { log })
  await clock.pass(5_000)
  expect(events()).toMatchObject([{ type: 'Paid', meta: { key: 'b', source: 'derived', causationId: 'm1' }, data: { amount: 5, id: 'm1' } }])
  expect(outbox(store)).toEqual([])
  await sender.stop()
})

test('the id of a derived event depends on its cause alone, so a replay gives the same', async () => {
  const ids = await Promise.all([0, 50].map(async (first) => {
    const store = memoryStore()
    await fold(store, [move('m1')], first)
    return outbox(store)[0]?.['id']
  }))
  expect(ids[0]).toBe(ids[1])
})

test('what the ledger says was sent is not sent again by another generation', async () => {
  const sentBefore = memoryStore()
  const sent: number[] = []
  for (const store of [memoryStore(), memoryStore()]) {
    await fold(store, [move('m1')])
    const { log, records } = appending()
    const { clock, sender } = sending(store, sentBefore, { log })
    await clock.pass(2_000)
    await sender.stop()
    expect(outbox(store)).toEqual([])
    sent.push(records.length)
  }
  expect(sent).toEqual([1, 0])
  expect([...sentBefore.items.values()]).toMatchObject([{ state: 'sent' }])
})

test('a generation sends only what lies at or behind the position from which it serves', async () => {
  const store = memoryStore()
  await fold(store, [move('m1'), move('m2')])
  const { log, events } = appending()
  const { clock, sender } = sending(store, memoryStore(), { log, from: 1 })
  await clock.pass(2_000)
  await sender.stop()
  expect(events()).toMatchObject([{ data: { id: 'm2' } }])
  expect(outbox(store)).toEqual([])
})

test('what a former generation has not sent of the time before the flip is sent from its outbox, once', async () => {
  const [former, store] = [memoryStore(), memoryStore()]
  await fold(former, [move('m1'), move('m2')])
  await fold(store, [move('m1'), move('m2')])
  const { log, events } = appending()
  const { clock, sender } = sending(store, memoryStore(), { log, from: 1, former: [former] })
  await clock.pass(2_000)
  await sender.stop()
  expect(events()).toMatchObject([{ data: { id: 'm1' } }, { data: { id: 'm2' } }])
  expect([outbox(former).length, outbox(store).length]).toEqual([1, 0])
})

test('a log that is away is tried again, and nothing is lost', async () => {
  const store = memoryStore()
  await fold(store, [move('m1')])
  let away = true
  const { log, events } = appending(() => away)
  const { clock, sender, failures } = sending(store, memoryStore(), { log })
  await clock.pass(1_000)
  expect(failures.length).toBeGreaterThan(0)
  expect(outbox(store)).toHaveLength(1)
  away = false
  await clock.pass(10_000)
  expect(events()).toHaveLength(1)
  await sender.stop()
})

const timing = (store: MemoryStore, log: Log) => {
  const clock = virtualClock(0)
  const timers = startTimers({ log, store: async () => store, ledger: memoryStore(), partitions: 1, clock, pollMs: 100, failed: (error) => expect.unreachable(String(error)) })
  return { clock, timers }
}

test('a timer fires once, when it is due, as an event with a natural id', async () => {
  const store = memoryStore()
  await fold(store, [eventOf('Reminded', { at: 5_000 }, { id: 'r1' })])
  const { log, events } = appending()
  const { clock, timers } = timing(store, log)
  await clock.pass(4_500)
  expect(events()).toEqual([])
  await clock.pass(3_000)
  expect(events()).toMatchObject([{ type: 'Paid', meta: { key: 'a', occurredAt: 5_000, source: 'timer' } }])
  await timers.stop()
})

test('arming again under the same name replaces the timer; disarming removes it', async () => {
  const store = memoryStore()
  const armed = () => [...store.items.values()].filter(({ PK }) => PK.startsWith('TIMER#')).map(({ SK }) => SK.slice(0, 24))
  await fold(store, [eventOf('Reminded', { at: 5_000 }, { id: 'r1' }), eventOf('Reminded', { at: 9_000 }, { id: 'r2' })])
  expect(armed()).toEqual(['1970-01-01T00:00:09.000Z'])
  await fold(store, [eventOf('Reminded', { at: 9_000 }, { id: 'r3' })], 2)
  expect(armed()).toEqual(['1970-01-01T00:00:09.000Z'])
  await fold(store, [eventOf('Reminded', { at: null }, { id: 'r4' }), paid(1, 'p')], 3)
  expect(armed()).toEqual([])
})
