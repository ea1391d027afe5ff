import type { Item, Key } from '../../../projections/item.ts'
import type { IndexSpec, Page, Query, Reader } from '../../../projections/table.ts'
import { isExpired, keyOf } from '../../../projections/item.ts'
import { mealsTable } from '../../../projections/meals/table.ts'
import type { Table } from '../../processors/meals/given.ts'

/** Questions over a table in memory, with cursors that are the last key. `heard` counts what a question costs. */
export const readerOf = (table: Table, now = 0, heard: (query: Query) => void = () => {}): Reader => {
  const get = (key: Key): Promise<Item | undefined> => {
    const item = table.get(keyOf(key))
    return Promise.resolve(item === undefined || isExpired(item, mealsTable.ttl, now) ? undefined : item)
  }
  const query = (query: Query): Promise<Page> => {
    heard(query)
    const index = mealsTable.indexes.find(({ name }) => name === query.index)
    const [pk, sk] = index === undefined ? ['PK', 'SK'] : [index.pk, index.sk]
    const end = query.cursor
    const found = [...table.values()]
      .filter((item) => item[pk] === query.pk && !isExpired(item, mealsTable.ttl, now) && within(String(item[sk]), query))
      .sort((a, b) => (String(a[sk]) < String(b[sk]) ? -1 : 1) * (query.reverse ? -1 : 1))
      .filter((item) => end === undefined || (query.reverse ? String(item[sk]) < end : String(item[sk]) > end))
    const items = found.slice(0, query.limit).map((item) => projected(item, index))
    const last = items.at(-1)
    return Promise.resolve({ items, ...(found.length > query.limit && last !== undefined && { cursor: String(last[sk]) }) })
  }
  return { get, getMany: (keys) => Promise.all(keys.map(get)), query }
}

const within = (sk: string, { prefix = '', from = '', to = '\uffff' }: Query): boolean => {
  if (from > to) throw new Error('DynamoDB refuses a range that ends before it begins')
  return sk.startsWith(prefix) && sk >= from && sk <= to
}

const projected = (item: Item, index: IndexSpec | undefined): Item => {
  if (index === undefined || index.project === 'all') return item
  const names = ['PK', 'SK', index.pk, index.sk, ...index.project]
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name))) as Item
}
