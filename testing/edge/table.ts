import { isExpired, keyOf, type Item } from '../../projections/item.ts'
import type { Query, Reader, TableSpec } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'

/** A table in memory. */
export interface MemoryTable {
  /** The items by `keyOf`. A test can change them. */
  readonly items: Map<string, Item>
  /** Reads the items as the reader of a store does: expired items are absent, and a page has a cursor if more items follow. */
  readonly reader: Reader
}

/** An empty table in memory. */
export const createMemoryTable = (now: () => number, table: TableSpec): MemoryTable => {
  const items = new Map<string, Item>()
  const visible = (item: Item | undefined) => (item && !isExpired(item, table.ttl, now()) ? item : undefined)
  const partition = ({ index, pk }: Query): readonly (readonly [string, Item])[] => {
    const spec = table.indexes.find(({ name }) => name === index)
    const [pkName, skName] = spec ? [spec.pk, spec.sk] : ['PK', 'SK']
    return [...items.values()]
      .filter((item) => visible(item)?.[pkName] === pk)
      .map((item) => [String(item[skName]), item] as const)
  }
  const reader: Reader = {
    get: async (key) => visible(items.get(keyOf(key))),
    getMany: async (keys) => keys.map((key) => visible(items.get(keyOf(key)))),
    query: async (query) => {
      const { prefix, from, to, reverse, limit, cursor } = query
      const inRange = (sk: string) =>
        prefix !== undefined
          ? sk.startsWith(prefix)
          : (from === undefined || sk >= from) && (to === undefined || sk <= to)
      // Several items of an index can have the same sort key, so items with the same sort key are ordered by their own key.
      const sorted = partition(query)
        .filter(([sk]) => inRange(sk))
        .map(([sk, item]) => [`${sk}\u0000${keyOf(item)}`, item] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1) * (reverse ? -1 : 1))
      const after = cursor === undefined ? undefined : positionIn(cursor, query)
      const rest = sorted.filter(([position]) => after === undefined || (reverse ? position < after : position > after))
      const page = rest.slice(0, limit)
      const last = page.at(-1)
      return {
        items: page.map(([, item]) => item),
        ...(rest.length > page.length && last ? { cursor: cursorFor(query, last[0]) } : {}),
      }
    },
  }
  return { items, reader }
}

/** A cursor that is valid for its query only, as the cursors of the stores are. */
const cursorFor = ({ cursor, limit, ...query }: Query, position: string): string =>
  Buffer.from(JSON.stringify([position, query])).toString('base64url')

const positionIn = (cursor: string, query: Query): string => {
  const [position] = /^"[^"]*"/.exec(Buffer.from(cursor, 'base64url').toString().slice(1)) ?? []
  if (position !== undefined && cursorFor(query, JSON.parse(position) as string) === cursor)
    return JSON.parse(position) as string
  throw new Fault('bad-cursor', 'The cursor belongs to another query. Send the request without a cursor.')
}
