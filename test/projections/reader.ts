import type { Item, Key, Stored } from '../../projections/item.ts'
import type { IndexSpec, Page, Query, Reader, TableSpec } from '../../projections/table.ts'
import { isExpired, keyOf } from '../../projections/item.ts'
import { mealsTable } from '../../projections/meals/table.ts'

/** A reader of a table in memory. `onQuery` receives each query. A cursor contains the last item, because items of an index can have equal keys. */
export const readerOf = (
  table: ReadonlyMap<string, Stored>,
  now = 0,
  onQuery: (query: Query) => void = () => {},
  spec: TableSpec = mealsTable,
): Reader => {
  const get = (key: Key): Promise<Item | undefined> => {
    const item = table.get(keyOf(key))
    return Promise.resolve(item === undefined || isExpired(item, spec.ttl, now) ? undefined : item)
  }
  const query = (query: Query): Promise<Page> => {
    onQuery(query)
    const index = spec.indexes.find(({ name }) => name === query.index)
    const [pk, sk] = index === undefined ? ['PK', 'SK'] : [index.pk, index.sk]
    const end = query.cursor
    const found = [...table.values()]
      .filter(
        (item) =>
          item[pk] === query.pk &&
          item[sk] !== undefined &&
          !isExpired(item, spec.ttl, now) &&
          within(boundOf(item[sk], index), query),
      )
      .sort(
        (a, b) =>
          (boundOf(a[sk], index) < boundOf(b[sk], index) || (a[sk] === b[sk] && keyOf(a) < keyOf(b)) ? -1 : 1) *
          (query.reverse ? -1 : 1),
      )
    const rest = end === undefined ? found : found.slice(found.findIndex((item) => keyOf(item) === end) + 1)
    const items = rest.slice(0, query.limit).map((item) => projected(item, index))
    const last = items.at(-1)
    return Promise.resolve({ items, ...(rest.length > query.limit && last !== undefined && { cursor: keyOf(last) }) })
  }
  return { get, getMany: (keys) => Promise.all(keys.map(get)), query }
}

const boundOf = (value: Item[string], index: IndexSpec | undefined): string | number =>
  index?.number ? Number(value) : String(value)

const within = (sk: string | number, { prefix = '', from, to }: Query): boolean => {
  if (from !== undefined && to !== undefined && from > to)
    throw new Error('DynamoDB refuses a range that ends before it begins')
  return String(sk).startsWith(prefix) && (from === undefined || sk >= from) && (to === undefined || sk <= to)
}

const projected = (item: Item, index: IndexSpec | undefined): Item => {
  if (index === undefined || index.project === 'all') return item
  const names = ['PK', 'SK', index.pk, index.sk, ...index.project]
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name))) as Item
}
