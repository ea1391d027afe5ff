import type { Key } from '../../projections/item.ts'
import type { Reader, TableSpec } from '../../projections/table.ts'
import { pages } from '../../projections/table.ts'
import type { ConnectionStorage } from '../live/spec.ts'

/** One item per open connection to `/v1/live` (S15). It is not in the table of the domain, because no fold writes it. */
export const connectionsTable: TableSpec = {
  name: 'scale-sense-connections',
  ttl: 'expires_at',
  // `PK` is the range key of the index, so that a query can select connections even if items of other kinds also have a `loc_id` (S-d).
  indexes: [{ name: 'loc_id-index', pk: 'loc_id', sk: 'PK', project: 'all' }],
  kinds: [{ name: 'connection', pk: 'WS_CONN#' }],
}

export const connectionKey = (id: string): Key => ({ PK: `WS_CONN#${id}`, SK: 'META' })

type ConnectionItem = Key & {
  readonly loc_id: string
  readonly user_id: string
  readonly connected_at: string
  readonly expires_at: number
}

export const barConnections: ConnectionStorage = {
  table: connectionsTable,
  keyOf: connectionKey,
  itemOf: ({ id, topic, user, at, until }): ConnectionItem => ({
    ...connectionKey(id),
    loc_id: topic,
    user_id: user,
    connected_at: new Date(at).toISOString(),
    expires_at: Math.ceil(until / 1000),
  }),
}

export const connectionsQueries = (reader: Reader) => ({
  connection: async (id: string) => (await reader.get(connectionKey(id))) as ConnectionItem | undefined,
  /** Returns the connections of a location. Reads the index, which can be a moment behind the table. */
  connectionsOf: async (loc: string): Promise<readonly ConnectionItem[]> => {
    const found: ConnectionItem[] = []
    for await (const page of pages(reader, { index: 'loc_id-index', pk: loc, prefix: 'WS_CONN#', limit: 100 }))
      found.push(...(page as readonly ConnectionItem[]))
    return found
  },
})
