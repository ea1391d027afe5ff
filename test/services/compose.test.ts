import { QueryCommand, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dynamoStores } from '../../processors/adapters/dynamodb/store.ts'
import { kafkaLogs } from '../../processors/adapters/kafka/logs.ts'
import { describeWith } from './available.ts'
import { composeAvailable } from './containers.ts'
import { freePort } from './kafka-node.ts'
import { checkItems, checkRecords } from './smoke.ts'

const FILE = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url))
const IMAGES = [...readFileSync(FILE, 'utf8').matchAll(/^ +(?:image:|FROM) (\S+)$/gm)].map(([, image = '']) => image)
const TIMEOUT_MS = 240_000

describeWith('docker-compose.yml', await composeAvailable(...IMAGES), () => {
  let env: NodeJS.ProcessEnv
  const compose = (...command: string[]) =>
    promisify(execFile)('docker', ['compose', '-f', FILE, '-p', `tributary-test-${process.pid}`, ...command], { env })

  beforeAll(async () => {
    // Uses free ports, because a stack of a developer can run on the default ports.
    const [kafka, dynamodb, timestream] = [await freePort(), await freePort(), await freePort()]
    env = {
      ...process.env,
      TRIBUTARY_KAFKA_PORT: `${kafka}`,
      TRIBUTARY_DYNAMODB_PORT: `${dynamodb}`,
      TRIBUTARY_TIMESTREAM_PORT: `${timestream}`,
    }
    await compose('up', '--detach', '--wait', '--wait-timeout', `${TIMEOUT_MS / 1000}`)
  }, TIMEOUT_MS)
  afterAll(() => compose('down', '--volumes', '--timeout', '5'), TIMEOUT_MS)

  test('starts with every service healthy', async () => {
    const { stdout } = await compose('ps', '--format', '{{.Service}} {{.Health}}')
    expect(stdout.trim().split('\n').sort()).toEqual(['dynamodb healthy', 'kafka healthy', 'timestream healthy'])
  })

  test('its Kafka stores appended records, and a group reads them in order', { timeout: TIMEOUT_MS }, async () => {
    const logs = kafkaLogs({ brokers: [`127.0.0.1:${env['TRIBUTARY_KAFKA_PORT']}`], partitions: 3 })
    await checkRecords(logs).finally(() => logs.close())
  })

  test('its timestream-local answers the SDK', { timeout: TIMEOUT_MS }, async () => {
    const client = new TimestreamQueryClient({
      endpoint: `http://127.0.0.1:${env['TRIBUTARY_TIMESTREAM_PORT']}`,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    const { Rows } = await client.send(new QueryCommand({ QueryString: 'SELECT 1' })).finally(() => client.destroy())
    expect(Rows).toEqual([{ Data: [{ ScalarValue: '1' }] }])
  })

  test('its DynamoDB stores commits once and keeps them over a restart', { timeout: TIMEOUT_MS }, async () => {
    const stores = dynamoStores({ endpoint: `http://127.0.0.1:${env['TRIBUTARY_DYNAMODB_PORT']}` })
    const spec = { name: 'restarted', ttl: 'ttl', indexes: [] }
    const item = { PK: 'USER#a', SK: 'A', _pos: 1 }
    try {
      await checkItems(stores)
      await (await stores.create(spec, 1)).commit([[[{ put: item, expect: null }]]])
      await compose('restart', 'dynamodb')
      await compose('up', '--detach', '--wait')
      expect(await (await stores.create(spec, 1)).load([item])).toEqual([item])
    } finally {
      await stores.close()
    }
  })
})
