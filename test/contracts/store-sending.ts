import { expect, test, vi } from 'vitest'
import { createCallBudget } from '../../processors/engine/asks/budget.ts'
import { createAskClaims } from '../../processors/engine/asks/claims.ts'
import { createQueueLeases } from '../../processors/engine/asks/queue-leases.ts'
import type { Stored } from '../../projections/item.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import type { Clock } from '../../processors/engine/ports/clock.ts'
import { createLedger } from '../../processors/engine/outgoing/ledger.ts'
import type { Log } from '../../processors/engine/ports/log.ts'
import { startSender } from '../../processors/engine/outgoing/sender.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import { startTimers } from '../../processors/engine/outgoing/timers.ts'
import { outboxKey, outboxPartition, timerKey, timerPartition } from '../../processors/engine/outgoing/keys.ts'

/** Tests that each event is appended once if several senders try it. A sender claims an event by a conditional write to the ledger. */
export const sending = (fresh: () => Promise<Store>): void => {
  test('one of several senders of one event appends it', async () => {
    const store = await fresh()
    const sent: string[] = []
    const round = (holder: string, ids: readonly string[]) =>
      Promise.all(ids.map((id) => ledgerOf(store, holder).once(id, async () => void sent.push(`${id} ${holder}`))))
    const ids = Array.from({ length: 8 }, (_, index) => `id-${index}`)
    await Promise.all(['a', 'b', 'c'].map((holder) => round(holder, ids)))
    expect(sent.map((each) => each.split(' ')[0]).sort()).toEqual(ids)
    expect(await round('d', ids)).toEqual(ids.map(() => ({ position: undefined })))
    expect([...(await ledgerOf(store, 'e').settled([...ids, 'other'])).keys()].sort()).toEqual(ids)
  })

  test('while a claim is valid, no other process sends; after it has expired, another process sends again', async () => {
    const store = await fresh()
    const sent: string[] = []
    void ledgerOf(store, 'a').once('id', () => new Promise<undefined>(() => undefined))
    await vi.waitFor(async () => expect(await store.load([{ PK: 'SENT#id', SK: 'SENT' }])).not.toContain(undefined))
    const send = async () => void sent.push('b')
    expect(await ledgerOf(store, 'b').once('id', send)).toBe('later')
    const later = ledgerOf(store, 'b', { ...systemClock, now: () => Date.now() + 61_000 })
    expect(await later.once('id', send)).toEqual({ position: undefined })
    expect(sent).toEqual(['b'])
  })

  test('two senders empty an outbox of several pages, each row sent once and in order', async () => {
    const [store, ledger] = [await fresh(), await fresh()]
    const rows = Array.from({ length: 130 }, (_, index) => row(index))
    await store.bulk(rows)
    const sent: string[] = []
    const log = {
      append: async ([record]: readonly { readonly value: Uint8Array }[]) => [
        { partition: 0, offset: sent.push(Buffer.from(record?.value ?? []).toString()) - 1 },
      ],
    } as object as Log
    const senders = ['a', 'b'].map((holder) =>
      startSender({
        log,
        partitions: 1,
        ttl: 'ttl',
        clock: systemClock,
        pollMs: 5,
        failed: () => undefined,
        ledger: ledgerOf(ledger, holder),
        sendingGenerations: async () => ({
          periods: [{ generation: 1, from: new Map(), parked: new Map() }],
          generations: [{ generation: 1, store }],
        }),
      }),
    )
    await vi.waitFor(
      async () => expect((await store.reader(() => 0).query({ pk: outboxPartition(0), limit: 1 })).items).toEqual([]),
      { timeout: 20_000 },
    )
    await Promise.all(senders.map((sender) => sender.stop()))
    expect(sent).toEqual(rows.map((_, index) => `event ${index}`))
  })

  test('two processes that read the timers find all due timers, and fire each once', async () => {
    const [store, ledger] = [await fresh(), await fresh()]
    const now = Date.now()
    await store.bulk(Array.from({ length: 130 }, (_, index) => timer(now - 130 + index, index)))
    await store.bulk([timer(now + 3_600_000, 999)])
    const sent: string[] = []
    const log = {
      append: async ([record]: readonly { readonly value: Uint8Array }[]) => [
        { partition: 0, offset: sent.push(Buffer.from(record?.value ?? []).toString()) - 1 },
      ],
    } as object as Log
    const pollers = ['a', 'b'].map((holder) =>
      startTimers({
        log,
        partitions: 1,
        clock: systemClock,
        pollMs: 5,
        failed: () => undefined,
        ledger: ledgerOf(ledger, holder),
        store: async () => store,
      }),
    )
    await vi.waitFor(() => expect(sent.length).toBe(130), { timeout: 20_000 })
    await Promise.all(pollers.map((each) => each.stop()))
    expect(sent).toEqual(Array.from({ length: 130 }, (_, index) => `timer ${index}`))
    expect((await store.reader(() => 0).query({ pk: timerPartition(0), limit: 200 })).items).toHaveLength(131)
  })

  test('one of several processes claims an ask and takes the lease of its queue; after it has answered, none does', async () => {
    const store = await fresh()
    const parts = ['a', 'b', 'c'].map((processName) => ({ store, clock: systemClock, processName }))
    const claims = parts.map(createAskClaims)
    const leases = parts.map((each) => createQueueLeases(each, 'd'))
    const claimed = await Promise.all(claims.map((each) => each.claim({ id: 'ask' })))
    const taken = await Promise.all(leases.map((each) => each.take('q')))
    expect([claimed.filter(Boolean), taken.filter(Boolean)]).toEqual([[true], [true]])
    const [winner, other] = [claims[claimed.indexOf(true)], claims[claimed.indexOf(false)]]
    expect(await other?.states([{ id: 'ask' }, { id: 'new' }])).toEqual(['claimed', 'free'])
    await winner?.renew('ask')
    await winner?.settle({ id: 'ask' }, { partition: 0, offset: 3 })
    expect(await Promise.all(claims.map((each) => each.claim({ id: 'ask' })))).toEqual([false, false, false])
    expect([...(await ledgerOf(store, 'd').settled(['ask'])).values()]).toEqual([{ partition: 0, offset: 3 }])
    await leases[taken.indexOf(true)]?.release('q')
    expect(await leases[taken.indexOf(false)]?.take('q')).toBe(true)
  })

  test('an expired claim of an ask with `once` is unknown until an operator releases it, and a release is stored once', async () => {
    const store = await fresh()
    const claimsAt = (processName: string, ms: number) =>
      createAskClaims({ store, clock: { ...systemClock, now: () => Date.now() + ms }, processName })
    const ask = { id: 'ask', once: true } as const
    expect(await claimsAt('a', 0).claim(ask)).toBe(true)
    expect(await claimsAt('b', 0).release(ask)).toBe('claimed')
    const later = claimsAt('b', 61_000)
    expect([await later.states([ask]), await later.claim(ask)]).toEqual([['unknown'], false])
    expect([await later.release(ask), await later.release(ask)]).toEqual(['released', 'released'])
    expect([await later.claim(ask), await later.states([ask])]).toEqual([true, ['released']])
    await later.lose('ask')
    expect(await claimsAt('a', 0).states([ask])).toEqual(['unknown'])
  })

  test('several processes that call at the same time never make more calls than a window allows', async () => {
    const store = await fresh()
    const windows = [{ name: 'day', ms: 24 * 60 * 60_000, limit: 32 }]
    const clock = { ...systemClock, now: () => Date.UTC(2026, 10, 19, 12) }
    const budgets = ['a', 'b', 'c'].map((processName) =>
      createCallBudget({ store, clock, processName, name: 'service', windows }),
    )
    const taken = await Promise.all(
      budgets.map(async (budget) => {
        for (let count = 0; ; count += 1) if ((await budget.take()) !== undefined) return count
      }),
    )
    expect(taken.reduce((sum, count) => sum + count, 0)).toBe(32)
    await budgets[0]?.pause(Date.UTC(2026, 10, 21), 'inactive')
    expect(await budgets[1]?.take()).toBe(Date.UTC(2026, 10, 21))
  })
}

const ledgerOf = (store: Store, processName: string, clock: Clock = systemClock) =>
  createLedger({ store, clock, processName })

const encoded = (text: string) => Buffer.from(text).toString('base64')

const row = (index: number): Stored => ({
  ...outboxKey({ partition: 0, offset: index }, 'p', 0),
  id: `id-${index}`,
  kind: 'derived',
  key: 'to',
  projection: 'p',
  cause: 'k',
  value: encoded(`event ${index}`),
  _pos: index,
})

const timer = (at: number, index: number): Stored => ({
  ...timerKey(0, { at, key: 'k', name: `t${index}` }),
  id: `timer-${index}`,
  key: 'k',
  value: encoded(`timer ${index}`),
  _pos: index,
})
