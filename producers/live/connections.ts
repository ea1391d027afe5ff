import type { Key } from '../../projections/item.ts'
import type { Reader, TableSpec } from '../../projections/table.ts'
import { pages } from '../../projections/table.ts'

/** Who is connected: a table of its own beside the log, since nothing is derived from it. As the source document has them (S15). */
export const connectionsTable: TableSpec = {
  name: 'scale-sense-connections',
  ttl: 'expires_at',
  // The range key keeps apart what else may carry a location (S-d).
  indexes: [{ name: 'loc_id-index', pk: 'loc_id', sk: 'PK', project: 'all' }],
  kinds: [{ name: 'connection', pk: 'WS_CONN#' }],
}

export const connectionKey = (id: string): Key => ({ PK: `WS_CONN#${id}`, SK: 'META' })

export type ConnectionItem = Key & {
  readonly loc_id: string
  readonly user_id: string
  readonly connected_at: string
  readonly expires_at: number
}

export const connectionsQueries = (reader: Reader) => ({
  connection: async (id: string) => (await reader.get(connectionKey(id))) as ConnectionItem | undefined,
  /** By the index, which may be late. */
  connectionsOf: async (loc: string): Promise<readonly ConnectionItem[]> => {
    const found: ConnectionItem[] = []
    for await (const page of pages(reader, { index: 'loc_id-index', pk: loc, prefix: 'WS_CONN#', limit: 100 })) found.push(...(page as readonly ConnectionItem[]))
    return found
  },
})
