import { afterAll, beforeAll } from 'vitest'
import { describeWith, ifLong } from '../services/available.ts'
import { dynamodbAvailable, startDynamoDb } from '../services/dynamodb.ts'
import type { DynamoDb } from '../services/dynamodb.ts'
import { kafkaAvailable, startKafka } from '../services/kafka.ts'
import type { KafkaHandle, KafkaOptions } from '../services/kafka.ts'
import { freshFolder } from './program.ts'
import type { Env } from './program.ts'

/** There while the tests of the suite run. */
export interface Services {
  readonly kafka: KafkaHandle
  readonly dynamodb: DynamoDb
  /** For a program in a fresh folder. */
  env(more?: Env): Env
}

/** A suite of programs on a Kafka and a DynamoDB Local of its own. */
export const describeOnServices = (name: string, suite: (services: Services) => void, { long = false, ...options }: KafkaOptions & { readonly long?: boolean } = {}): void => {
  const broker = kafkaAvailable()
  const available = broker.ok ? dynamodbAvailable() : broker
  describeWith(name, long ? ifLong(available) : available, () => {
    let kafka: KafkaHandle
    let dynamodb: DynamoDb
    beforeAll(async () => {
      kafka = await startKafka(options)
      dynamodb = await startDynamoDb()
    }, 300_000)
    afterAll(async () => {
      await dynamodb?.stop()
      await kafka?.stop()
    })
    suite({
      get kafka() { return kafka },
      get dynamodb() { return dynamodb },
      env: (more = {}) => ({ TRIBUTARY_DATA: freshFolder(), TRIBUTARY_KAFKA: kafka.brokers.join(','), TRIBUTARY_DYNAMODB: dynamodb.endpoint, ...more }),
    })
  })
}
