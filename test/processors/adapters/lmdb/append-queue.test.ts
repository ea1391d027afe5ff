import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAppendQueue, KEY_RECORDS, type QueuedRecord } from '../../../../processors/adapters/lmdb/append-queue.ts'
import type { Position } from '../../../../processors/engine/ports/log.ts'
import { isFault } from '../../../../schemas/fault.ts'

interface TestAppend {
  readonly keys: readonly string[]
  positions?: readonly Position[]
  failed?: unknown
}

/** A queue over a log in memory, which is a list of keys. `state.passed` is the offset up to which the subscribers have processed the log. */
const openQueue = () => {
  const log: string[] = []
  const state = { passed: Infinity }
  const queue = createAppendQueue((_, offset) => state.passed > offset)
  const append = (...keys: readonly string[]): TestAppend => {
    const result: TestAppend = { keys }
    queue.add({
      topic: 1,
      records: keys.map((key) => ({ timestamp: 0, key, value: new Uint8Array() })),
      sizes: keys.map(() => 10),
      resolve: (positions) => (result.positions = positions),
      reject: (fault) => (result.failed = fault),
    })
    return result
  }
  const keyOf = ({ append: { records }, index }: QueuedRecord) => records[index]?.key ?? ''
  const flush = (): readonly string[] => {
    const records = queue.take()
    const first = log.length
    log.push(...records.map(keyOf))
    queue.written(
      records,
      records.map((_, nth) => first + nth),
    )
    return records.map(keyOf)
  }
  return { queue, log, state, append, flush }
}

const repeated = (key: string, count: number): readonly string[] => Array.from({ length: count }, () => key)

test('every flush has room for the appends of other keys during a large append of one key', () => {
  const { append, flush } = openQueue()
  const large = append(...repeated('flood', 1_000))
  const small = append('quiet')
  expect(flush()).toEqual([...repeated('flood', KEY_RECORDS), 'quiet'])
  expect(small.positions).toEqual([{ partition: 0, offset: KEY_RECORDS }])
  expect(large.positions).toBeUndefined()
  const next = append('quiet')
  flush()
  expect(next.positions).toEqual([{ partition: 0, offset: 2 * KEY_RECORDS + 1 }])
})

test('the rest of a large append waits until its written part is folded, and an append of another key does not wait', () => {
  const { append, flush, state } = openQueue()
  state.passed = 0
  append(...repeated('flood', 1_000))
  flush()
  expect(flush()).toEqual([])
  append('quiet')
  expect(flush()).toEqual(['quiet'])
  state.passed = KEY_RECORDS - 1
  expect(flush()).toEqual([])
  state.passed = KEY_RECORDS
  expect(flush()).toEqual(repeated('flood', KEY_RECORDS))
})

test('several large appends of one key share the limit of the key and are written in their order', () => {
  const { append, flush } = openQueue()
  const all = [append(...repeated('flood', 40)), append(...repeated('flood', 40)), append(...repeated('flood', 40))]
  flush()
  expect(all.map(({ positions }) => positions === undefined)).toEqual([true, true, true])
  flush()
  expect(all.map(({ positions }) => positions === undefined)).toEqual([false, true, true])
  while (flush().length > 0);
  expect(all.flatMap(({ positions }) => positions?.map(({ offset }) => offset))).toEqual(
    Array.from({ length: 120 }, (_, offset) => offset),
  )
})

test('every record is written once, each key in order, and no flush exceeds the limit of a key', () => {
  const appends = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 90 }), {
    minLength: 1,
    maxLength: 12,
  })
  fc.assert(
    fc.property(appends, (all) => {
      const { append, flush, log, queue } = openQueue()
      const results = all.map((keys) => append(...keys))
      while (!queue.isEmpty()) {
        const flushed = flush()
        for (const key of new Set(flushed))
          expect(flushed.filter((flushedKey) => flushedKey === key).length).toBeLessThanOrEqual(KEY_RECORDS)
      }
      const written = results.flatMap(({ keys, positions = [] }) =>
        keys.map((key, index) => ({ key, offset: positions[index]?.offset ?? -1 })),
      )
      expect(written.map(({ offset }) => offset).sort((a, b) => a - b)).toEqual(log.map((_, offset) => offset))
      for (const { key, offset } of written) expect(log[offset]).toBe(key)
      for (const key of new Set(log)) {
        const offsets = written.filter((record) => record.key === key).map(({ offset }) => offset)
        expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
      }
    }),
  )
})

test('if a flush fails, the rest of its appends is not written, and other appends are written', () => {
  const { append, flush, queue } = openQueue()
  append(...repeated('flood', 100))
  flush()
  queue.failed(queue.take())
  const later = append('quiet')
  expect(flush()).toEqual(['quiet'])
  expect(later.positions).toBeDefined()
  expect(queue.isEmpty()).toBe(true)
})

test('an append that exceeds the limit of the queue is rejected', () => {
  const { queue } = openQueue()
  let fault: unknown
  queue.add({
    topic: 1,
    records: [{ timestamp: 0, key: 'k', value: new Uint8Array() }],
    sizes: [65 * 1024 * 1024],
    resolve: () => {},
    reject: (error) => (fault = error),
  })
  expect(isFault(fault, 'log-overloaded')).toBe(true)
})
