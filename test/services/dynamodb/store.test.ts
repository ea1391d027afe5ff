import fc from 'fast-check'
import { beforeAll, afterAll, expect, test } from 'vitest'
import { toAttributes, toStored } from '../../../processors/adapters/dynamodb/codec.ts'
import { connect } from '../../../processors/adapters/dynamodb/connect.ts'
import { dynamoStores, type DynamoStore, type DynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { createPace } from '../../../processors/engine/timing/pace.ts'
import { sizeOf } from '../../../processors/engine/rows/size.ts'
import { canonical, type Stored, type Value } from '../../../projections/item.ts'
import { isFault } from '../../../schemas/fault.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'
import { arbitraryValue } from '../../processors/adapters/dynamodb/values.ts'
import { freshSpec } from './table.ts'

const put = (SK: string, _pos: number, more: Record<string, Value> = {}): Stored => ({
  PK: 'USER#a',
  SK,
  ...more,
  _pos,
})
const created = (items: readonly Stored[]) => items.map((item) => ({ put: item, expect: null }))
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? error.code : error),
  )

describeWith('the DynamoDB store on DynamoDB Local', dynamodbAvailable(), () => {
  let endpoint: string
  let stores: DynamoStores
  beforeAll(async () => {
    endpoint = (await sharedDynamoDb()).endpoint
    stores = dynamoStores({ endpoint })
  })
  afterAll(() => stores?.close())
  const open = (): Promise<DynamoStore> => stores.create(freshSpec(), 1)

  test('a failed transaction changes nothing and returns the current items of all its writes', async () => {
    const store = await open()
    await store.commit([[created([put('A', 1)]), created([put('B', 5)])]])
    const chunk = [
      { put: put('A', 6), expect: 1 },
      { put: put('B', 6), expect: 2 },
      { put: put('C', 6), expect: null },
    ]
    expect(await store.commit([[chunk]], { partition: 0, from: 0, offset: 7 })).toEqual([
      { applied: 0, current: [put('A', 1), put('B', 5)] },
    ])
    expect(await store.checkpoints()).toEqual(new Map())
  })

  test('the same transaction fails by its conditions the second time, because each commit has a new token', async () => {
    const store = await open()
    const items = [put('A', 1), put('B', 1)]
    expect(await store.commit([[created(items)]])).toEqual([{ applied: 'all' }])
    expect(await store.commit([[created(items)]])).toEqual([{ applied: 0, current: items }])
  })

  test('a chunk of 100 writes is one transaction, and a chunk of 101 is rejected before anything is sent', async () => {
    const store = await open()
    const items = Array.from({ length: 101 }, (_, n) => put(`S${n}`, 1))
    expect(await codeOf(store.commit([[created(items)]]))).toBe('chunk-too-large')
    expect(await store.commit([[created(items.slice(0, 100))]])).toEqual([{ applied: 'all' }])
    expect((await store.load(items)).filter((item) => item !== undefined)).toHaveLength(100)
  })

  test('a chunk above 4 MB is rejected', async () => {
    const store = await open()
    const items = Array.from({ length: 11 }, (_, n) => put(`S${n}`, 1, { pad: 'x'.repeat(390_000) }))
    expect(await codeOf(store.commit([[created(items)]]))).toBe('chunk-too-large')
  })

  test('an item of exactly 400 KB with the largest position is stored, and one more byte is rejected, in a commit and in bulk', async () => {
    const store = await open()
    const bare = sizeOf(put('A', Number.MAX_SAFE_INTEGER, { pad: '' }))
    const largest = put('A', 1, { pad: 'x'.repeat(400 * 1024 - bare) })
    const larger = put('B', 1, { pad: 'x'.repeat(400 * 1024 - bare + 1) })
    expect(await store.commit([[created([largest])]])).toEqual([{ applied: 'all' }])
    expect(await store.load([largest])).toEqual([largest])
    expect(await codeOf(store.commit([[created([larger])]]))).toBe('item-too-large')
    expect(await codeOf(store.bulk([larger]))).toBe('item-too-large')
  })

  test('more than a page of large items is loaded, queried and scanned completely', async () => {
    const store = await open()
    const items = Array.from({ length: 60 }, (_, n) =>
      put(`S${String(n).padStart(3, '0')}`, 1, { pad: 'x'.repeat(300_000), n }),
    )
    await store.bulk(items)
    expect((await store.load(items)).map((item) => item?.['n'])).toEqual(items.map(({ n }) => n))
    const page = await store.reader(() => 0).query({ pk: 'USER#a', limit: 100 })
    expect([page.items.map(({ n }) => n), page.cursor]).toEqual([items.map(({ n }) => n), undefined])
    let scanned = 0
    for await (const page of store.scan()) scanned += page.length
    expect(scanned).toBe(60)
  })

  test('the table returns any value as the codec defines', async () => {
    const store = await open()
    const values = fc.sample(arbitraryValue, { numRuns: 300, seed: 7 })
    const items = values.map((value, n) => put(`S${n}`, 1, { value }))
    await store.bulk(items)
    const loaded = await store.load(items)
    expect(loaded.map((item) => item && canonical(item))).toEqual(
      items.map((item) => canonical(toStored(toAttributes(item)))),
    )
  })

  test('an index returns only its projected attributes, hides expired items, and pages in both directions', async () => {
    const store = await open()
    const listed = (n: number, more: Record<string, Value> = {}) =>
      put(`S${n}`, 1, { GSI1PK: 'G', GSI1SK: `K${n}`, scopes: ['r'], secret: n, ...more })
    await store.bulk([listed(1), listed(2, { ttl: 100 }), listed(3, { ttl: 101 }), listed(4)])
    const reader = store.reader(() => 100_000)
    const first = await reader.query({ index: 'GSI1', pk: 'G', limit: 2, reverse: true })
    expect(first.items).toEqual(
      [4, 3].map((n) => ({ PK: 'USER#a', SK: `S${n}`, GSI1PK: 'G', GSI1SK: `K${n}`, scopes: ['r'] })),
    )
    const { cursor = '' } = first
    const second = await reader.query({ index: 'GSI1', pk: 'G', limit: 2, reverse: true, cursor })
    expect([second.items.map(({ SK }) => SK), second.cursor]).toEqual([['S1'], undefined])
    expect(await codeOf(reader.query({ index: 'GSI2', pk: 'G', limit: 2, reverse: true, cursor }))).toBe('bad-cursor')
    expect(await codeOf(reader.query({ index: 'GSI9', pk: 'G', limit: 2 }))).toBe('unknown-index')
  })

  test('checkpoints are neither read, queried nor scanned as items', async () => {
    const store = await open()
    await store.commit([], { partition: 12, from: 0, offset: 5 })
    expect(await store.reader(() => 0).query({ pk: 'CHECKPOINT#', limit: 5 })).toEqual({ items: [] })
    expect(await store.reader(() => 0).get({ PK: 'CHECKPOINT#', SK: 'P#12' })).toBeUndefined()
    for await (const page of store.scan()) expect.unreachable(JSON.stringify(page))
  })

  test('TTL is disabled until it is enabled', async () => {
    const spec = freshSpec()
    await stores.create(spec, 2)
    const client = connect({ endpoint })
    const ttlOf = async () => (await client.describeTimeToLive({ TableName: `${spec.name}.g2` })).TimeToLiveDescription
    expect(await ttlOf()).toMatchObject({ TimeToLiveStatus: 'DISABLED' })
    await stores.enableTtl(spec, 2)
    await stores.enableTtl(spec, 2)
    expect(await ttlOf()).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' })
    client.destroy()
  })

  test('several processes can enable TTL at the same time', async () => {
    const spec = freshSpec()
    const processes = Array.from({ length: 4 }, () => dynamoStores({ endpoint }))
    await Promise.all(processes.map((process) => process.create(spec, 1)))
    await Promise.all(processes.map((process) => process.enableTtl(spec, 1)))
    for (const process of processes) await process.close()
  })

  test('two processes can create the same table at the same time', async () => {
    const spec = freshSpec()
    const [first, second] = await Promise.all([stores.create(spec, 1), dynamoStores({ endpoint }).create(spec, 1)])
    await first.commit([[created([put('A', 1)])]])
    expect(await second.load([put('A', 0)])).toEqual([put('A', 1)])
  })

  test('a table of that name with other keys or without an index is rejected', async () => {
    const { indexes, ...spec } = freshSpec()
    await stores.create({ ...spec, indexes: [] }, 1)
    expect(await codeOf(stores.create({ ...spec, indexes }, 1))).toBe('table-mismatch')
  })

  test('a commit to a dropped table fails with table-missing', async () => {
    const spec = freshSpec()
    const store = await stores.create(spec, 1)
    await stores.drop(spec, 1)
    await stores.drop(spec, 1)
    expect(await codeOf(store.commit([[created([put('A', 1)])]]))).toBe('table-missing')
  })

  test('an endpoint without a service causes a retriable fault', async () => {
    const unreachable = dynamoStores({ endpoint: 'http://127.0.0.1:1', retry: { maxAttempts: 2, firstDelayMs: 1 } })
    expect(await codeOf(unreachable.create(freshSpec(), 1))).toBe('store-unavailable')
  })

  test('the units of writes are counted, with the bookkeeping separately', async () => {
    const store = await open()
    const [a, b] = [put('A', 1, { pad: 'x'.repeat(3000) }), put('B', 1)]
    await store.commit([[created([a, b, { ...put('0', 1), PK: 'OUTCOME#0#1' }])]], { partition: 0, from: 0, offset: 2 })
    expect(store.units()).toEqual({ domain: (3 + 1) * 2, bookkeeping: 2 + 1 })
    await store.load([a])
    await store.commit([[[{ put: put('A', 2), expect: 1 }]]])
    expect(store.units().domain).toBe(8 + 3)
    await store.commit([[[{ put: put('A', 3), expect: 1 }]]])
    expect(store.units().domain).toBe(11 + 1)
  })

  test('a bulk write keeps to its units per second', async () => {
    let now = 0
    const clock = { now: () => now, sleep: async (ms: number) => void (now += ms) }
    const store = await dynamoStores({ endpoint }).create(freshSpec(), 1)
    await store.bulk(
      Array.from({ length: 100 }, (_, n) => put(`S${n}`, 1)),
      createPace({ clock, perSecond: 50 }),
    )
    expect(now).toBe(1500)
    expect(store.units()).toEqual({ domain: 100, bookkeeping: 0 })
  })
})
