import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Log, LogRecord } from '../../../../processors/engine/ports/log.ts'
import { drawKeys, onlyKeys, upToParked } from '../../../../processors/engine/proof/sample.ts'

const recordOf = (key: string | null, offset: number): LogRecord => ({
  partition: 0,
  offset,
  key,
  timestamp: 0,
  value: new Uint8Array(),
})

const logOf = (keys: readonly (string | null)[]): Pick<Log, 'read' | 'readKey' | 'partitionOf' | 'watermarks'> => ({
  async *read(_, from, to = keys.length) {
    yield keys.map(recordOf).slice(from, to)
  },
  async *readKey(key, from = 0) {
    yield keys.map(recordOf).filter((record) => record.key === key && record.offset >= from)
  },
  partitionOf: () => 0,
  watermarks: async () => [{ partition: 0, low: 0, high: keys.length }],
})

const aKey = fc.constantFrom('a', 'b', 'c', 'd', 'e', null)
const hash = (key: string) => key.charCodeAt(0) % 3

test('the requested number of keys is drawn, or all if there are fewer: those with the lowest hashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aKey), fc.integer({ min: 1, max: 7 }), async (keys, count) => {
      const there = [...new Set(keys)].filter((key) => key !== null)
      const drawn = await drawKeys(logOf(keys), count, hash)
      expect(drawn).toHaveLength(Math.min(count, there.length))
      expect(new Set(drawn).size).toBe(drawn.length)
      const left = there.filter((key) => !drawn.includes(key))
      for (const key of drawn) for (const other of left) expect(hash(key)).toBeLessThanOrEqual(hash(other))
    }),
  )
})

test('the log of some keys contains all their records before the end, in order, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aKey),
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
      fc.nat(20),
      async (keys, some, end) => {
        const found: LogRecord[] = []
        for await (const records of onlyKeys(logOf(keys), some).read(0, 0, end)) found.push(...records)
        expect(found).toEqual(
          keys
            .map(recordOf)
            .filter(({ key, offset }) => key !== null && (some as readonly string[]).includes(key) && offset < end),
        )
      },
    ),
  )
})

test('a projection for which a key is parked receives no event of the key from the parked one on', async () => {
  const parked = [
    { partition: 0, offset: 2, key: 'a', projection: 'one' },
    { partition: 0, offset: 4, key: 'a', projection: '*' },
    { partition: 1, offset: 0, key: 'b', projection: 'one' },
    { partition: 0, offset: 3, key: null, projection: '*' },
  ]
  const heard: (readonly string[] | undefined)[] = []
  for await (const records of upToParked(logOf(['a', 'b', 'a', null, 'a']), parked).read(0, 0))
    heard.push(...records.map(({ discarded }) => discarded))
  expect(heard).toEqual([undefined, undefined, ['one'], undefined, ['one', '*']])
})
