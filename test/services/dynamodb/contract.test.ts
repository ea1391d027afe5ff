import { dynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { storeContract } from '../../contracts/store.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, startDynamoDb } from '../dynamodb.ts'

// This test does not use the shared DynamoDB Local, because all tables of one process share their sequence numbers. If another test file writes to
// its tables, DynamoDB Local refuses the iterator of an empty shard (TrimmedDataAccessException), although no record was removed.
describeWith('DynamoDB Local as a plain process', dynamodbAvailable(), () =>
  storeContract('DynamoDB', async () => {
    const { endpoint, stop } = await startDynamoDb()
    return { stores: dynamoStores({ endpoint }), cleanup: stop }
  }),
)
