import { afterAll, beforeAll, expect, test } from 'vitest'
import { dynamoStores, type DynamoStore, type DynamoStores } from '../../../../processors/adapters/dynamodb/store.ts'
import type { Stored } from '../../../../projections/item.ts'
import { describeWith } from '../../../services/available.ts'
import { dynamodbAvailable, startDynamoDb, type DynamoDb } from '../../../services/dynamodb.ts'
import { freshSpec } from './table.ts'

const put = (SK: string, _pos: number, more: Record<string, Stored[string]> = {}): Stored => ({ PK: 'USER#a', SK, ...more, _pos }) as Stored

describeWith('the DynamoDB store on DynamoDB Local', dynamodbAvailable(), () => {
  let service: DynamoDb
  let stores: DynamoStores
  beforeAll(async () => {
    service = await startDynamoDb()
    stores = dynamoStores({ endpoint: service.endpoint })
  })
  afterAll(async () => {
    await stores?.close()
    await service?.stop()
  })
  const open = (): Promise<DynamoStore> => stores.open(freshSpec(), 1)

  test('a chunk is applied whole, and comes back from load, reader and scan', async () => {
    const store = await open()
    const items = [put('A', 1, { n: 1.5, big: 2n ** 70n, list: [null, true, { x: '' }] }), put('B', 1)]
    expect(await store.commit([[items.map((item) => ({ put: item, expect: null }))]], { partition: 3, offset: 2 })).toEqual([{ applied: 'all' }])
    expect(await store.load([{ PK: 'USER#a', SK: 'B' }, { PK: 'USER#a', SK: 'C' }, { PK: 'USER#a', SK: 'A' }])).toEqual([items[1], undefined, items[0]])
    expect(await store.reader(() => 0).query({ pk: 'USER#a', limit: 10 })).toEqual({ items })
    expect(await store.checkpoints()).toEqual(new Map([[3, 2]]))
    const scanned: Stored[] = []
    for await (const page of store.scan()) scanned.push(...page)
    expect(scanned).toEqual(items)
  })

  test('a failed transaction changes nothing and returns all that its writes met', async () => {
    const store = await open()
    await store.commit([[[{ put: put('A', 1), expect: null }], [{ put: put('B', 5), expect: null }]]])
    const outcome = await store.commit([[[{ put: put('A', 6), expect: 1 }, { put: put('B', 6), expect: 2 }, { put: put('C', 6), expect: null }]]], { partition: 0, offset: 7 })
    expect(outcome).toEqual([{ applied: 0, current: [put('A', 1), put('B', 5)] }])
    expect(await store.checkpoints()).toEqual(new Map())
  })
})
