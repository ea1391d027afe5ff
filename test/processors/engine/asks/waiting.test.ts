import { expect, test } from 'vitest'
import { createAskClaims } from '../../../../processors/engine/asks/claims.ts'
import { asksOf } from '../../../../processors/engine/asks/due-asks.ts'
import { SENDABLE_MS } from '../../../../processors/engine/outgoing/ledger.ts'
import { countArmedBefore, countAsks, waitingAsks } from '../../../../processors/engine/asks/waiting.ts'
import { askKey } from '../../../../processors/engine/outgoing/keys.ts'
import type { Reader } from '../../../../projections/table.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

interface Armed {
  readonly at: number
  readonly armedAt?: number
  readonly partition?: number
  readonly offset?: number
  readonly changes?: true
  readonly once?: true
}

const sceneOf = async (asks: readonly Armed[]) => {
  const [store, ledger, clock] = [memoryStore(), memoryStore(), virtualClock(1_000)]
  const rows = asks.map(({ at, armedAt = 0, partition = 0, offset = 0, ...flags }, index) => ({
    ...askKey(partition, { at, priority: 5, key: 'k', name: `n${index}` }),
    id: `id-${index}`,
    name: `n${index}`,
    projection: 'p',
    key: 'k',
    at,
    armedAt,
    ...flags,
    _pos: offset,
  }))
  await store.bulk(rows)
  const claimsOf = (processName: string) => createAskClaims({ store: ledger, clock, processName })
  const reader = store.reader(() => 0)
  const period = { generation: 2, from: new Map([[0, 10], [1, 10]]), parked: new Map() } // prettier-ignore
  return { asks: { reader, partitions: 2, period }, claimsOf, clock, reader }
}

/** The reader of the memory store, which has no cursors, with pages. */
const paged = ({ query }: Pick<Reader, 'query'>): Pick<Reader, 'query'> => ({
  query: async ({ limit, cursor = '0', ...rest }) => {
    const { items } = await query({ ...rest, limit: Infinity })
    const end = Number(cursor) + limit
    return { items: items.slice(Number(cursor), end), ...(items.length > end && { cursor: String(end) }) }
  },
})

test('the asks of a priority are in the order of their times, from all partitions and pages', async () => {
  const times = Array.from({ length: 250 }, (_, index) => ({ at: (index * 7_919) % 1_000, partition: index % 2 }))
  const { reader } = await sceneOf(times)
  const found: number[] = []
  for await (const { row } of asksOf(paged(reader), { partitions: 2, priority: 5, until: 900 })) found.push(row.at)
  expect(found).toEqual(
    times
      .map(({ at }) => at)
      .filter((at) => at <= 900)
      .sort((a, b) => a - b),
  )
})

test('an ask that was due so long ago that the ledger may have forgotten its answer waits, unless an operator released it', async () => {
  const { asks, claimsOf } = await sceneOf([{ at: 0 }, { at: 1_000 }, { at: 0 }, { at: 0, armedAt: 1_000 }])
  const claims = claimsOf('operator')
  await claims.release({ id: 'id-2' })
  const waiting = []
  for await (const { row, reason } of waitingAsks({ ...asks, now: SENDABLE_MS + 1_000 }, claims))
    waiting.push([row.id, reason])
  expect(waiting).toEqual([['id-0', 'too-old']])
})

test('asks older than the period wait if they change something; asks with an unknown result wait; the others are due', async () => {
  const { asks, claimsOf, clock } = await sceneOf([
    { at: 0 },
    { at: 0, changes: true, offset: 9 },
    { at: 0, changes: true, offset: 10 },
    { at: 5_000, changes: true, offset: 3, partition: 1 },
    { at: 0, once: true },
    { at: 9_000 },
    { at: 0, changes: true, offset: 1 },
  ])
  const dead = claimsOf('dead')
  await dead.claim({ id: 'id-4', once: true })
  await clock.pass(60_000)
  const claims = claimsOf('operator')
  await claims.release({ id: 'id-6' })
  const waiting = []
  for await (const { row, reason } of waitingAsks({ ...asks, now: 60_000 }, claims)) waiting.push([row.id, reason])
  expect(waiting.sort()).toEqual([
    ['id-1', 'armed-before-flip'],
    ['id-3', 'armed-before-flip'],
    ['id-4', 'result-unknown'],
  ])
  expect(await countAsks({ ...asks, now: 5_000 }, claims)).toEqual({ due: 3, waiting: 3 })
  expect(await countArmedBefore(asks)).toBe(3)
})
