import type { Item, Key } from './item.ts'

export interface IndexSpec {
  readonly name: string
  /** Attribute names of the index key. An item without them is not in the index. */
  readonly pk: string
  readonly sk: string
  /** The sort key is a number, and so are the bounds of queries. */
  readonly number?: true
  readonly project: 'all' | readonly string[]
}

export interface TableSpec {
  /** The first generation's table name; generation N > 1 is `<name>.gN`. */
  readonly name: string
  /** The one TTL attribute, epoch seconds. */
  readonly ttl: string
  readonly indexes: readonly IndexSpec[]
  /** Somebody follows what changes in it. */
  readonly watched?: true
  /** What people call the items whose keys begin so; the first that fits. */
  readonly kinds?: readonly KindSpec[]
}

export interface KindSpec {
  readonly name: string
  readonly pk?: string
  readonly sk?: string
  /** The end of the sort key. */
  readonly end?: string
}

export const tableName = (spec: Pick<TableSpec, 'name'>, generation: number): string =>
  generation === 1 ? spec.name : `${spec.name}.g${generation}`

/** One partition of a table or an index, in sort-key order. `from`/`to` are inclusive; `prefix` excludes them. */
export interface Query {
  readonly index?: string
  readonly pk: string
  readonly prefix?: string
  readonly from?: string | number
  readonly to?: string | number
  readonly reverse?: boolean
  readonly limit: number
  /** Opaque, from the page before; refused with `bad-cursor` when it is not one of this query's. */
  readonly cursor?: string
}

export interface Page<I = Item> {
  readonly items: readonly I[]
  readonly cursor?: string
}

/** How questions are asked. Reads by key are strongly consistent; index queries on DynamoDB are eventual. Expired items are hidden. */
export interface Reader {
  get(key: Key): Promise<Item | undefined>
  getMany(keys: readonly Key[]): Promise<readonly (Item | undefined)[]>
  query(query: Query): Promise<Page>
}

/** What a question finds, page by page; the next is asked for when the one before is done with. */
export async function* pages(reader: Pick<Reader, 'query'>, query: Query): AsyncGenerator<Page['items']> {
  let cursor = query.cursor
  do {
    const page: Page = await reader.query({ ...query, ...(cursor !== undefined && { cursor }) })
    if (page.items.length > 0) yield page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** All that a question finds. */
export const everyItem = async (reader: Pick<Reader, 'query'>, query: Query): Promise<Page['items']> => {
  const found: Item[] = []
  for await (const items of pages(reader, query)) found.push(...items)
  return found
}
