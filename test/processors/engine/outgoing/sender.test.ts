import { expect, test } from 'vitest'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { decidersOf, type Decider } from '../../../../processors/engine/fold/decide.ts'
import type { Log, NewRecord } from '../../../../processors/engine/ports/log.ts'
import { createLedger } from '../../../../processors/engine/outgoing/ledger.ts'
import { startSender } from '../../../../processors/engine/outgoing/sender.ts'
import type { ServingPeriod } from '../../../../processors/engine/outgoing/serving-periods.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { eventOf, logRecords, jsonCodec, ledger } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'
import { rowRulesOf } from '../../../../processors/engine/outgoing/row-rules.ts'

const [accounts] = decidersOf(ledger, rowRulesOf(ledger, jsonCodec)) as [Decider, Decider]
const move = (id: string) => eventOf('Moved', { to: 'b', amount: 5 }, { id })
const fold = (store: MemoryStore, events: Parameters<typeof logRecords>[0], first = 0) =>
  advance({ store, spans: [{ decider: accounts, key: 'a', events: logRecords(events, first) }] })

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

interface Sending {
  readonly log: Log
  readonly periods?: readonly ServingPeriod[]
  /** The stores of the generations, from generation 1 on. */
  readonly stores: readonly MemoryStore[]
  readonly processName?: string
}

const turn = (generation: number, from: number, parked: Readonly<Record<string, number>> = {}): ServingPeriod => ({
  generation,
  from: new Map([[0, from]]),
  parked: new Map(Object.entries(parked)),
})

const sending = (ledgerStore: MemoryStore, { log, periods = [turn(1, 0)], stores, processName = 'a' }: Sending) => {
  const clock = virtualClock()
  const failures: unknown[] = []
  const sendingGenerations = async () => ({
    periods,
    generations: stores.map((store, index) => ({ generation: index + 1, store })),
  })
  const sender = startSender({
    log,
    sendingGenerations,
    partitions: 1,
    ttl: 'ttl',
    clock,
    pollMs: 1_000,
    failed: (error) => failures.push(error),
    ledger: createLedger({ store: ledgerStore, clock, processName }),
  })
  return { clock, sender, failures }
}

test('a derived event is written in the same commit as its cause, then sent once and its row removed', async () => {
  const store = memoryStore()
  await fold(store, [move('m1')])
  expect(store.commits.flat().map((chunk) => chunk.length)).toEqual([2])
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), { log, stores: [store] })
  await clock.pass(5_000)
  expect(events()).toMatchObject([
    { type: 'Paid', meta: { key: 'b', source: 'derived', causationId: 'm1' }, data: { amount: 5, id: 'm1' } },
  ])
  expect(outbox(store)).toEqual([])
  await sender.stop()
})

test('the position of a derived event is stored under its cause, also by the process that takes over and in the other generation', async () => {
  const [ledgerStore, stores] = [memoryStore(), [memoryStore(), memoryStore()]]
  for (const store of stores) await fold(store, [move('m1')], 7)
  const positionsIn = (store: MemoryStore | undefined) =>
    [...(store?.items.values() ?? [])].filter(({ PK }) => PK.startsWith('DERIVED#'))
  const { log } = appending()
  const first = sending(ledgerStore, { log, stores })
  await first.clock.pass(5_000)
  await first.sender.stop()
  for (const store of stores) expect(positionsIn(store)).toMatchObject([{ PK: 'DERIVED#0#7', partition: 0, offset: 0 }])
  const later = memoryStore()
  await fold(later, [move('m1')], 7)
  const second = sending(ledgerStore, { log, stores: [later], processName: 'b' })
  await second.clock.pass(5_000)
  await second.sender.stop()
  expect(outbox(later)).toEqual([])
  expect(positionsIn(later)).toMatchObject([{ PK: 'DERIVED#0#7', partition: 0, offset: 0 }])
})

test('the id of a derived event depends on its cause alone, so a replay gives the same id', async () => {
  const ids = await Promise.all(
    [0, 50].map(async (first) => {
      const store = memoryStore()
      await fold(store, [move('m1')], first)
      return outbox(store)[0]?.['id']
    }),
  )
  expect(ids[0]).toBe(ids[1])
})

test('an event that the ledger records as sent is not sent again by another generation', async () => {
  const sentBefore = memoryStore()
  const sent: number[] = []
  for (const store of [memoryStore(), memoryStore()]) {
    await fold(store, [move('m1')])
    const { log, records } = appending()
    const { clock, sender } = sending(sentBefore, { log, stores: [store] })
    await clock.pass(2_000)
    await sender.stop()
    expect(outbox(store)).toEqual([])
    sent.push(records.length)
  }
  expect(sent).toEqual([1, 0])
  expect([...sentBefore.items.values()]).toMatchObject([{ state: 'sent' }])
})

test('a generation sends only events from the position on from which it serves', async () => {
  const store = memoryStore()
  await fold(store, [move('m1'), move('m2')])
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), {
    log,
    periods: [turn(2, 1), turn(1, 0)],
    stores: [memoryStore(), store],
  })
  await clock.pass(2_000)
  await sender.stop()
  expect(events()).toMatchObject([{ data: { id: 'm2' } }])
  expect(outbox(store)).toEqual([])
})

test('events from before a flip that the earlier generation has not sent are sent from its outbox, once', async () => {
  const [former, store] = [memoryStore(), memoryStore()]
  await fold(former, [move('m1'), move('m2')])
  await fold(store, [move('m1'), move('m2')])
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), { log, periods: [turn(2, 1), turn(1, 0)], stores: [former, store] })
  await clock.pass(2_000)
  await sender.stop()
  expect(events()).toMatchObject([{ data: { id: 'm1' } }, { data: { id: 'm2' } }])
  expect([outbox(former).length, outbox(store).length]).toEqual([0, 0])
})

test('after a flip and a flip back each generation sends the events of its own periods, and none is left', async () => {
  const stores = [memoryStore(), memoryStore()]
  for (const store of stores) await fold(store, ['m0', 'm1', 'm2', 'm3'].map(move))
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), { log, periods: [turn(1, 3), turn(2, 1), turn(1, 0)], stores })
  await clock.pass(2_000)
  await sender.stop()
  expect(
    events()
      .map(({ meta }) => meta.causationId)
      .sort(),
  ).toEqual(['m0', 'm1', 'm2', 'm3'])
  expect(stores.map((store) => outbox(store).length)).toEqual([0, 0])
})

test('a generation that only follows keeps rows that the serving one has not sent yet', async () => {
  const [serving, next] = [memoryStore(), memoryStore()]
  await fold(serving, [move('m1')])
  await fold(next, [move('m1'), move('m2')])
  const { log } = appending()
  const { clock, sender } = sending(memoryStore(), { log, stores: [serving, next] })
  await clock.pass(2_000)
  await sender.stop()
  expect([outbox(serving).length, outbox(next).map(({ _pos }) => _pos)]).toEqual([0, [1]])
})

test('for a key that was parked in the earlier generation, the next one sends from the parked event on', async () => {
  const [former, store] = [memoryStore(), memoryStore()]
  await fold(former, [move('m0')])
  await fold(store, ['m0', 'm1', 'm2', 'm3'].map(move))
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), {
    log,
    periods: [turn(2, 3, { 'accounts#a': 1 }), turn(1, 0)],
    stores: [former, store],
  })
  await clock.pass(2_000)
  await sender.stop()
  expect(
    events()
      .map(({ meta }) => meta.causationId)
      .sort(),
  ).toEqual(['m0', 'm1', 'm2', 'm3'])
  expect([outbox(former).length, outbox(store).length]).toEqual([0, 0])
})

test('if the ledger did not answer, the next attempt records the appended event and does not append it again', async () => {
  const [store, ledgerStore] = [memoryStore(), memoryStore()]
  await fold(store, [move('m1')])
  const { log, events } = appending(() => {
    ledgerStore.interrupt(() => {
      throw new Fault('store-throttled', 'Not now.', { retriable: true })
    })
    return false
  })
  const { clock, sender } = sending(ledgerStore, { log, stores: [store] })
  await clock.pass(5_000)
  await sender.stop()
  expect(events()).toHaveLength(1)
  expect(outbox(store)).toEqual([])
  expect([...ledgerStore.items.values()]).toMatchObject([{ state: 'sent', position: { partition: 0, offset: 0 } }])
})

test('an event that is too large for the log is reported and waits with the later events of its key; other events are sent', async () => {
  const store = memoryStore()
  await fold(store, ['m1', 'm2'].map(move))
  await advance({
    store,
    spans: [
      {
        decider: accounts,
        key: 'c',
        events: logRecords([eventOf('Moved', { to: 'b', amount: 5 }, { id: 'm3', key: 'c' })], 2),
      },
    ],
  })
  const { log, events } = appending()
  let isSmall = true
  const append: Log['append'] = async (records) => {
    if (isSmall && jsonCodec.decode((records[0] as NewRecord).value).meta.causationId === 'm1')
      throw new Fault('record-too-large', 'Too large.')
    return log.append(records)
  }
  const { clock, sender, failures } = sending(memoryStore(), { log: { ...log, append }, stores: [store] })
  await clock.pass(3_000)
  expect(events().map(({ meta }) => meta.causationId)).toEqual(['m3'])
  expect(failures[0]).toMatchObject({ code: 'record-too-large' })
  isSmall = false
  await clock.pass(3_000)
  await sender.stop()
  expect(events().map(({ meta }) => meta.causationId)).toEqual(['m3', 'm1', 'm2'])
  expect(outbox(store)).toEqual([])
})

test('a row that an earlier release stored for an effect stays, and nothing is appended for it', async () => {
  const store = memoryStore()
  const effect = {
    PK: 'OUTBOX#0',
    SK: '0000000000000000#accounts#00',
    id: 'e1',
    kind: 'effect',
    key: 'a',
    projection: 'accounts',
    cause: 'a',
    value: '{"kind":"letter","body":{}}',
    _pos: 0,
  }
  await store.bulk([effect])
  await fold(store, [move('m1')], 1)
  const { log, events } = appending()
  const { clock, sender } = sending(memoryStore(), { log, stores: [store] })
  await clock.pass(3_000)
  await sender.stop()
  expect(events()).toMatchObject([{ type: 'Paid' }])
  expect(outbox(store)).toEqual([effect])
})

test('a generation that served before and whose table was deleted is reported, and does not delay the serving one', async () => {
  const [lost, store] = [memoryStore(), memoryStore()]
  await fold(store, [move('m1')])
  const missing = new Fault('table-missing', 'It was deleted.', { retriable: true })
  const query = async () => Promise.reject(missing)
  const { log, events } = appending()
  const { clock, sender, failures } = sending(memoryStore(), {
    log,
    periods: [turn(2, 0), turn(1, 0)],
    stores: [{ ...lost, reader: (now) => ({ ...lost.reader(now), query }) }, store],
  })
  await clock.pass(3_000)
  await sender.stop()
  expect(events()).toMatchObject([{ type: 'Paid' }])
  expect(failures[0]).toBe(missing)
})

test('an append to an unavailable log is retried, and nothing is lost', async () => {
  const store = memoryStore()
  await fold(store, [move('m1')])
  let away = true
  const { log, events } = appending(() => away)
  const { clock, sender, failures } = sending(memoryStore(), { log, stores: [store] })
  await clock.pass(1_000)
  expect(failures.length).toBeGreaterThan(0)
  expect(outbox(store)).toHaveLength(1)
  away = false
  await clock.pass(10_000)
  expect(events()).toHaveLength(1)
  await sender.stop()
})
