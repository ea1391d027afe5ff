import { Kafka, logLevel } from 'kafkajs'
import type { Admin } from 'kafkajs'
import { expect } from 'vitest'
import { meals } from '../../processors/meals/domain.ts'
import type { StatusRow } from '../../host/serving/domain-status.ts'
import type { KafkaHandle } from '../services/kafka.ts'
import type { KafkaNode } from '../services/kafka-node.ts'
import { differencesOf, startLoad } from './load.ts'
import type { Load } from './load.ts'
import type { Services } from './on-services.ts'
import { newToken, readiness, run, startServer, until, statusOf as rowOfStatus } from './program.ts'
import type { Env, Server } from './program.ts'
import { groupOf } from '../../processors/engine/generations/generation.ts'

/** An edge and processors on Kafka and DynamoDB, each in its own process, and load on the edge. */
export interface ProcessesUnderLoad {
  readonly env: Env
  readonly edge: Server
  readonly processors: Server[]
  readonly load: Load
  readonly tokens: readonly string[]
  readonly users: number
  addProcessor(): Promise<Server>
  /**
   * Stops the load, and repeats requests until each is acknowledged. Then checks that each event exists once, that sums are exact, that items equal
   * their fold, and that no lag is left.
   */
  finish(): Promise<void>
}

const USERS = ['ann', 'bob', 'cyd', 'dan', 'eve', 'fay']
const SESSION_MS = 6_000
const PARTITIONS = 4
const CONNECTIONS = 6
export const GROUP = groupOf(meals.name, 1)
export const ROLES = ['--roles', 'processor,sender,timers']

/** Returns a function that starts the processes, with load for one day. All its calls use the same tokens, because the tests share the services. */
export const processesOn = ({ env: envWith }: Services): ((day: string) => Promise<ProcessesUnderLoad>) => {
  const tokens: string[] = []
  return async (day) => {
    const env = envWith({
      TRIBUTARY_KAFKA_PARTITIONS: String(PARTITIONS),
      TRIBUTARY_KAFKA_SESSION_MS: String(SESSION_MS),
    })
    const edge = await startServer(env, ['--roles', 'edge'])
    const processors: Server[] = []
    const addProcessor = async (): Promise<Server> => {
      const added = await startServer(env, ROLES)
      processors.push(added)
      return added
    }
    await addProcessor()
    await addProcessor()
    if (tokens.length === 0) for (const user of USERS) tokens.push(await newToken(env, user))
    const at = { url: () => edge.url, tokens, day }
    const load = startLoad({ ...at, connections: CONNECTIONS, first: Date.parse(day) })
    const finish = async (): Promise<void> => {
      await load.stop()
      await load.settle(at.url)
      expect(load.unexpected).toEqual([])
      expect(await differencesOf(load, at)).toEqual([])
      await until(
        async () => (await statusOf(env)).lagEvents === 0,
        () => 'the lag does not become 0',
        120_000,
      )
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      await until(
        async () => {
          const { lagEvents, parked } = await statusOf(env)
          return lagEvents === 0 && parked === 0
        },
        () => 'the lag or the number of parked keys does not become 0',
      )
    }
    const outputs = (): string => [edge, ...processors].map(({ stderr }) => stderr().slice(-2_000)).join('\n')
    // A failure can be in the log of any process, so the message of a failed test contains the logs of all processes.
    return {
      env,
      edge: { ...edge, stderr: outputs },
      processors,
      load,
      tokens,
      users: USERS.length,
      addProcessor,
      finish,
    }
  }
}

export const statusOf = (env: Env): Promise<StatusRow> => rowOfStatus<StatusRow>(env)

export const isReady = async (server: Server): Promise<boolean> => (await readiness(server)).status === 200
export const notReady = async (server: Server): Promise<string | undefined> => {
  const { status, text } = await readiness(server)
  return status === 503 ? text : undefined
}

/** The value of a counter of the process, summed over all labels. */
export const metricOf = async ({ admin }: Server, name: string): Promise<number> => {
  const text = await (await fetch(`${admin}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  )
}

/** The codes of the log lines that a process wrote. */
export const codesIn = ({ stderr }: Server): readonly string[] =>
  stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => {
      const { code } = JSON.parse(line) as { code?: string }
      return code === undefined ? [] : [code]
    })

export const withAdmin = async <T>(
  { brokers }: Pick<KafkaHandle, 'brokers'>,
  work: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 20, maxRetryTime: 1_000 } }).admin()
  try {
    await admin.connect()
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

const partitionsOf = (kafka: KafkaHandle) =>
  withAdmin(
    kafka,
    async (admin) => (await admin.fetchTopicMetadata({ topics: [meals.topic] })).topics[0]?.partitions ?? [],
  )

export const leaderOf = async (kafka: KafkaHandle, partition: number): Promise<KafkaNode> => {
  const leader = (await partitionsOf(kafka)).find(({ partitionId }) => partitionId === partition)?.leader ?? 0
  return kafka.node(leader - 1)
}

/** Resolves when every record of the topic is on all three brokers, so that the next broker can stop. */
export const untilWhole = (kafka: KafkaHandle): Promise<void> =>
  until(
    async () => (await partitionsOf(kafka)).every(({ isr }) => isr.length === 3),
    () => 'not every record is on all brokers',
    120_000,
  )

export const committedOffsets = (kafka: KafkaHandle): Promise<readonly string[]> =>
  withAdmin(kafka, async (admin) => {
    const [found] = await admin.fetchOffsets({ groupId: GROUP, topics: [meals.topic] })
    return (found?.partitions ?? []).map(({ partition, offset }) => `${partition}:${offset}`).sort()
  })

const TOPIC = 2

/**
 * Sets how many replicas must be in sync before Kafka stores a committed offset. If this is the number of brokers and one broker is stopped, Kafka
 * rejects commits of offsets, and nothing else.
 */
export const needForOffsets = (kafka: KafkaHandle, copies: number): Promise<unknown> =>
  withAdmin(kafka, (admin) =>
    admin.alterConfigs({
      validateOnly: false,
      // Kafka resets the settings that this request does not name.
      resources: [
        {
          type: TOPIC,
          name: '__consumer_offsets',
          configEntries: [
            { name: 'cleanup.policy', value: 'compact' },
            { name: 'min.insync.replicas', value: String(copies) },
          ],
        },
      ],
    }),
  )
