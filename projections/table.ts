import type { Item, Key } from './item.ts'

/** A secondary index of a table. */
export interface IndexSpec {
  readonly name: string
  /** The names of the attributes that are the index key. An item without these attributes is not in the index. */
  readonly pk: string
  readonly sk: string
  /** True if the sort key and the bounds of queries are numbers. Absent if they are texts. */
  readonly number?: true
  readonly project: 'all' | readonly string[]
}

/** The table of a domain, with its indexes. */
export interface TableSpec {
  /** The name of the first generation's table. The table of a later generation N is `<name>.gN`. */
  readonly name: string
  /** The TTL attribute, in epoch seconds. */
  readonly ttl: string
  readonly indexes: readonly IndexSpec[]
  /** True if readers follow the changes of the table (`ChangeFeed`). */
  readonly watched?: true
  /** The kinds of items, with a name for people. An item is of the first kind that matches its key. */
  readonly kinds?: readonly KindSpec[]
}

/** The names of the program's own tables begin with this. */
export const PROGRAM_TABLES = 'tributary-'

/** The table of sessions also belongs to the program. */
export const SESSIONS_TABLE_NAME = 'CommitCollectSessions'

export const isProgramTable = ({ name }: TableSpec): boolean =>
  name.startsWith(PROGRAM_TABLES) || name === SESSIONS_TABLE_NAME

/** A kind of items. The beginning of `PK` and of `SK` determines which items are of this kind. */
export interface KindSpec {
  readonly name: string
  readonly pk?: string
  readonly sk?: string
  /** The end of the sort key. */
  readonly end?: string
}

export const tableName = (spec: Pick<TableSpec, 'name'>, generation: number): string =>
  generation === 1 ? spec.name : `${spec.name}.g${generation}`

/** A query for one partition of a table or an index, in the order of the sort key. It can have `from` and `to` (both inclusive), or `prefix`. */
export interface Query {
  readonly index?: string
  readonly pk: string
  readonly prefix?: string
  readonly from?: string | number
  readonly to?: string | number
  readonly reverse?: boolean
  readonly limit: number
  /** Returns only the tombstones of removed items, for the engine. Default: returns only items, and hides expired ones. */
  readonly tombstones?: true
  /** The opaque cursor of the previous page. Rejected with `bad-cursor` if it belongs to another query. */
  readonly cursor?: string
}

/** The items that a query found, in the order of the sort key. `cursor` is absent on the last page. */
export interface Page<I = Item> {
  readonly items: readonly I[]
  readonly cursor?: string
}

/**
 * Reads a table. Reads by key are strongly consistent. Index queries on DynamoDB are eventually consistent. Expired
 * items are hidden.
 */
export interface Reader {
  get(key: Key): Promise<Item | undefined>
  getMany(keys: readonly Key[]): Promise<readonly (Item | undefined)[]>
  query(query: Query): Promise<Page>
}

/** The items of a query, page by page. Reads the next page when the caller has finished the previous one. */
export async function* pages(reader: Pick<Reader, 'query'>, query: Query): AsyncGenerator<Page['items']> {
  let cursor = query.cursor
  do {
    const page: Page = await reader.query({ ...query, ...(cursor !== undefined && { cursor }) })
    if (page.items.length > 0) yield page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** All items of a query. */
export const everyItem = async (reader: Pick<Reader, 'query'>, query: Query): Promise<Page['items']> => {
  const found: Item[] = []
  for await (const items of pages(reader, query)) found.push(...items)
  return found
}
