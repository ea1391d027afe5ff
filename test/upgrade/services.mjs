// Reads and writes the records of all topics and the items of all tables, as they are on the wire.
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient, ListTablesCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { Kafka, logLevel } from 'kafkajs'

const kafkaAt = (brokers) => new Kafka({ brokers: brokers.split(','), logLevel: logLevel.ERROR })
const dynamoAt = (dynamodb) => new DynamoDBClient({ endpoint: dynamodb, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } })
const base64 = (value) => (value === null || value === undefined ? null : Buffer.from(value).toString('base64'))
const bytes = (text) => (text === null ? null : Buffer.from(text, 'base64'))
/** Convert attribute values to JSON and back. Bytes become base64 in `$bytes`. */
const toJson = (item) => JSON.parse(JSON.stringify(item, (_, value) => (value?.type === 'Buffer' || value instanceof Uint8Array ? { $bytes: base64(value.data ?? value) } : value)))
const fromJson = (value) => {
  if (Array.isArray(value)) return value.map(fromJson)
  if (value === null || typeof value !== 'object') return value
  return '$bytes' in value ? bytes(value.$bytes) : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fromJson(each)]))
}

export const readServices = async (brokers, dynamodb) => {
  return { topics: await readTopics(kafkaAt(brokers)), tables: await readTables(dynamoAt(dynamodb)) }
}

const readTopics = async (kafka) => {
  const admin = kafka.admin()
  await admin.connect()
  const names = (await admin.listTopics()).filter((name) => !name.startsWith('__'))
  const topics = []
  for (const name of names) {
    const offsets = await admin.fetchTopicOffsets(name)
    topics.push({ name, partitions: offsets.length, records: await readRecords(kafka, name, offsets) })
  }
  await admin.disconnect()
  return topics
}

const readRecords = async (kafka, topic, offsets) => {
  const expected = offsets.reduce((sum, { high }) => sum + Number(high), 0)
  const records = []
  if (expected === 0) return records
  const consumer = kafka.consumer({ groupId: `record-${process.pid}-${topic}` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((done) => {
    void consumer.run({
      eachMessage: async ({ partition, message: { key, value, headers, timestamp, offset } }) => {
        records.push({ partition, offset: Number(offset), key: base64(key), value: base64(value), timestamp, headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, each]) => [name, base64(each)])) })
        if (records.length === expected) done()
      },
    })
  })
  await consumer.disconnect()
  return records.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

const readTables = async (dynamo) => {
  const { TableNames: names = [] } = await dynamo.send(new ListTablesCommand({}))
  return Promise.all(names.map(async (TableName) => {
    const { Table: { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [], StreamSpecification } } = await dynamo.send(new DescribeTableCommand({ TableName }))
    const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema: keys, Projection }) => ({ IndexName, KeySchema: keys, Projection }))
    const items = []
    for (let ExclusiveStartKey; ;) {
      const page = await dynamo.send(new ScanCommand({ TableName, ExclusiveStartKey }))
      items.push(...page.Items.map(toJson))
      ExclusiveStartKey = page.LastEvaluatedKey
      if (ExclusiveStartKey === undefined) break
    }
    return { table: { TableName, KeySchema, AttributeDefinitions, StreamSpecification, BillingMode: 'PAY_PER_REQUEST', ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }) }, items }
  }))
}

/** Writes recorded tables to an empty DynamoDB. Stores the item that `changeItem` returns for each recorded item. */
export const writeTables = async (dynamodb, tables, changeItem) => {
  const dynamo = dynamoAt(dynamodb)
  for (const { table, items } of tables) {
    await dynamo.send(new CreateTableCommand(table))
    for (const item of items) await dynamo.send(new PutItemCommand({ TableName: table.TableName, Item: changeItem(table.TableName, fromJson(item)) }))
  }
}

/** Writes recorded records to topics of the same names, at the same offsets. */
export const writeTopics = async (brokers, topics) => {
  const kafka = kafkaAt(brokers)
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ waitForLeaders: true, topics: topics.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions, configEntries: [{ name: 'retention.ms', value: '-1' }] })) })
  await admin.disconnect()
  const producer = kafka.producer({ idempotent: true })
  await producer.connect()
  for (const { name, records } of topics) {
    for (const { partition, key, value, timestamp, headers } of records) {
      await producer.send({ topic: name, acks: -1, messages: [{ partition, key: bytes(key), value: bytes(value), timestamp, headers: Object.fromEntries(Object.entries(headers).map(([header, each]) => [header, bytes(each)])) }] })
    }
  }
  await producer.disconnect()
}
