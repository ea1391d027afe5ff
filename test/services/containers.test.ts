import { test } from 'vitest'
import { dynamoStores } from '../../processors/adapters/dynamodb/store.ts'
import { kafkaLogs } from '../../processors/adapters/kafka/logs.ts'
import { describeWith } from './available.ts'
import { containersAvailable, DYNAMODB_IMAGE, KAFKA_IMAGE, startDynamoDbContainer, startKafkaContainer } from './containers.ts'
import { keepsItems, keepsRecords } from './smoke.ts'

const START_TIMEOUT_MS = 240_000

describeWith('services from container images', await containersAvailable(KAFKA_IMAGE, DYNAMODB_IMAGE), () => {
  test('Kafka keeps what was appended, and a group reads it in order', { timeout: START_TIMEOUT_MS }, async () => {
    const kafka = await startKafkaContainer()
    const logs = kafkaLogs({ brokers: kafka.brokers, partitions: 3 })
    try {
      await keepsRecords(logs)
    } finally {
      await logs.close()
      await kafka.stop()
    }
  })

  test('DynamoDB Local keeps what was committed, once', { timeout: START_TIMEOUT_MS }, async () => {
    const dynamodb = await startDynamoDbContainer()
    const stores = dynamoStores({ endpoint: dynamodb.endpoint })
    try {
      await keepsItems(stores)
    } finally {
      await stores.close()
      await dynamodb.stop()
    }
  })
})
