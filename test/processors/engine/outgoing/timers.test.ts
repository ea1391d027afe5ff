import { expect, test } from 'vitest'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { decidersOf, type Decider } from '../../../../processors/engine/fold/decide.ts'
import { createLedger } from '../../../../processors/engine/outgoing/ledger.ts'
import type { Log, NewRecord } from '../../../../processors/engine/ports/log.ts'
import { startTimers } from '../../../../processors/engine/outgoing/timers.ts'
import { eventOf, logRecords, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'
import { rowRulesOf } from '../../../../processors/engine/outgoing/row-rules.ts'

const [accounts] = decidersOf(ledger, rowRulesOf(ledger, jsonCodec)) as [Decider, Decider]
const fold = (store: MemoryStore, events: Parameters<typeof logRecords>[0], first = 0) =>
  advance({ store, spans: [{ decider: accounts, key: 'a', events: logRecords(events, first) }] })
const remind = (at: number | null, id: string) => eventOf('Reminded', { at }, { id })
const rows = (store: MemoryStore) => [...store.items.values()].filter(({ PK }) => PK.startsWith('TIMER#'))

const appending = () => {
  const records: NewRecord[] = []
  const append: Log['append'] = async (more) => {
    records.push(...more)
    return more.map((_, index) => ({ partition: 0, offset: records.length - more.length + index }))
  }
  return { log: { append } as Log, events: () => records.map(({ value }) => jsonCodec.decode(value)) }
}

interface Timing {
  readonly log: Log
  readonly ledgerStore?: MemoryStore
  readonly clock?: ReturnType<typeof virtualClock>
  readonly processName?: string
}

const timing = (
  store: MemoryStore,
  { log, ledgerStore = memoryStore(), clock = virtualClock(0), processName = 'a' }: Timing,
) => {
  const failed = (error: unknown) => expect.unreachable(String(error))
  const timers = startTimers({
    log,
    store: async () => store,
    ledger: createLedger({ store: ledgerStore, clock, processName }),
    partitions: 1,
    clock,
    pollMs: 100,
    failed,
  })
  return { clock, timers }
}

test('a timer fires once, when it is due, as an event whose id is derived from the arming event', async () => {
  const store = memoryStore()
  await fold(store, [remind(5_000, 'r1')])
  const { log, events } = appending()
  const { clock, timers } = timing(store, { log })
  await clock.pass(4_500)
  expect(events()).toEqual([])
  await clock.pass(3_000)
  expect(events()).toMatchObject([
    { type: 'Paid', meta: { key: 'a', occurredAt: 5_000, source: 'timer', causationId: 'r1' } },
  ])
  await timers.stop()
})

test('one of two processes that read a due timer fires it; the other finds it fired, also after a restart', async () => {
  const [store, ledgerStore] = [memoryStore(), memoryStore()]
  await fold(store, [remind(5_000, 'r1')])
  const { log, events } = appending()
  const clock = virtualClock(0)
  const both = ['a', 'b'].map((processName) => timing(store, { log, ledgerStore, clock, processName }).timers)
  await clock.pass(8_000)
  await Promise.all(both.map((timers) => timers.stop()))
  const { timers } = timing(store, { log, ledgerStore, clock, processName: 'c' })
  await clock.pass(8_000)
  await timers.stop()
  expect(events()).toHaveLength(1)
})

test('after hours without a process all timers that are due fire, the oldest first', async () => {
  const store = memoryStore()
  const hours = Array.from({ length: 30 }, (_, index) => index * 1_800_000)
  await fold(
    store,
    hours.map((at, index) => eventOf('Named', { name: `n${index}`, at }, { id: `r${index}` })),
  )
  const { log, events } = appending()
  const clock = virtualClock(0)
  await clock.pass(12 * 3_600_000)
  const { timers } = timing(store, { log, clock })
  await clock.pass(1_000)
  expect(events().map(({ meta }) => meta.occurredAt)).toEqual(hours.filter((at) => at <= 12 * 3_600_000))
  await timers.stop()
})

test('a timer that is armed again for the same time after it fired fires again', async () => {
  const [store, ledgerStore] = [memoryStore(), memoryStore()]
  const { log, events } = appending()
  await fold(store, [remind(5_000, 'r1')])
  const { clock, timers } = timing(store, { log, ledgerStore })
  await clock.pass(6_000)
  await fold(store, [remind(null, 'fired'), remind(5_000, 'r2')], 1)
  await clock.pass(1_000)
  expect(events().map(({ meta }) => meta.causationId)).toEqual(['r1', 'r2'])
  await timers.stop()
})

test('arming again under the same name replaces the timer; disarming removes it', async () => {
  const store = memoryStore()
  const armed = () => rows(store).map(({ SK }) => SK.slice(0, 24))
  await fold(store, [remind(5_000, 'r1'), remind(9_000, 'r2')])
  expect(armed()).toEqual(['1970-01-01T00:00:09.000Z'])
  await fold(store, [remind(9_000, 'r3')], 2)
  expect(armed()).toEqual(['1970-01-01T00:00:09.000Z'])
  await fold(store, [remind(null, 'r4'), paid(1, 'p')], 3)
  expect(armed()).toEqual([])
})

test('a fold that sets a timer to an instant that does not sort as text parks its key', async () => {
  for (const at of [-1, Date.UTC(10_000, 0), NaN]) {
    const [result] = await fold(memoryStore(), [remind(at, 'r1')])
    expect(result?.poison?.error).toMatchObject({ code: 'bad-timer' })
  }
})
