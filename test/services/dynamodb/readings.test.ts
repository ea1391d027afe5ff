import { dynamoReadings } from '../../../processors/adapters/dynamodb/readings.ts'
import { DAY_MS, seriesContract } from '../../contracts/series.ts'
import { questionsContract } from '../../contracts/series-questions.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'

const open = async () => {
  const { endpoint } = await sharedDynamoDb()
  return {
    stores: dynamoReadings({ endpoint }),
    start: Math.floor(Date.now() / DAY_MS - 2) * DAY_MS,
    cleanup: async () => {},
  }
}

describeWith('DynamoDB Local as a plain process', dynamodbAvailable(), () => {
  seriesContract('DynamoDB readings', open)
  questionsContract('DynamoDB readings', open)
})
