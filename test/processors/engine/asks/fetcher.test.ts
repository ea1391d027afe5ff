import { v5 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { createAskClaims } from '../../../../processors/engine/asks/claims.ts'
import type { EndedCall } from '../../../../processors/engine/asks/call.ts'
import { startFetcher } from '../../../../processors/engine/asks/fetcher.ts'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { decidersOf, type Decider } from '../../../../processors/engine/fold/decide.ts'
import type { AskRow } from '../../../../processors/engine/outgoing/asks.ts'
import { rowRulesOf } from '../../../../processors/engine/outgoing/row-rules.ts'
import type { ServingPeriod } from '../../../../processors/engine/outgoing/serving-periods.ts'
import type { Log } from '../../../../processors/engine/ports/log.ts'
import type { Ask, AskCall, AskHandlers, AskResult } from '../../../../projections/ask.ts'
import type { Event } from '../../../../schemas/event.ts'
import { Fault, isFault } from '../../../../schemas/fault.ts'
import type { Stored } from '../../../../projections/item.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { eventOf, jsonCodec, ledger, logRecords } from '../ledger.ts'
import { virtualClock } from '../virtual-clock.ts'

const [accounts] = decidersOf(ledger, rowRulesOf(ledger, jsonCodec)) as [Decider, Decider]

/** One domain with a log, a table and a ledger, and any number of fetchers. */
const createScene = () => {
  const [store, ledgerStore, clock] = [memoryStore(), memoryStore(), virtualClock(0)]
  const events: Event[] = []
  const log = {
    append: async (records: Parameters<Log['append']>[0]) => {
      const appended = records.map(({ value }) => jsonCodec.decode(value))
      const first = events.push(...appended) - appended.length
      await fold(appended, first)
      return appended.map((_, index) => ({ partition: 0, offset: first + index }))
    },
  }
  const fold = async (folded: readonly Event[], first: number) => {
    for (const [index, event] of folded.entries()) {
      const { key } = event.meta
      await advance({ store, spans: [{ decider: accounts, key, events: logRecords([event], first + index) }] })
    }
  }
  return {
    store,
    ledgerStore,
    clock,
    events,
    /** Appends an event that asks. */
    ask: async (asks: readonly Ask[], key = 'a') => {
      const event = eventOf('Asked', { asks }, { id: `e${events.length}`, key })
      events.push(event)
      await fold([event], events.length - 1)
    },
    answers: () => events.filter(({ meta }) => meta.source === 'fetcher'),
    rows: () => [...store.items.values()].filter((item): item is AskRow & Stored => item.PK.startsWith('ASK#')),
    fetch: (
      handlers: AskHandlers,
      options: { processName?: string; period?: ServingPeriod; log?: typeof log } = {},
    ) => {
      const [errors, ended]: [unknown[], EndedCall[]] = [[], []]
      const { processName = 'a', period = NO_FLIP } = options
      const fetcher = startFetcher({
        domain: 'ledger',
        log: options.log ?? log,
        codec: jsonCodec,
        clock,
        pollMs: 100,
        failed: (error) => void errors.push(error),
        ended: (call) => void ended.push(call),
        serving: async () => ({ store, period }),
        ledger: ledgerStore,
        processName,
        handlers,
        partitions: 1,
      })
      return { fetcher, errors, ended, codes: () => errors.map((error) => (isFault(error) ? error.code : error)) }
    },
  }
}

const NO_FLIP: ServingPeriod = { generation: 1, from: new Map(), parked: new Map() }
const answered = (name: string): AskResult => ({ events: [{ type: 'Answered', data: { name } }] })

/** A handler whose calls end when the test ends them. */
const manual = () => {
  const calls: { readonly ask: AskCall; end(result?: AskResult): void; fail(error: unknown): void }[] = []
  const call = (ask: AskCall) =>
    new Promise<AskResult>((resolve, reject) => {
      calls.push({ ask, end: (result = answered(ask.name)) => resolve(result), fail: reject })
    })
  return { handlers: { read: { call }, write: { call } }, calls, names: () => calls.map(({ ask }) => ask.name) }
}

/** A handler that answers at once. */
const quick = (answer: (ask: AskCall) => AskResult | Promise<AskResult> = ({ name }) => answered(name)) => {
  const calls: AskCall[] = []
  const call = async (ask: AskCall) => {
    calls.push(ask)
    return answer(ask)
  }
  return { handlers: { read: { call }, write: { call } }, calls, names: () => calls.map(({ name }) => name) }
}

const READ = { kind: 'read', body: { of: 1 } } as const
const leases = (ledgerStore: MemoryStore) => [...ledgerStore.items.values()].filter(({ PK }) => PK.startsWith('QUEUE#'))

test('an ask is called once, when it is due, and its answer is an event with an id that is derived from the ask', async () => {
  const { ask, clock, fetch, answers, rows, ledgerStore } = createScene()
  await ask([{ name: 'n', at: 5_000, ...READ }])
  const [row] = rows()
  const { handlers, calls } = quick()
  const { fetcher, errors, ended } = fetch(handlers)
  await clock.pass(4_500)
  expect(calls).toEqual([])
  await clock.pass(10_000)
  expect(calls).toMatchObject([{ id: row?.id, name: 'n', kind: 'read', key: 'a', body: { of: 1 }, now: 5_000 }])
  const meta = { eventId: v5('answer:0', row?.id ?? ''), key: 'a', source: 'fetcher', occurredAt: 5_000 }
  expect(answers()).toMatchObject([{ type: 'Answered', meta: { ...meta, causationId: 'e0', correlationId: 'e0' } }])
  expect(rows()).toEqual([])
  expect([errors, ended]).toEqual([[], [{ kind: 'read', outcome: 'answered' }]])
  expect(leases(ledgerStore)).toEqual([])
  await fetcher.stop()
})

test('all events of an answer are appended in one call, with their own ids and people if the handler gives them', async () => {
  const { ask, clock, fetch, answers } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  const events = [
    { type: 'Paid', data: { amount: 1, id: 'x' }, eventId: 'own', personal: { text: 't' }, subjectId: 'p' },
    { type: 'Answered', data: { name: 'n' } },
  ]
  const { fetcher } = fetch(quick(() => ({ events })).handlers)
  await clock.pass(1_000)
  expect(answers()).toMatchObject([
    { type: 'Paid', meta: { eventId: 'own', subjectId: 'p' }, personal: { text: 't' } },
    { type: 'Answered', meta: { subjectId: null }, personal: null },
  ])
  await fetcher.stop()
})

test('the asks with the lowest number are called first, then the earliest, and at most 8 at once', async () => {
  const { ask, clock, fetch } = createScene()
  await clock.pass(100)
  for (let at = 9; at >= 0; at -= 1) await ask([{ name: `p5-${at}`, at, ...READ }], `k${at}`)
  await ask([{ name: 'p1', at: 50, ...READ, priority: 1 }], 'k10')
  const { handlers, calls, names } = manual()
  const { fetcher } = fetch(handlers)
  await clock.pass(1_000)
  expect(names()).toEqual(['p1', 'p5-0', 'p5-1', 'p5-2', 'p5-3', 'p5-4', 'p5-5', 'p5-6'])
  calls[3]?.end()
  await clock.pass(0)
  expect(names().slice(8)).toEqual(['p5-7'])
  for (const { end } of calls) end()
  await clock.pass(0)
  for (const { end } of calls) end()
  await fetcher.stop()
})

test('the calls of one queue run one after the other in the order of their times, also in two processes', async () => {
  const { ask, clock, fetch } = createScene()
  for (const [index, at] of [30, 10, 20].entries())
    await ask([{ name: `n${at}`, at, ...READ, queue: 'q' }], `k${index}`)
  const { handlers, calls, names } = manual()
  const both = ['a', 'b'].map((processName) => fetch(handlers, { processName }).fetcher)
  await clock.pass(200_000)
  expect(names()).toEqual(['n10'])
  calls[0]?.end()
  await clock.pass(200_000)
  expect(names()).toEqual(['n10', 'n20'])
  calls[1]?.end()
  await clock.pass(200_000)
  expect(names()).toEqual(['n10', 'n20', 'n30'])
  calls[2]?.end()
  await Promise.all(both.map((fetcher) => fetcher.stop()))
})

test('while a slow call runs, its claim is extended; no other process calls it, also after it is answered', async () => {
  const { ask, clock, fetch, answers } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  const [slow, other] = [manual(), quick()]
  const one = fetch(slow.handlers, { processName: 'a' })
  await clock.pass(100)
  const two = fetch(other.handlers, { processName: 'b' })
  await clock.pass(600_000)
  slow.calls[0]?.end()
  await clock.pass(600_000)
  expect([slow.calls.length, other.calls.length, answers().length]).toEqual([1, 0, 1])
  await Promise.all([one.fetcher.stop(), two.fetcher.stop()])
})

test('an ask of a process that died is called again when its claim has expired', async () => {
  const { ask, clock, fetch, ledgerStore, rows } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  await createAskClaims({ store: ledgerStore, clock, processName: 'dead' }).claim(rows()[0] as AskRow)
  const { handlers, calls } = quick()
  const { fetcher } = fetch(handlers)
  await clock.pass(59_000)
  expect(calls).toEqual([])
  await clock.pass(10_000)
  expect(calls).toHaveLength(1)
  await fetcher.stop()
})

test('a failed call is reported and repeated after 5 s, 10 s and so on; other asks of its queue do not wait', async () => {
  const { ask, clock, fetch } = createScene()
  await ask([{ name: 'bad', at: 0, ...READ }])
  await ask([{ name: 'good', at: 1, ...READ }])
  let failures = 0
  const { handlers, calls } = quick(({ name }) => {
    if (name === 'bad' && (failures += 1) <= 3) throw new Error('no answer')
    return answered(name)
  })
  const { fetcher, codes, ended } = fetch(handlers)
  await clock.pass(60_000)
  const times = calls.filter(({ name }) => name === 'bad').map(({ now }) => now)
  expect(times.map((time, index) => Math.floor((time - (times[index - 1] ?? 0)) / 5_000))).toEqual([0, 1, 2, 4])
  expect(calls.find(({ name }) => name === 'good')?.now).toBeLessThan(1_000)
  expect(codes()).toEqual(['ask-failed', 'ask-failed', 'ask-failed'])
  expect(ended.map(({ outcome }) => outcome).sort()).toEqual(['answered', 'answered', 'failed', 'failed', 'failed'])
  await fetcher.stop()
})

test('an ask is not called before the time that its handler returns, and no ask of a kind that is held back', async () => {
  const { ask, clock, fetch } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  await ask([{ name: 'held', at: 0, kind: 'write' }], 'b')
  const { handlers, calls } = quick(({ name, now }) => (now < 30_000 ? { later: 30_000 } : answered(name)))
  const write = { ...handlers.write, heldUntil: async () => (clock.now() < 60_000 ? 60_000 : undefined) }
  const { fetcher, codes } = fetch({ ...handlers, write })
  await clock.pass(90_000)
  const seconds = calls.map(({ name, now }) => [name, Math.floor(now / 1_000)])
  expect(seconds).toEqual([['n', 0], ['n', 30], ['held', 60]]) // prettier-ignore
  expect(codes()).toEqual([])
  await fetcher.stop()
})

test('an ask without a handler waits, and the others do not wait for it', async () => {
  const { ask, clock, fetch, rows } = createScene()
  await ask([{ name: 'n', at: 0, kind: 'write' }, { name: 'm', at: 1, ...READ }]) // prettier-ignore
  const { handlers, names } = quick()
  const { fetcher } = fetch({ read: handlers.read })
  await clock.pass(10_000)
  expect([names(), rows().map(({ name }) => name)]).toEqual([['m'], ['n']])
  await fetcher.stop()
})

test('the answer is appended again while the log does not accept it; the call is not repeated', async () => {
  const { ask, clock, fetch, answers } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  const { handlers, calls } = quick()
  let failures = 0
  const broken = createScene()
  const { fetcher, codes } = fetch(handlers, {
    log: {
      append: async (records) => {
        if ((failures += 1) <= 3) throw new Fault('log-unavailable', 'The log does not answer.', { retriable: true })
        return (broken.events.push(...records.map(({ value }) => jsonCodec.decode(value))), [])
      },
    },
  })
  await clock.pass(10_000)
  expect([calls.length, broken.events.length, answers().length]).toEqual([1, 1, 0])
  expect(codes()).toEqual(['log-unavailable', 'log-unavailable', 'log-unavailable'])
  await fetcher.stop()
})

test('an answer about a forgotten part of a person is dropped, and the ask counts as answered', async () => {
  const { ask, clock, fetch, answers } = createScene()
  await ask([{ name: 'n', at: 0, ...READ }])
  const { handlers, calls } = quick(() => {
    throw new Fault('part-forgotten', 'The part was forgotten.')
  })
  const { fetcher, codes, ended } = fetch(handlers)
  await clock.pass(100_000)
  expect([calls.length, answers(), codes()]).toEqual([1, [], []])
  expect(ended).toEqual([{ kind: 'read', outcome: 'dropped' }])
  await fetcher.stop()
})

describe('an ask that must not be repeated', () => {
  const ONCE = { name: 'n', at: 0, ...READ, once: true } as const

  test('is reported and not called again if its process died, until an operator releases it', async () => {
    const { ask, clock, fetch, ledgerStore, rows } = createScene()
    await ask([ONCE])
    const row = rows()[0] as AskRow
    await createAskClaims({ store: ledgerStore, clock, processName: 'dead' }).claim(row)
    const { handlers, calls } = quick()
    const { fetcher, codes } = fetch(handlers)
    await clock.pass(600_000)
    expect([calls, codes()]).toEqual([[], ['ask-result-unknown']])
    const operator = createAskClaims({ store: ledgerStore, clock, processName: 'operator' })
    expect(await operator.release(row)).toBe('released')
    await clock.pass(10_000)
    expect(calls).toHaveLength(1)
    await fetcher.stop()
  })

  test('is not called again if its handler throws, and a release is valid for one call', async () => {
    const { ask, clock, fetch, ledgerStore, rows } = createScene()
    await ask([ONCE])
    const { handlers, calls } = quick(() => Promise.reject(new Error('no answer')))
    const { fetcher, codes } = fetch(handlers)
    await clock.pass(600_000)
    expect([calls.length, codes()]).toEqual([1, ['ask-result-unknown']])
    await createAskClaims({ store: ledgerStore, clock, processName: 'o' }).release(rows()[0] as AskRow)
    await clock.pass(600_000)
    expect(calls).toHaveLength(2)
    await fetcher.stop()
  })

  test('is called again if its handler called nothing', async () => {
    const { ask, clock, fetch } = createScene()
    await ask([ONCE])
    const { handlers, calls } = quick(({ now }) => (now < 1_000 ? { later: 1_000 } : answered('n')))
    const { fetcher, codes } = fetch(handlers)
    await clock.pass(10_000)
    expect([calls.length, codes()]).toEqual([2, []])
    await fetcher.stop()
  })
})

describe('after a flip', () => {
  const period: ServingPeriod = { generation: 2, from: new Map([[0, 2]]), parked: new Map() }

  test('asks that were armed before it are called if they read; asks that change something wait for an operator', async () => {
    const { ask, clock, fetch, ledgerStore, rows } = createScene()
    await ask([{ name: 'read', at: 0, ...READ }], 'a')
    await ask([{ name: 'before', at: 0, kind: 'write' }], 'b')
    await ask([{ name: 'after', at: 0, kind: 'write' }], 'c')
    const { handlers, names } = quick()
    const { fetcher, codes } = fetch(handlers, { period })
    await clock.pass(60_000)
    expect([names().sort(), codes()]).toEqual([['after', 'read'], []])
    await createAskClaims({ store: ledgerStore, clock, processName: 'operator' }).release(rows()[0] as AskRow)
    await clock.pass(10_000)
    expect(names()).toContain('before')
    await fetcher.stop()
  })

  test('an ask that was armed before it is called if its key was parked in the generation before', async () => {
    const { ask, clock, fetch } = createScene()
    await ask([{ name: 'parked', at: 0, kind: 'write' }])
    const { handlers, names } = quick()
    const { fetcher } = fetch(handlers, { period: { ...period, parked: new Map([['accounts#a', 0]]) } })
    await clock.pass(1_000)
    expect(names()).toEqual(['parked'])
    await fetcher.stop()
  })
})

describe('when the process stops', () => {
  test('running calls can end; no new call starts', async () => {
    const { ask, clock, fetch, answers } = createScene()
    for (const key of ['a', 'b']) await ask([{ name: key, at: 0, ...READ, queue: 'q' }], key)
    const { handlers, calls, names } = manual()
    const { fetcher } = fetch(handlers)
    await clock.pass(100)
    const stopped = fetcher.stop()
    await clock.pass(1_000)
    calls[0]?.end()
    await clock.pass(0)
    await stopped
    expect([names(), answers().length]).toEqual([['a'], 1])
  })

  test('a call that does not end is aborted, and another process calls the ask', async () => {
    const { ask, clock, fetch } = createScene()
    await ask([{ name: 'n', at: 0, ...READ }])
    const [hanging, other] = [manual(), quick()]
    const { fetcher } = fetch(hanging.handlers)
    await clock.pass(100)
    const stopped = fetcher.stop()
    await clock.pass(5_000)
    await stopped
    expect(hanging.calls[0]?.ask.signal.aborted).toBe(true)
    const next = fetch(other.handlers, { processName: 'b' })
    await clock.pass(1_000)
    expect(other.calls).toHaveLength(1)
    await next.fetcher.stop()
  })
})
