import { isReturned, keyOf, type Item, type Stored } from '../projections/item.ts'
import type { IndexSpec, Page, Query } from '../projections/table.ts'
import { sortText } from '../processors/adapters/lmdb/range.ts'
import { Fault } from '../schemas/fault.ts'
import type { Table } from './store-model.ts'

/** Returns one page of a partition or an index, by a scan of all items. A stale page contains each item as it was before its last change. */
export const queryTable = (table: Table, query: Query, { now, stale }: { now: number; stale: boolean }): Page => {
  const index = indexOf(table, query)
  const [pk, sk] = index === undefined ? ['PK', 'SK'] : [index.pk, index.sk]
  const rank = (item: Item) => `${textOf(item[sk])}\u0000${keyOf(item)}`
  const sign = query.reverse ? -1 : 1
  const after = query.cursor === undefined ? undefined : rankIn(query, query.cursor)
  const found = [...(stale ? table.lagging : table.items).values()]
    .filter(
      (item) =>
        item[pk] === query.pk &&
        isInRange(item[sk], query, index?.number === true) &&
        isReturned(item, query, { ttl: table.spec.ttl, now }),
    )
    .sort((a, b) => byBytes(rank(a), rank(b)) * sign)
  const rest = after === undefined ? found : found.filter((item) => byBytes(rank(item), after) * sign > 0)
  const items = rest.slice(0, query.limit)
  const last = items.at(-1)
  const page = index === undefined ? items : items.map((item) => projected(item, index))
  return rest.length > items.length && last !== undefined
    ? { items: page, cursor: cursorOf(query, rank(last)) }
    : { items: page }
}

const indexOf = ({ spec }: Table, { index }: Query): IndexSpec | undefined => {
  const known = spec.indexes.find(({ name }) => name === index)
  if (index !== undefined && known === undefined)
    throw new Fault('unknown-index', `The simulated table ${spec.name} has no index ${index}.`)
  return known
}

const textOf = (sort: Item[string]): string => (typeof sort === 'number' ? sortText(sort) : String(sort))

const isInRange = (sort: Item[string], { prefix, from, to }: Query, number: boolean): boolean => {
  if (typeof sort !== (number ? 'number' : 'string')) return false
  const at = textOf(sort)
  if (prefix !== undefined) return at.startsWith(prefix)
  return (from === undefined || byBytes(at, textOf(from)) >= 0) && (to === undefined || byBytes(at, textOf(to)) <= 0)
}

const isPlain = (text: string) => /^[\0-\x7f]*$/.test(text)

/** Compares the UTF-8 bytes, as the stores do. JavaScript compares UTF-16 units. */
const byBytes = (a: string, b: string): number => {
  if (isPlain(a) && isPlain(b)) return a < b ? -1 : a > b ? 1 : 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const projected = (item: Stored, { pk, sk, project }: IndexSpec): Item => {
  if (project === 'all') return item
  const shown = new Set(['PK', 'SK', pk, sk, ...project])
  return Object.fromEntries(Object.entries(item).filter(([name]) => shown.has(name))) as Item
}

const queryText = ({ index, pk, prefix, from, to, reverse }: Query) =>
  JSON.stringify([index, pk, prefix, from, to, reverse === true])

const cursorOf = (query: Query, rank: string) =>
  Buffer.from(JSON.stringify([queryText(query), rank])).toString('base64url')

const rankIn = (query: Query, cursor: string): string => {
  try {
    const [text, rank] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as readonly unknown[]
    if (text === queryText(query) && typeof rank === 'string' && cursorOf(query, rank) === cursor) return rank
  } catch {
    // A cursor that cannot be parsed gets the same fault as the cursor of another query, below.
  }
  throw new Fault('bad-cursor', 'The cursor belongs to another query. Start again without a cursor.')
}
