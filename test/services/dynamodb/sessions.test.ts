import { expect, test } from 'vitest'
import { createSessions, SESSIONS_TABLE } from '../../../host/wiring/sessions.ts'
import { dynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { sessionsContract } from '../../contracts/sessions.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'

describeWith('DynamoDB Local as a plain process', dynamodbAvailable(), () => {
  sessionsContract('DynamoDB', async () => {
    const { endpoint } = await sharedDynamoDb()
    const stores = dynamoStores({ endpoint })
    return { stores, cleanup: () => stores.close() }
  })

  test('sessions of another process are found, and expired rows are removed by DynamoDB', async () => {
    const { endpoint } = await sharedDynamoDb()
    const [mine, theirs] = [dynamoStores({ endpoint }), dynamoStores({ endpoint })]
    const enabled: string[] = []
    const stores = {
      create: mine.create,
      enableTtl: async (...args: Parameters<typeof mine.enableTtl>) => {
        enabled.push(args[0].ttl)
        await mine.enableTtl(...args)
      },
    }
    const now = Date.now()
    const clock = { now: () => now }
    const session = { user: 'ann', token: null, email: null, openedAt: now, expiresAt: now + 60_000 }
    await createSessions({ stores, clock }).open('one', session)
    expect(await createSessions({ stores: theirs, clock }).find('one')).toEqual(session)
    expect(enabled).toEqual([SESSIONS_TABLE.ttl])
    await Promise.all([mine.close(), theirs.close()])
  })
})
