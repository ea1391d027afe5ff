import { test } from 'vitest'
import { dynamoStores } from '../../processors/adapters/dynamodb/store.ts'
import { kafkaLogs } from '../../processors/adapters/kafka/logs.ts'
import { describeWith } from './available.ts'
import {
  containersAvailable,
  DYNAMODB_IMAGE,
  KAFKA_IMAGE,
  startDynamoDbContainer,
  startKafkaContainer,
} from './containers.ts'
import { checkItems, checkRecords } from './smoke.ts'

const START_TIMEOUT_MS = 240_000

describeWith('services from container images', await containersAvailable(KAFKA_IMAGE, DYNAMODB_IMAGE), () => {
  test('Kafka stores appended records, and a group reads them in order', { timeout: START_TIMEOUT_MS }, async () => {
    const kafka = await startKafkaContainer()
    const logs = kafkaLogs({ brokers: kafka.brokers, partitions: 3 })
    try {
      await checkRecords(logs)
    } finally {
      await logs.close()
      await kafka.stop()
    }
  })

  test('DynamoDB Local stores commits once', { timeout: START_TIMEOUT_MS }, async () => {
    const dynamodb = await startDynamoDbContainer()
    const stores = dynamoStores({ endpoint: dynamodb.endpoint })
    try {
      await checkItems(stores)
    } finally {
      await stores.close()
      await dynamodb.stop()
    }
  })
})
