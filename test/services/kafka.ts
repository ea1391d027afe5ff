import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Available } from './available.ts'
import { fetchJars, jarsAvailable, type JavaProgram } from './jars.ts'
import { createNode, freePort, type KafkaNode } from './kafka-node.ts'
import { leased, shared } from './shared.ts'

/** Apache Kafka (KRaft) as plain processes. */
export interface KafkaHandle {
  readonly brokers: string[]
  /** The node with this index, from 0. */
  node(index: number): KafkaNode
  stop(): Promise<void>
}

export interface KafkaOptions {
  nodes?: 1 | 3
  /** Further settings of server.properties. */
  properties?: Record<string, string | number>
  /** The ports of further listeners on 127.0.0.1, by protocol. Only with one node. */
  listeners?: Partial<Record<'SASL_PLAINTEXT' | 'SASL_SSL', number>>
  /** Further arguments of the command that formats the storage, such as users. */
  format?: string[]
  /** True: the brokers keep running when this process ends, and the teardown of the test run stops them. Default: false. */
  detached?: boolean
  /** The folder in which a temporary folder for the data is created. Default: the temporary folder of the system. */
  under?: string
}

const VERSION = '4.3.1'
const PROGRAM: JavaProgram = {
  name: 'Kafka',
  version: VERSION,
  // slf4j-simple is the only binding of SLF4J, so a system property sets the log level, and no configuration file is needed.
  artifacts: [`org.apache.kafka:kafka_2.13:${VERSION}`, 'org.slf4j:slf4j-simple:1.7.36'],
}

export const kafkaAvailable = (): Available => jarsAvailable(PROGRAM)

export async function startKafka(options: KafkaOptions = {}): Promise<KafkaHandle> {
  const { nodes: count = 1, properties = {}, listeners = {}, detached = false, under = tmpdir() } = options
  const jars = fetchJars(PROGRAM)
  const folder = mkdtempSync(join(under, 'tributary-kafka-'))
  const ports = await Promise.all(
    Array.from({ length: count }, async () => ({ client: await freePort(), controller: await freePort() })),
  )
  const voters = ports.map(({ controller }, index) => `${index + 1}@127.0.0.1:${controller}`).join(',')
  const cluster = randomId()
  const nodes = ports.map(({ client, controller }, index) => {
    const data = join(folder, `data-${index + 1}`)
    const config = join(folder, `server-${index + 1}.properties`)
    const settings = {
      ...serverProperties({ id: index + 1, client, controller, voters, data, count, listeners }),
      ...properties,
    }
    writeFileSync(
      config,
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    if (index === 0) format(jars, config, ['-t', cluster, ...(options.format ?? [])])
    else formatLike(join(folder, 'data-1'), data, { id: index + 1, cluster })
    return createNode({
      id: index + 1,
      port: client,
      jars,
      config,
      output: join(folder, `node-${index + 1}.log`),
      detached,
    })
  })
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()))
    rmSync(folder, { recursive: true, force: true })
  }
  await Promise.all(nodes.map((node) => node.start())).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const node = (index: number): KafkaNode => {
    const found = nodes[index]
    if (!found) throw new Error(`the cluster has ${count} nodes, there is no node ${index}`)
    return found
  }
  return { brokers: nodes.map(({ address }) => address), node, stop }
}

const startShared = async (
  options: Pick<KafkaOptions, 'detached' | 'under'>,
): Promise<{ state: Pick<KafkaHandle, 'brokers'>; pids: number[] }> => {
  const handle = await startKafka(options)
  return { state: { brokers: handle.brokers }, pids: [handle.node(0).pid()] }
}

/** Returns the broker that all test files of a run share. The first call starts it. Each test file needs its own topic names. */
export const sharedKafka = (): Promise<Pick<KafkaHandle, 'brokers'>> => shared('kafka', startShared)

/** Leases a broker for tests of the program, whose topics have fixed names. No other test file uses it until the lease is released. */
export const leasedKafka = () => leased('kafka', startShared)

interface NodeSettings {
  id: number
  client: number
  controller: number
  voters: string
  data: string
  count: number
  listeners: Partial<Record<string, number>>
}

function serverProperties({
  id,
  client,
  controller,
  voters,
  data,
  count,
  listeners,
}: NodeSettings): Record<string, string | number> {
  const copies = Math.min(3, count)
  const inSync = Math.max(1, copies - 1)
  const forClients = Object.entries({ PLAINTEXT: client, ...listeners })
    .map(([name, port]) => `${name}://127.0.0.1:${port}`)
    .join(',')
  return {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters,
    listeners: `${forClients},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': forClients,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
    'log.dirs': data,
    'auto.create.topics.enable': 'false',
    'num.partitions': 1,
    'default.replication.factor': copies,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': 5,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': 5,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': 0,
    'log.segment.delete.delay.ms': 1000,
    // By default, this buffer takes 128 MiB of the heap.
    'log.cleaner.dedupe.buffer.size': 4 << 20,
    // With this, the controller notices a dead node after 2 s instead of 9 s.
    'broker.session.timeout.ms': 2000,
    'broker.heartbeat.interval.ms': 500,
  }
}

function format(jars: string, config: string, args: string[]): void {
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'
  const run = spawnSync(
    'java',
    [
      '-Xmx128m',
      '-XX:TieredStopAtLevel=1',
      quiet,
      '-cp',
      join(jars, '*'),
      'kafka.tools.StorageTool',
      'format',
      '-c',
      config,
      ...args,
    ],
    { encoding: 'utf8' },
  )
  if (run.status !== 0) throw new Error(`Kafka could not format its storage: ${run.stdout}${run.stderr}`)
}

/** Formats the storage of another node by a copy of the bootstrap records of the first node, because a further JVM would take seconds. */
function formatLike(first: string, data: string, { id, cluster }: { id: number; cluster: string }): void {
  mkdirSync(data, { recursive: true })
  writeFileSync(
    join(data, 'meta.properties'),
    `version=1\nnode.id=${id}\ncluster.id=${cluster}\ndirectory.id=${randomId()}\n`,
  )
  copyFileSync(join(first, 'bootstrap.checkpoint'), join(data, 'bootstrap.checkpoint'))
}

/** Returns a random id in the form of Kafka: 16 bytes as base64url, without a dash at the start. */
const randomId = (): string => randomBytes(16).toString('base64url').replace(/^-/, 'A')
