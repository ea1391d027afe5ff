import type { TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import type { TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import { Fault, messageOf } from '../../../schemas/fault.ts'

export interface Connection {
  /** The URL of the service. Default: AWS, with the region and credentials of the environment. */
  readonly endpoint?: string
  readonly region?: string
}

export interface Clients {
  readonly writing: TimestreamWriteClient
  readonly querying: TimestreamQueryClient
}

/** Loads the SDK at the first call, because most processes never use Timestream. */
export const connect = async ({ endpoint, region }: Connection): Promise<Clients> => {
  const [{ TimestreamWriteClient: Writing }, { TimestreamQueryClient: Querying }] = await Promise.all([
    import('@aws-sdk/client-timestream-write'),
    import('@aws-sdk/client-timestream-query'),
  ])
  // An endpoint without TLS (`http:`) is an emulator. An emulator accepts any region and credentials.
  const emulator = endpoint?.startsWith('http:') === true
  const config = {
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 65_000, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    ...((region !== undefined || emulator) && { region: region ?? 'us-east-1' }),
    ...(emulator && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  }
  return { writing: new Writing(config), querying: new Querying(config) }
}

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

/** Returns the error itself if it is a fault, otherwise the retriable fault `series-unavailable`: the events wait until the series can be written. */
export const unavailable = (what: string, error: unknown): Fault =>
  error instanceof Fault
    ? error
    : // The program logs the cause. So the cause contains only the message, not the error itself, which contains the request's tokens.
      new Fault(
        'series-unavailable',
        `Timestream does not ${what} (${nameOf(error)}: ${messageOf(error)}). Check the endpoint, the permissions and the table.`,
        { retriable: true, cause: new Error(messageOf(error)) },
      )
