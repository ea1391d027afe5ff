import { afterAll, beforeAll, expect, test } from 'vitest'
import { dynamoStores, type DynamoStores } from '../../processors/adapters/dynamodb/store.ts'
import { describeWith } from './available.ts'
import { containersAvailable, DYNAMODB_IMAGE, startDynamoDbContainer, type DynamoDbService } from './containers.ts'

describeWith('DynamoDB Local from its container image', await containersAvailable(DYNAMODB_IMAGE), () => {
  let service: DynamoDbService | undefined
  let stores: DynamoStores
  beforeAll(async () => {
    service = await startDynamoDbContainer()
    stores = dynamoStores({ endpoint: service.endpoint })
  })
  afterAll(async () => {
    await stores?.close()
    await service?.stop()
  })

  test('keeps what was committed', async () => {
    const store = await stores.open({ name: 'containers', ttl: 'ttl', indexes: [] }, 1)
    const items = ['A', 'B'].map((SK) => ({ PK: 'USER#a', SK, _pos: 1 }))
    expect(await store.commit([[items.map((put) => ({ put, expect: null }))]], { partition: 0, offset: 2 })).toEqual([{ applied: 'all' }])
    expect(await store.load(items)).toEqual(items)
    expect(await store.checkpoints()).toEqual(new Map([[0, 2]]))
  })
})
