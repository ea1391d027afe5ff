import { expect, onTestFinished, test } from 'vitest'
import { dynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { isFault } from '../../../schemas/fault.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'
import { startProxy } from '../proxy.ts'
import { freshSpec } from './table.ts'

const KEY = { PK: 'USER#a', SK: 'A' }
const PATIENCE_MS = 500
/** The number of reads: more than the reader and the client send at the same time. */
const READS = 100

describeWith('a DynamoDB that accepts requests and answers none', dynamodbAvailable(), () => {
  const open = async () => {
    const proxy = await startProxy(Number(new URL((await sharedDynamoDb()).endpoint).port))
    const stores = dynamoStores({ endpoint: `http://127.0.0.1:${proxy.port}` })
    onTestFinished(async () => {
      await stores.close()
      await proxy.stop()
    })
    const store = await stores.create(freshSpec(), 1)
    await store.commit([[[{ put: { ...KEY, n: 1, _pos: 1 }, expect: null }]]])
    return { proxy, reader: store.reader(Date.now, PATIENCE_MS) }
  }
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no fault',
      (error: unknown) => (isFault(error) && error.retriable ? error.code : error),
    )

  test('fails reads at the time limit of the reader, and delays no read after the service answers again', async () => {
    const { proxy, reader } = await open()
    expect(await reader.get(KEY)).toMatchObject({ n: 1 })
    proxy.hang()
    const reads = Array.from({ length: READS }, (_, nth) =>
      codeOf(nth % 2 === 0 ? reader.get(KEY) : reader.query({ pk: KEY.PK, limit: 1 })),
    )
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['store-unavailable']))
    proxy.recover()
    expect(await reader.get(KEY)).toMatchObject({ n: 1 })
    expect((await reader.query({ pk: KEY.PK, limit: 1 })).items).toHaveLength(1)
  }, 30_000)
})
