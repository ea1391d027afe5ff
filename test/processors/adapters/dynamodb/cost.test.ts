import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { batchesOf, costsOf, type Costs } from '../../../../processors/adapters/dynamodb/cost.ts'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import type { Event } from '../../../../schemas/event.ts'
import { eventOf, jsonCodec, ledger, paid } from '../../engine/ledger.ts'

const recordsOf = (events: readonly Event[], gapMs: number): readonly LogRecord[] =>
  events.map((event, offset) => ({
    partition: 0,
    offset,
    key: event.meta.key,
    timestamp: offset * gapMs,
    value: jsonCodec.encode(event),
  }))

const costs = async (events: readonly Event[], { gapMs = 0, windowMs = 10 } = {}): Promise<Costs> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cost-'))
  const stores = lmdbStores({ folder })
  onTestFinished(async () => {
    await stores.close()
    rmSync(folder, { recursive: true, force: true })
  })
  let stored = 0
  const records = recordsOf(events, gapMs)
  return costsOf({
    domain: ledger,
    codec: jsonCodec,
    scratch: () => stores.create({ ...ledger.table, name: `cost-${(stored += 1)}` }, 1),
    log: {
      async *read(_, from, to) {
        yield records.slice(from, to)
      },
      watermarks: async () => [{ partition: 0, low: 0, high: records.length }],
    },
    windowMs,
  })
}

test('one event costs the same domain units as in the source document, and the bookkeeping is counted separately', async () => {
  // The domain costs 5 units: two items in one transaction (2 x 2 units), and an item of another projection (1 unit).
  expect(await costs([paid(1, 'p')])).toMatchObject({
    source: { events: 1, domain: 5, bookkeeping: 0, readUnits: 0, requests: 2 },
    trickle: { domain: 5, bookkeeping: 1, readUnits: 4, requests: 5 },
    rebuild: { domain: 3, requests: 1 },
  })
})

test('a burst of one key writes its shared items once, and distant events cost as much as single events', async () => {
  const events = Array.from({ length: 20 }, (_, index) => paid(1, `p${index}`))
  const burst = await costs(events)
  expect(burst.arrived.domain).toBeLessThan(0.6 * burst.source.domain)
  expect(burst.arrived.requests).toBeLessThan(burst.trickle.requests / 5)
  const distant = await costs(events, { gapMs: 60_000 })
  expect(distant.arrived).toEqual(distant.trickle)
  expect(distant.trickle.domain).toBe(distant.source.domain)
  expect(distant.span).toEqual([0, 19 * 60_000])
})

test('a refused event costs only its marker, and events after a poison event of their key cost nothing', async () => {
  const { source, trickle } = await costs([paid(-1, 'p')])
  expect(source.domain).toBe(1)
  expect(trickle.bookkeeping).toBeGreaterThan(1)
  const [alone, poisoned] = [
    await costs([paid(1, 'p')]),
    await costs([paid(1, 'p'), eventOf('Broke', {}, { id: 'x' }), eventOf('Spread', { count: 50 }, { id: 'y' })]),
  ]
  expect(poisoned.trickle.domain).toBe(alone.trickle.domain)
})

test('a log without events costs nothing', async () => {
  expect(await costs([])).toMatchObject({
    source: { events: 0, domain: 0 },
    arrived: { requests: 0 },
    rebuild: { requests: 0 },
  })
})

test('a batch contains the records within the window of its first record', () => {
  const records = recordsOf(
    [1, 2, 3, 4].map((id) => paid(1, `p${id}`)),
    100,
  )
  expect(batchesOf(records, 150).map(({ length }) => length)).toEqual([2, 2])
  expect(batchesOf(records, 0).map(({ length }) => length)).toEqual([1, 1, 1, 1])
  expect(batchesOf(records, 1_000).map(({ length }) => length)).toEqual([4])
})
