import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAppendQueue, KEY_RECORDS, type Taken } from '../../../../processors/adapters/lmdb/append-queue.ts'
import type { Position } from '../../../../processors/engine/log.ts'
import { isFault } from '../../../../schemas/fault.ts'

interface Sent {
  readonly keys: readonly string[]
  positions?: readonly Position[]
  failed?: unknown
}

/** A queue over a log that is a list of keys; `passed` is how far its subscribers are. */
const openQueue = () => {
  const log: string[] = []
  const state = { passed: Infinity }
  const queue = createAppendQueue((_, offset) => state.passed > offset)
  const append = (...keys: readonly string[]): Sent => {
    const sent: Sent = { keys }
    queue.add({
      topic: 1,
      records: keys.map((key) => ({ timestamp: 0, key, value: new Uint8Array() })),
      sizes: keys.map(() => 10),
      resolve: (positions) => (sent.positions = positions),
      reject: (fault) => (sent.failed = fault),
    })
    return sent
  }
  const keyOf = ({ append: { records }, index }: Taken) => records[index]?.key ?? ''
  const flush = (): readonly string[] => {
    const taken = queue.take()
    const first = log.length
    log.push(...taken.map(keyOf))
    queue.written(taken, taken.map((_, nth) => first + nth))
    return taken.map(keyOf)
  }
  return { queue, log, state, append, flush }
}

const many = (key: string, count: number): readonly string[] => Array.from({ length: count }, () => key)

test('a large append of one key leaves room in every flush for the appends of other keys', () => {
  const { append, flush } = openQueue()
  const large = append(...many('flood', 1_000))
  const small = append('quiet')
  expect(flush()).toEqual([...many('flood', KEY_RECORDS), 'quiet'])
  expect(small.positions).toEqual([{ partition: 0, offset: KEY_RECORDS }])
  expect(large.positions).toBeUndefined()
  const next = append('quiet')
  flush()
  expect(next.positions).toEqual([{ partition: 0, offset: 2 * KEY_RECORDS + 1 }])
})

test('the rest of a large append waits until the part before is folded, and an append of another key does not', () => {
  const { append, flush, state } = openQueue()
  state.passed = 0
  append(...many('flood', 1_000))
  flush()
  expect(flush()).toEqual([])
  append('quiet')
  expect(flush()).toEqual(['quiet'])
  state.passed = KEY_RECORDS - 1
  expect(flush()).toEqual([])
  state.passed = KEY_RECORDS
  expect(flush()).toEqual(many('flood', KEY_RECORDS))
})

test('several large appends of one key have one share together, in the order in which they came', () => {
  const { append, flush } = openQueue()
  const all = [append(...many('flood', 40)), append(...many('flood', 40)), append(...many('flood', 40))]
  flush()
  expect(all.map(({ positions }) => positions === undefined)).toEqual([true, true, true])
  flush()
  expect(all.map(({ positions }) => positions === undefined)).toEqual([false, true, true])
  while (flush().length > 0);
  expect(all.flatMap(({ positions }) => positions?.map(({ offset }) => offset))).toEqual(Array.from({ length: 120 }, (_, offset) => offset))
})

test('every record is written once, each key in order, and no flush has more than a share of a key', () => {
  const appends = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 90 }), { minLength: 1, maxLength: 12 })
  fc.assert(fc.property(appends, (all) => {
    const { append, flush, log, queue } = openQueue()
    const sent = all.map((keys) => append(...keys))
    while (!queue.isEmpty()) {
      const flushed = flush()
      for (const key of new Set(flushed)) expect(flushed.filter((each) => each === key).length).toBeLessThanOrEqual(KEY_RECORDS)
    }
    const placed = sent.flatMap(({ keys, positions = [] }) => keys.map((key, index) => ({ key, offset: positions[index]?.offset ?? -1 })))
    expect(placed.map(({ offset }) => offset).sort((a, b) => a - b)).toEqual(log.map((_, offset) => offset))
    for (const { key, offset } of placed) expect(log[offset]).toBe(key)
    for (const key of new Set(log)) {
      const offsets = placed.filter((each) => each.key === key).map(({ offset }) => offset)
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
    }
  }))
})

test('when a flush fails, the rest of its appends is not written, and other appends are', () => {
  const { append, flush, queue } = openQueue()
  append(...many('flood', 100))
  flush()
  queue.failed(queue.take())
  const other = append('quiet')
  expect(flush()).toEqual(['quiet'])
  expect(other.positions).toBeDefined()
  expect(queue.isEmpty()).toBe(true)
})

test('an append that would fill the queue beyond its bound is refused', () => {
  const { queue } = openQueue()
  let fault: unknown
  queue.add({ topic: 1, records: [{ timestamp: 0, key: 'k', value: new Uint8Array() }], sizes: [65 * 1024 * 1024], resolve: () => {}, reject: (error) => (fault = error) })
  expect(isFault(fault, 'log-overloaded')).toBe(true)
})
