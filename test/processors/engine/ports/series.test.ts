import { expect, test } from 'vitest'
import { binsOf } from '../../../../projections/bins.ts'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import { PARTS } from '../../../../projections/series.ts'
import { type Series, type Versioned } from '../../../../processors/engine/ports/series.ts'
import { keyOf, type Stored } from '../../../../projections/item.ts'
import type { Domain, Projection, Result } from '../../../../projections/projection.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { eventOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'
import { newestOf } from '../../../../processors/adapters/newest-points.ts'
import { reportRejected } from '../../../../processors/engine/run/rejected-points.ts'

/** The ledger domain with series: one point per payment that is not refused. */
const measured: Domain = {
  ...ledger,
  series: {
    database: 'd',
    name: 'payments',
    dims: ['account'],
    measures: { payment: { amount: 'number' } },
    rows: { key: () => ({ PK: '', SK: '' }), ttlSeconds: 1 },
  },
  projections: ledger.projections.map((each): Projection => {
    const plain = each.folds['Paid']
    if (each.name !== 'accounts' || plain === undefined) return each
    return {
      ...each,
      folds: {
        ...each.folds,
        Paid: (event, get): Result => {
          const result = plain(event, get)
          const { amount, id } = event.data as { amount: number; id: string }
          return result.items === undefined
            ? result
            : {
                ...result,
                points: [{ measure: 'payment', dims: { account: event.meta.key }, at: Number(id), values: { amount } }],
              }
        },
      },
    }
  }),
}

/** A series store in memory. A point that was written twice is twice in `written`. The next writes throw the faults in `failing`. */
const memorySeries = () => {
  const written: Versioned[] = []
  const failing: Fault[] = []
  const write: Series['write'] = async (points) => {
    const fault = failing.shift()
    if (fault !== undefined) throw fault
    written.push(...points)
    return []
  }
  return { write, written, failing }
}

const down = () => new Fault('series-unavailable', 'The series store is down.', { retriable: true })
/** A clock whose sleeps end at once, so that attempts follow each other without pauses. */
const clock = { ...virtualClock(), sleep: () => Promise.resolve() }
const versions = (points: readonly Versioned[]) => points.map(({ at, version }) => [at, version])

test('a point has the version of its event, and a refused or duplicate event has no point', async () => {
  const [log, store, series] = [
    memoryLog([paid(5, '10'), paid(-9, '11'), paid(5, '10'), paid(1, '13')]),
    memoryStore(),
    memorySeries(),
  ]
  await startProcessor({ domain: measured, generation: 1, log, store, series, codec: jsonCodec, clock })
  await log.deliver()
  expect(versions(series.written)).toEqual([
    [10, 1],
    [13, 4],
  ])
})

test('points are written before the items: while the series is down, neither the items nor the checkpoint change', async () => {
  const [log, store, series] = [memoryLog([paid(5, '10')]), memoryStore(), memorySeries()]
  const reported: unknown[] = []
  series.failing.push(down(), down())
  const itemsThen: number[] = []
  const failed = (error: unknown) => {
    reported.push(error)
    itemsThen.push(store.items.size)
  }
  await startProcessor({ domain: measured, generation: 1, log, store, series, codec: jsonCodec, clock, failed })
  await log.deliver()
  expect(reported).toMatchObject([{ code: 'series-unavailable' }, { code: 'series-unavailable' }])
  expect(itemsThen).toEqual([0, 0])
  expect(versions(series.written)).toEqual([[10, 1]])
  expect(await store.checkpoints()).toEqual(new Map([[0, 1]]))
})

test('after a crash between the points and the items the same points are written again', async () => {
  const [log, store, series] = [memoryLog([paid(5, '10'), paid(6, '11')]), memoryStore(), memorySeries()]
  let crashes = 1
  const crashing = {
    ...store,
    commit: (...args: Parameters<typeof store.commit>) =>
      args[0].length > 0 && crashes-- > 0
        ? Promise.reject(new Fault('store-unavailable', 'gone', { retriable: true }))
        : store.commit(...args),
  }
  await startProcessor({ domain: measured, generation: 1, log, store: crashing, series, codec: jsonCodec, clock })
  await log.deliver()
  expect(versions(series.written)).toEqual([
    [10, 1],
    [11, 2],
    [10, 1],
    [11, 2],
  ])
  expect(newestOf(series.written, ['account'])).toHaveLength(2)
})

test('events that the items show as applied write no points', async () => {
  const [store, first, second] = [memoryStore(), memorySeries(), memorySeries()]
  const log = memoryLog([paid(5, '10'), paid(6, '11')])
  await startProcessor({ domain: measured, generation: 1, log, store, series: first, codec: jsonCodec, clock })
  await log.deliver()
  await store.setCheckpoint(0)
  const replayed = memoryLog([paid(5, '10'), paid(6, '11'), paid(7, '12')])
  await startProcessor({
    domain: measured,
    generation: 1,
    log: replayed,
    store,
    series: second,
    codec: jsonCodec,
    clock,
  })
  await replayed.deliver()
  expect(versions(second.written)).toEqual([[12, 3]])
})

test('a build writes the same points as live folding, before its checkpoints', async () => {
  const events = Array.from({ length: 30 }, (_, index) =>
    index === 20
      ? eventOf('Broke', {}, { id: 'broke', key: 'k1' })
      : paid(index % 7 === 3 ? -50 : 3, String(index), { key: `k${index % 3}` }),
  )
  const log = memoryLog(events)
  const [live, built] = [memorySeries(), memorySeries()]
  await startProcessor({
    domain: measured,
    generation: 1,
    log,
    store: memoryStore(),
    series: live,
    codec: jsonCodec,
    clock,
  })
  await log.deliver()
  const store = memoryStore()
  let pointsAtFirstFlush = 0
  const target = {
    ...store,
    peek: (key: Parameters<typeof keyOf>[0]) => store.items.get(keyOf(key)),
    count: async () => store.items.size,
    write: async (puts: readonly unknown[]) => {
      pointsAtFirstFlush ||= built.written.length
      for (const item of puts) store.items.set(keyOf(item as Stored), item as Stored)
    },
  }
  const result = await build({
    domain: measured,
    log,
    codec: jsonCodec,
    target,
    series: built,
    ends: new Map([[0, events.length]]),
  })
  const inOrder = (points: readonly Versioned[]) => [...points].sort((a, b) => a.version - b.version)
  expect(inOrder(built.written)).toEqual(inOrder(live.written))
  expect(pointsAtFirstFlush).toBe(built.written.length)
  expect(result.rejected).toBe(0)
})

test('a point that the store rejects permanently is reported and delays nothing', async () => {
  const point: Versioned = { measure: 'payment', dims: { account: 'a' }, at: 0, version: 1, values: {} }
  const series: Series = {
    write: async () => [{ point, reason: 'it is too old' }],
    list: async function* () {},
    reader: { points: async function* () {}, bins: async () => [] },
    close: async () => undefined,
  }
  const reported: unknown[] = []
  await reportRejected(series, (error) => reported.push(error)).write([point])
  expect(reported).toMatchObject([
    { code: 'series-rejected', message: expect.stringContaining('it is too old') as string },
  ])
})

test('bins that are computed in memory are in the order of time and dimension', () => {
  const at = (ms: number, device: string, level: number | null) => ({
    measure: 'm',
    dims: { device },
    at: ms,
    values: { level },
  })
  expect(
    binsOf([at(15, 'b', 1), at(11, 'a', 4), at(3, 'b', null), at(19, 'b', 3)], { ms: 10, by: 'device', of: ['level'] }),
  ).toEqual([
    { at: 0, by: 'b', values: {} },
    { at: 10, by: 'a', values: { level: { count: 1, sum: 4 * PARTS, min: 4 } } },
    { at: 10, by: 'b', values: { level: { count: 2, sum: 4 * PARTS, min: 1 } } },
  ])
})
