import type { TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import type { TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import { Fault, messageOf } from '../../../schemas/fault.ts'

export interface Connection {
  /** Absent: AWS, in the region and with the credentials of the environment. */
  readonly endpoint?: string
  readonly region?: string
}

export interface Clients {
  readonly writing: TimestreamWriteClient
  readonly querying: TimestreamQueryClient
}

/** Loaded only where it is needed. */
export const connect = async ({ endpoint, region }: Connection): Promise<Clients> => {
  const [{ TimestreamWriteClient: Writing }, { TimestreamQueryClient: Querying }] = await Promise.all([import('@aws-sdk/client-timestream-write'), import('@aws-sdk/client-timestream-query')])
  // An endpoint without TLS is an emulator: it takes any name.
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

/** Whatever the reason, the events wait: nothing is lost, and it is told until somebody mends it. */
export const unavailable = (what: string, error: unknown): Fault =>
  error instanceof Fault
    ? error
    // Not the error itself: it holds the whole exchange, with tokens, and causes are logged.
    : new Fault('series-unavailable', `Timestream does not ${what} (${nameOf(error)}: ${messageOf(error)}). Check the endpoint, the permissions and the table.`, { retriable: true, cause: new Error(messageOf(error)) })
