import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import type { Query, Reader, TableSpec } from '../../../../projections/table.ts'
import { later, scratch } from './scratch.ts'

const spec: TableSpec = { name: 'orders', ttl: 'ttl', indexes: [{ name: 'BY', pk: 'ipk', sk: 'isk', project: 'all' }] }

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).filter((value) => !value.includes('\u0000'))
const edgeCase = fc.constantFrom('a', 'aa', 'ab', 'a#', 'é', 'éa', '\u{ffff}', '\u{10000}', '\u{10ffff}', '~', '\u0001')
const word = fc.oneof(edgeCase, text)
const bytewise = (a: string, b: string | number): number => Buffer.compare(Buffer.from(a), Buffer.from(String(b)))

const expected = (sortKeys: readonly string[], { prefix, from, to, reverse }: Query): string[] => {
  const matching = sortKeys.filter((sk) =>
    prefix === undefined
      ? (from === undefined || bytewise(sk, from) >= 0) && (to === undefined || bytewise(sk, to) <= 0)
      : sk.startsWith(prefix),
  )
  const sorted = matching.sort(bytewise)
  return reverse === true ? sorted.reverse() : sorted
}

const readAllPages = async (reader: Reader, query: Query): Promise<string[]> => {
  const found: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await reader.query(cursor === undefined ? query : { ...query, cursor })
    found.push(...page.items.map((item) => String(query.index === undefined ? item.SK : item['isk'])))
    if (page.cursor === undefined) return found
    expect(page.items).toHaveLength(query.limit)
    cursor = page.cursor
  }
}

const part = fc.oneof(fc.record({ prefix: word }), fc.record({ from: word, to: word }, { requiredKeys: [] }))

test(
  'queries of any partition, range, direction and page size return the same as a sorted array',
  { timeout: 60_000 },
  async () => {
    const folder = await scratch()
    const stores = lmdbStores({ folder })
    later(() => stores.close())
    let generation = 0
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(word, word), {
          selector: ([pk, sk]) => `${pk}\u0000${sk}`,
          minLength: 1,
          maxLength: 30,
        }),
        fc.array(fc.tuple(part, fc.boolean(), fc.integer({ min: 1, max: 7 }), fc.boolean()), {
          minLength: 5,
          maxLength: 15,
        }),
        async (keys, queries) => {
          const store = await stores.create(spec, ++generation)
          // Some items are in LMDB, some wait to be written, and some are in LMDB while their removal waits. Some of them change their index keys.
          const item = ([PK, SK]: readonly [string, string], pos: number) => ({ PK, SK, ipk: SK, isk: PK, _pos: pos })
          const removed = keys.filter((_, index) => index % 3 === 2)
          const present = keys.filter((_, index) => index % 3 !== 2)
          const moved = present.filter((_, index) => index % 4 === 0)
          await store.bulk(
            [...present.filter((_, index) => index % 2 === 0), ...removed].map((key) => ({
              ...item(key, 1),
              ...(moved.includes(key) ? { isk: 'elsewhere' } : {}),
            })),
          )
          await store.commit([
            ...removed.map(([PK, SK]) => [[{ remove: { PK, SK }, expect: 1 }]]),
            ...present.filter((_, index) => index % 2 === 1).map((key) => [[{ put: item(key, 2), expect: null }]]),
            ...moved.map((key) => [[{ put: item(key, 2), expect: 1 }]]),
          ])
          const reader = store.reader(() => 0)
          for (const [rest, reverse, limit, byIndex] of queries) {
            const column = byIndex ? 1 : 0
            for (const pk of new Set(keys.map((key) => key[column]))) {
              const query: Query = { ...rest, pk, reverse, limit, ...(byIndex ? { index: 'BY' } : {}) }
              const inPartition = present.filter((key) => key[column] === pk).map((key) => key[1 - column] ?? '')
              expect(await readAllPages(reader, query)).toEqual(expected(inPartition, query))
            }
          }
          await store.close()
          await stores.drop(spec, generation)
        },
      ),
      { numRuns: 60 },
    )
  },
)
