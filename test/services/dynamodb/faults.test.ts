import type { BatchGetItemCommandInput, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { dynamoStores, type DynamoStore } from '../../../processors/adapters/dynamodb/store.ts'
import type { Failure } from '../../../processors/adapters/dynamodb/attempts.ts'
import { canonical, type Stored } from '../../../projections/item.ts'
import type { Write } from '../../../processors/engine/ports/store.ts'
import { isFault } from '../../../schemas/fault.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'
import { createFaulty, type Faulty, type Trouble } from './faulty.ts'
import { freshSpec } from './table.ts'

const item = (SK: string, _pos: number, n = 0): Stored => ({ PK: 'USER#a', SK, n, _pos })
const put = (SK: string, _pos: number, expect: number | null): Write => ({ put: item(SK, _pos), expect })
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? { code: error.code, retriable: error.retriable } : error),
  )

describeWith('the DynamoDB store in trouble', dynamodbAvailable(), () => {
  let endpoint: string
  let faulty: Faulty
  let store: DynamoStore
  let slept: number[]
  let failures: Failure[]
  const opened: Faulty[] = []
  beforeAll(async () => {
    endpoint = (await sharedDynamoDb()).endpoint
  })
  beforeEach(async () => {
    faulty = createFaulty(endpoint)
    opened.push(faulty)
    slept = []
    failures = []
    const stores = dynamoStores({
      client: faulty.client,
      clock: { now: () => 0, sleep: async (ms) => void slept.push(ms) },
      random: () => 0.999,
      retry: { maxAttempts: 4, firstDelayMs: 10, maxDelayMs: 30 },
      metrics: { failed: (_, why) => void failures.push(why) },
    })
    store = await stores.create(freshSpec(), 1)
    faulty.sent.length = 0
  })
  afterAll(() => {
    for (const { client } of opened) client.destroy()
  })

  test('a throttled write is retried with growing pauses up to a limit, and is applied once', async () => {
    faulty.next('throttled', 'exceeded', 'throttled')
    expect(await store.commit([[[put('A', 1, null)]]])).toEqual([{ applied: 'all' }])
    expect(slept).toEqual([20, 30, 30])
    expect(faulty.sent).toEqual(['PutItemCommand', 'PutItemCommand', 'PutItemCommand', 'PutItemCommand'])
  })

  test('a conflict between transactions is retried', async () => {
    faulty.next('conflict', 'conflict')
    expect(await store.commit([[[put('A', 1, null), put('B', 1, null)]]])).toEqual([{ applied: 'all' }])
    expect(failures).toEqual(['conflict', 'conflict'])
  })

  test.each<[Trouble, string]>([
    ['throttled', 'store-throttled'],
    ['conflict', 'store-throttled'],
    ['broken', 'store-unavailable'],
    ['unreachable', 'store-unavailable'],
  ])(
    'a commit whose requests are all %s fails with the retriable fault %s, and nothing is written',
    async (trouble, code) => {
      faulty.always(() => trouble)
      expect(
        await faultOf(store.commit([[[put('A', 1, null), put('B', 1, null)]]], { partition: 0, from: 0, offset: 2 })),
      ).toEqual({ code, retriable: true })
      faulty.always(() => 'none')
      expect(await store.load([item('A', 0), item('B', 0)])).toEqual([undefined, undefined])
      expect(await store.checkpoints()).toEqual(new Map())
    },
  )

  test('the retry of a put whose answer was lost finds that the put was applied', async () => {
    faulty.next('lost')
    expect(await store.commit([[[put('A', 1, null)], [put('A', 2, 1)]]])).toEqual([{ applied: 'all' }])
    expect(await store.load([item('A', 0)])).toEqual([item('A', 2)])
  })

  test('the retry of a removal whose answer was lost finds that the removal was applied', async () => {
    await store.commit([[[put('A', 1, null)]]])
    faulty.next('lost')
    expect(await store.commit([[[{ remove: item('A', 0), expect: 1 }]]])).toEqual([{ applied: 'all' }])
  })

  test.each(['known', 'forgotten'])(
    'the retry of a transaction whose answer was lost finds that it was applied, its token %s',
    async (token) => {
      await store.commit([[[put('C', 1, null)]]])
      if (token === 'forgotten') faulty.forgetTokens()
      faulty.next('lost', 'lost')
      const chunk: Write[] = [put('A', 2, null), put('B', 2, null), { remove: item('C', 0), expect: 1 }]
      // The commit has no checkpoint, so the transaction is its first request. So `next` above loses the answers of this transaction.
      expect(await store.commit([[chunk]])).toEqual([{ applied: 'all' }])
      expect(await store.load([item('A', 0), item('B', 0), item('C', 0)])).toEqual([
        item('A', 2),
        item('B', 2),
        undefined,
      ])
    },
  )

  test('a write of another process meanwhile does not count as the own write with a lost answer', async () => {
    await store.commit([[[put('A', 1, null)]]])
    faulty.next('unreachable')
    const meanwhile: Write = { put: item('A', 1, 7), expect: null }
    expect(await store.commit([[[meanwhile]]])).toEqual([{ applied: 0, current: [item('A', 1)] }])
  })

  test('a checkpoint whose answer was lost is written, and a later one replaces it', async () => {
    faulty.next('lost')
    await store.commit([], { partition: 0, from: 0, offset: 5 })
    await store.commit([], { partition: 0, from: 5, offset: 7 })
    expect(await store.checkpoints()).toEqual(new Map([[0, 7]]))
  })

  test('a span with a fault fails the commit after the other spans are settled', async () => {
    faulty.always((command) => (command === 'TransactWriteItemsCommand' ? 'throttled' : 'none'))
    const spans = [[[put('A', 1, null), put('B', 1, null)]], [[put('C', 1, null)], [put('D', 2, null)]]]
    expect(await faultOf(store.commit(spans, { partition: 0, from: 0, offset: 3 }))).toEqual({
      code: 'store-throttled',
      retriable: true,
    })
    expect(await store.load([item('A', 0), item('C', 0), item('D', 0)])).toEqual([
      undefined,
      item('C', 1),
      item('D', 2),
    ])
    expect(await store.checkpoints()).toEqual(new Map())
  })

  test('every read of items by key is strongly consistent', async () => {
    await store.commit([[[put('A', 1, null)]]], { partition: 0, from: 0, offset: 1 })
    faulty.requests.length = 0
    await store.load([item('A', 0)])
    await store.checkpoints()
    for await (const page of store.scan()) expect(page).toHaveLength(1)
    const reader = store.reader(() => 0)
    await reader.get(item('A', 0))
    await reader.query({ pk: 'USER#a', limit: 1 })
    const consistent = faulty.requests.map(({ command, input }) => {
      const [keys] = Object.values((input as BatchGetItemCommandInput).RequestItems ?? {})
      return [command, (keys ?? (input as QueryCommandInput)).ConsistentRead]
    })
    expect(consistent).toEqual([
      ['BatchGetItemCommand', true],
      ['QueryCommand', true],
      ['ScanCommand', true],
      ['BatchGetItemCommand', true],
      ['QueryCommand', true],
    ])
  })

  test('unprocessed keys are requested again as long as some items are returned', async () => {
    const items = Array.from({ length: 250 }, (_, n) => item(`S${n}`, 1, n))
    await store.bulk(items)
    faulty.limitBatches(30)
    expect(await store.load(items)).toEqual(items)
    expect(failures.filter((why) => why === 'throttled').length).toBeGreaterThan(4)
  })

  test('unprocessed items are written again', async () => {
    const items = Array.from({ length: 60 }, (_, n) => item(`S${n}`, 1, n))
    faulty.limitBatches(3)
    await store.bulk(items)
    expect(await store.load(items)).toEqual(items)
  })

  test('a batch of which nothing is processed fails with a retriable fault', async () => {
    faulty.always(() => 'starved')
    expect(await faultOf(store.bulk([item('A', 1)]))).toEqual({ code: 'store-throttled', retriable: true })
    expect(await faultOf(store.load([item('A', 1)]))).toEqual({ code: 'store-throttled', retriable: true })
  })

  test('with any troubles a writer that continues from the returned items applies every event once', async () => {
    const troubles: Trouble[] = [
      'none',
      'lost',
      'throttled',
      'none',
      'broken',
      'none',
      'conflict',
      'lost',
      'none',
      'unreachable',
      'lost',
    ]
    let state = 0
    faulty.always(() => troubles[(state = (state * 7 + 3) % 1009) % troubles.length] ?? 'none')
    for (let pos = 1; pos <= 40; pos += 1) await applyEvent(store, pos)
    faulty.always(() => 'none')
    const [a, b] = await store.load([item('A', 0), item('B', 0)])
    expect([a?.n, b?.n, a?._pos, b?._pos]).toEqual([40, 20, 40, 40])
  })
})

/** Applies an event: adds one to A, and at every second event to B. Like the engine, skips an applied event and tries again after a conflict. */
const applyEvent = async (store: DynamoStore, pos: number): Promise<void> => {
  for (;;) {
    try {
      const [a, b] = await store.load([item('A', 0), item('B', 0)])
      if ((a?._pos ?? 0) >= pos) return
      const chunk: Write[] = [{ put: item('A', pos, Number(a?.n ?? 0) + 1), expect: a?._pos ?? null }]
      if (pos % 2 === 0) chunk.push({ put: item('B', pos, Number(b?.n ?? 0) + 1), expect: b?._pos ?? null })
      const [outcome] = await store.commit([[chunk]])
      if (outcome?.applied === 'all') return
      expect(outcome?.current.map(canonical)).not.toContain(undefined)
    } catch (error) {
      if (!isFault(error) || !error.retriable) throw error
    }
  }
}
