import type { TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import type { TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import { Fault, messageOf } from '../../../schemas/fault.ts'

export interface Connection {
  /** Default: AWS, with the region and credentials of the environment. */
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
  // An endpoint without TLS is an emulator. It accepts any credentials.
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

/** The fault itself, or a retriable `series-unavailable`. The events wait until the series can be written. */
export const unavailable = (what: string, error: unknown): Fault =>
  error instanceof Fault
    ? error
    : // Not the error itself: it contains the request with its tokens, and causes are logged.
      new Fault(
        'series-unavailable',
        `Timestream does not ${what} (${nameOf(error)}: ${messageOf(error)}). Check the endpoint, the permissions and the table.`,
        { retriable: true, cause: new Error(messageOf(error)) },
      )
