import { KafkaContainer } from '@testcontainers/kafka'
import { spawnSync } from 'node:child_process'
import { GenericContainer, getContainerRuntimeClient, ImageName, Wait } from 'testcontainers'
import { messageOf } from '../../schemas/fault.ts'
import { withoutServices, type Available } from './available.ts'

/** The container images of the services that other tests run as plain processes. */
export const KAFKA_IMAGE = 'confluentinc/cp-kafka:8.3.0'
export const DYNAMODB_IMAGE = 'amazon/dynamodb-local:2.6.1'

const KAFKA_PORT = 9093
const DYNAMODB_PORT = 8000

/** Checks that a container engine answers, and that it has each image or can pull it. */
export const containersAvailable = async (...images: readonly string[]): Promise<Available> => {
  const none = withoutServices()
  if (none !== undefined) return none
  let step = 'start a container engine such as Docker'
  try {
    const { image } = await getContainerRuntimeClient()
    for (const name of images) {
      step = `let the container engine get the image ${name}`
      await image.pull(ImageName.fromString(name))
    }
    return { ok: true }
  } catch (error) {
    return { ok: false, how: `${step} (${messageOf(error)})`, requiredBy: 'TRIBUTARY_REQUIRE_CONTAINERS' }
  }
}

/** Checks the docker command with its compose plugin, the engine and the images. */
export const composeAvailable = async (...images: readonly string[]): Promise<Available> => {
  if (spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0)
    return containersAvailable(...images)
  return {
    ok: false,
    how: 'install the docker command with its compose plugin',
    requiredBy: 'TRIBUTARY_REQUIRE_CONTAINERS',
  }
}

export interface KafkaService {
  readonly brokers: string[]
  stop(): Promise<void>
}

export const startKafkaContainer = async (): Promise<KafkaService> => {
  const container = await new KafkaContainer(KAFKA_IMAGE)
    .withEnvironment({ KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1', KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false' })
    .start()
  return {
    brokers: [`${container.getHost()}:${container.getMappedPort(KAFKA_PORT)}`],
    stop: async () => void (await container.stop()),
  }
}

export interface DynamoDbService {
  readonly endpoint: string
  stop(): Promise<void>
}

export const startDynamoDbContainer = async (): Promise<DynamoDbService> => {
  const container = await new GenericContainer(DYNAMODB_IMAGE)
    .withCommand(['-jar', 'DynamoDBLocal.jar', '-inMemory', '-sharedDb', '-disableTelemetry'])
    .withExposedPorts(DYNAMODB_PORT)
    .withWaitStrategy(Wait.forHttp('/', DYNAMODB_PORT).forStatusCode(400))
    .start()
  return {
    endpoint: `http://${container.getHost()}:${container.getMappedPort(DYNAMODB_PORT)}`,
    stop: async () => void (await container.stop()),
  }
}
