import { dynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { storeContract } from '../../contracts/store.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'

describeWith('DynamoDB Local as a plain process', dynamodbAvailable(), () =>
  storeContract('DynamoDB', async () => {
    const { endpoint } = await sharedDynamoDb()
    return { stores: dynamoStores({ endpoint }), cleanup: async () => {} }
  }),
)
