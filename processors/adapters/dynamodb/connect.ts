import { DynamoDB, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams'

export interface Connection {
  /** The URL of the service. Default: AWS, with the region and credentials of the environment. */
  readonly endpoint?: string
  readonly region?: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  /** The maximum number of concurrent requests and sockets. Default: 64. */
  readonly maxConcurrency?: number
  readonly connectTimeoutMs?: number
  readonly requestTimeoutMs?: number
}

export const DEFAULT_CONCURRENCY = 64

/** Returns a client that never retries. `createAttempts` retries instead, because the adapter must track if an attempt may have been applied. */
export const connect = (connection: Connection = {}): DynamoDB => new DynamoDB(configOf(connection))

/** Loads the SDK at the first call, because most processes never read a stream. */
export const connectStreams = async (connection: Connection = {}): Promise<DynamoDBStreams> => {
  const { DynamoDBStreams } = await import('@aws-sdk/client-dynamodb-streams')
  return new DynamoDBStreams(configOf(connection))
}

const configOf = (connection: Connection) => {
  const { endpoint, region, credentials, maxConcurrency = DEFAULT_CONCURRENCY } = connection
  // An endpoint without TLS (`http:`) is an emulator. An emulator accepts any credentials. It can be slow where DynamoDB would throttle, so its
  // timeouts are longer.
  const emulator = endpoint?.startsWith('http:') === true
  const agent = { keepAlive: true, maxSockets: maxConcurrency }
  const config: DynamoDBClientConfig = {
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connection.connectTimeoutMs ?? (emulator ? 10_000 : 2_000),
      requestTimeout: connection.requestTimeoutMs ?? (emulator ? 60_000 : 5_000),
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  }
  if (endpoint !== undefined) config.endpoint = endpoint
  if (region !== undefined || emulator) config.region = region ?? 'us-east-1'
  if (credentials !== undefined || emulator)
    config.credentials = credentials ?? { accessKeyId: 'local', secretAccessKey: 'local' }
  return config
}
