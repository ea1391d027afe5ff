import { afterAll, beforeAll } from 'vitest'
import { connect } from '../../processors/adapters/dynamodb/connect.ts'
import { describeWith, ifLong } from '../services/available.ts'
import { dynamodbAvailable, leasedDynamoDb, startDynamoDb } from '../services/dynamodb.ts'
import type { DynamoDb } from '../services/dynamodb.ts'
import { kafkaAvailable, leasedKafka, startKafka } from '../services/kafka.ts'
import type { KafkaHandle, KafkaOptions } from '../services/kafka.ts'
import { withAdmin } from './processes-under-load.ts'
import { freshFolder, until } from './program.ts'
import type { Env } from './program.ts'

/** The services of a suite. Available only while its tests run. */
export interface Services {
  readonly kafka: Pick<KafkaHandle, 'brokers'>
  readonly dynamodb: Pick<DynamoDb, 'endpoint'>
  /** Returns the environment of a program in a new folder that uses these services, with the variables in `more`. */
  env(more?: Env): Env
}

/** Services that the suite may stop and configure. */
export interface OwnServices extends Services {
  readonly kafka: KafkaHandle
  readonly dynamodb: DynamoDb
}

type Opened<Kind extends Services> = Pick<Kind, 'kafka' | 'dynamodb'> & { close(): Promise<void> }

const describeOn = <Kind extends Services>(
  name: string,
  { long, open }: { readonly long: boolean; open(): Promise<Opened<Kind>> },
  suite: (services: Pick<Kind, 'kafka' | 'dynamodb' | 'env'>) => void,
): void => {
  const broker = kafkaAvailable()
  const available = broker.ok ? dynamodbAvailable() : broker
  describeWith(name, long ? ifLong(available) : available, () => {
    let opened: Opened<Kind>
    beforeAll(async () => void (opened = await open()), 300_000)
    afterAll(() => opened?.close(), 300_000)
    suite({
      get kafka() {
        return opened.kafka
      },
      get dynamodb() {
        return opened.dynamodb
      },
      env: (more = {}) => ({
        TRIBUTARY_DATA: freshFolder(),
        TRIBUTARY_KAFKA: opened.kafka.brokers.join(','),
        TRIBUTARY_DYNAMODB: opened.dynamodb.endpoint,
        ...more,
      }),
    })
  })
}

/** Declares a suite of tests that run programs on an empty Kafka and DynamoDB Local. No other test file uses these at the same time. */
export const describeOnServices = (name: string, suite: (services: Services) => void, { long = false } = {}): void =>
  describeOn<Services>(name, { long, open: lease }, suite)

/** Declares a suite of tests that run programs on a Kafka and a DynamoDB Local of their own. The tests may stop and configure them. */
export const describeOnOwnServices = (
  name: string,
  suite: (services: OwnServices) => void,
  { long = false, ...options }: KafkaOptions & { readonly long?: boolean } = {},
): void => describeOn<OwnServices>(name, { long, open: () => start(options) }, suite)

const start = async (options: KafkaOptions): Promise<Opened<OwnServices>> => {
  const kafka = await startKafka(options)
  const dynamodb = await startDynamoDb()
  return {
    kafka,
    dynamodb,
    close: async () => {
      await dynamodb.stop()
      await kafka.stop()
    },
  }
}

const lease = async (): Promise<Opened<Services>> => {
  const [kafka, dynamodb] = [await leasedKafka(), await leasedDynamoDb()]
  return {
    kafka: kafka.state,
    dynamodb: dynamodb.state,
    close: async () => {
      await empty(kafka.state, dynamodb.state)
      kafka.release()
      dynamodb.release()
    },
  }
}

/** Deletes every topic, group and table. Waits for the end of the members' sessions, because Kafka deletes only groups without members. */
const empty = async (kafka: Services['kafka'], { endpoint }: Services['dynamodb']): Promise<void> => {
  await withAdmin(kafka, async (admin) => {
    await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => !topic.startsWith('__')) })
    await until(
      async () => {
        await admin.deleteGroups((await admin.listGroups()).groups.map(({ groupId }) => groupId))
        return true
      },
      () => 'the groups still have members',
      120_000,
    )
  })
  const client = connect({ endpoint })
  for (const TableName of (await client.listTables({})).TableNames ?? []) await client.deleteTable({ TableName })
  client.destroy()
}
