import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DATABASES } from './databases.ts'
import { openPages } from './paging.ts'
import { cancelQuery, runQuery } from './query.ts'
import { openStorage } from './storage.ts'
import { openCatalog } from './tables.ts'
import { createHandler, type Operation } from './wire.ts'
import { writeRecords } from './write.ts'

export type TimestreamLocal = Readonly<{ endpoint: string; port: number; close: () => Promise<void> }>
export type Options = Readonly<{
  /** The port to listen on. 0: any free port. */
  port: number
  /** The address to listen on. Default: 127.0.0.1. */
  host?: string
  /** The folder for the data. Default: in memory. */
  data?: string
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  now?: () => number
}>

export const startTimestreamLocal = async ({
  port,
  host = '127.0.0.1',
  data,
  now = Date.now,
}: Options): Promise<TimestreamLocal> => {
  const storage = await openStorage(data)
  const catalog = await openCatalog(storage)
  const pages = openPages()
  const context = () => ({ storage, catalog, pages, nowMs: now() })
  const operations: Record<string, Operation> = {
    ...Object.fromEntries(
      Object.entries(DATABASES).map(
        ([name, operation]) => [name, (body) => operation(body, context())] satisfies [string, Operation],
      ),
    ),
    DescribeEndpoints: (_body, request) => ({
      Endpoints: [{ Address: request.headers.host, CachePeriodInMinutes: 1440 }],
    }),
    WriteRecords: (body) => writeRecords(body, context()),
    Query: (body) => runQuery(body, context()),
    CancelQuery: (body) => cancelQuery(body, context()),
  }
  const answer = createHandler(operations)
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const address = server.address() as AddressInfo

  return {
    endpoint: `http://${host}:${address.port}`,
    port: address.port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await storage.close()
    },
  }
}
