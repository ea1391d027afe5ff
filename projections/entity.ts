import type { Item, Key } from './item.ts'
import { everyItem, type KindSpec, type Page, type Query, type Reader } from './table.ts'

declare const item: unique symbol

/** The key of an item of type `I`: folds and queries infer the type of the item from it. */
export type KeyOf<I> = Key & { readonly [item]?: I }

/** Selects a page of a list: the maximum number of items, the cursor and the order. */
export type Paging = Pick<Query, 'limit' | 'cursor' | 'reverse'>

/**
 * Selects items of one kind in a partition by the ids in their sort keys. `under`: only items whose first id is this one. `from` and `to`:
 * only items whose first id, or the id after `under`, is between these two (inclusive). Default: every item of the kind.
 */
export type Range = Paging & { readonly under?: string } & (
    { readonly from?: never; readonly to?: never } | { readonly from: string; readonly to: string }
  )

/** One kind of item. `O`: the ids in the partition key of an item. `P`: the ids in its sort key. */
export interface Entity<I extends Item, O extends readonly unknown[], P extends readonly string[]> {
  readonly prefix: string
  readonly kind: KindSpec
  readonly key: (...ids: [...O, ...P]) => KeyOf<I>
  readonly get: (reader: Pick<Reader, 'get'>, ...ids: [...O, ...P]) => Promise<I | undefined>
  /** One page of the items in a range, in the order of their ids. */
  readonly page: (reader: Pick<Reader, 'query'>, ...where: [...O, Range]) => Promise<Page<I>>
  /** All items of the range, read in pages of `limit` items. */
  readonly every: (reader: Pick<Reader, 'query'>, ...where: [...O, Range]) => Promise<readonly I[]>
}

/**
 * Declares the entities of one kind of partition: `const inGroup = partition('GROUP#', (group: string) => `GROUP#${group}`)`.
 * Then one line declares an entity: `inGroup<SettlementItem, [iso: string, id: string]>('settlement', 'SETTLE#')`.
 * The sort key of an item is the prefix and the ids, separated by `#`. A suffix is possible if the sort key has one id.
 */
export const partition =
  <O extends readonly [unknown, unknown?]>(pk: string, partitionOf: (...owner: O) => string) =>
  <I extends Item, P extends readonly string[] = []>(name: string, prefix: string, suffix = ''): Entity<I, O, P> => {
    const key = keysOf(partitionOf, prefix, suffix) as Entity<I, O, P>['key']
    const query = (where: readonly unknown[]): Query => {
      const { under, from, to, ...paging } = where.at(-1) as Range
      const start = under === undefined ? prefix : `${prefix}${under}#`
      return {
        pk: partitionOf(...(where.slice(0, -1) as readonly unknown[] as O)),
        ...(from === undefined ? { prefix: start } : { from: start + from, to: start + to }),
        ...paging,
      }
    }
    return {
      prefix,
      kind: { name, pk, ...(prefix !== '' && { sk: prefix }), ...(suffix !== '' && { end: suffix }) },
      key,
      get: async (reader, ...ids) => (await reader.get(key(...ids))) as I | undefined,
      page: async (reader, ...where) => (await reader.query(query(where))) as Page<I>,
      every: async (reader, ...where) => (await everyItem(reader, query(where))) as readonly Item[] as readonly I[],
    }
  }

/** Returns a function without rest arguments, which are slower: folds call this function for every event. */
const keysOf = (partitionOf: (...owner: never) => string, prefix: string, suffix: string): ((...ids: never) => Key) => {
  const sortKey = (a?: string, b?: string, c?: string): string => {
    if (a === undefined) return prefix
    if (b === undefined) return prefix + a + suffix
    return c === undefined ? `${prefix}${a}#${b}` : `${prefix}${a}#${b}#${c}`
  }
  const pkOf = partitionOf as (first: unknown, second?: unknown) => string
  return partitionOf.length === 2
    ? (first: unknown, second: unknown, a?: string, b?: string): Key => ({ PK: pkOf(first, second), SK: sortKey(a, b) })
    : (owner: unknown, a?: string, b?: string, c?: string): Key => ({ PK: pkOf(owner), SK: sortKey(a, b, c) })
}

type ItemsOf<K> = { readonly [N in keyof K]: K[N] extends KeyOf<infer I> ? I | undefined : never }

/** Reads items of several kinds in one call. Returns them in the order of `keys`, with undefined for an item that does not exist. */
export const getAll = async <const K extends readonly KeyOf<Item>[]>(
  reader: Pick<Reader, 'getMany'>,
  keys: K,
): Promise<ItemsOf<K>> => (await reader.getMany(keys)) as readonly unknown[] as ItemsOf<K>

/** Reads one page of a query that no entity declares, such as a query of an index. */
export const pageOf = async <I extends Item>(reader: Pick<Reader, 'query'>, query: Query): Promise<Page<I>> =>
  (await reader.query(query)) as Page<I>

/** Caches the queries of each reader, because all requests to a generation use the same reader. */
export const oncePerReader = <Q>(create: (reader: Reader) => Q): ((reader: Reader) => Q) => {
  const known = new WeakMap<Reader, Q>()
  return (reader) => {
    const queries = known.get(reader) ?? create(reader)
    known.set(reader, queries)
    return queries
  }
}
