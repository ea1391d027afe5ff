import { isReturned, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { IndexSpec, Page, Query, Reader, TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { indexKeyOf, project, type Tables } from './items.ts'
import type { Overlay } from './pending.ts'
import { bytewise, cursorAt, isEmpty, keyOfCursor, spanOf, within, type Span } from './range.ts'

export interface ReaderParts {
  readonly spec: TableSpec
  readonly now: () => number
  readonly find: (key: Key) => Stored | undefined
  readonly tables: () => Tables
  readonly overlay: Overlay
}

export const createReader = (parts: ReaderParts): Reader => {
  const { spec, now, find, overlay } = parts
  const liveItem = (item: Stored | undefined, query: Pick<Query, 'tombstones'> = {}): Item | undefined =>
    item === undefined || !isReturned(item, query, { ttl: spec.ttl, now: now() }) ? undefined : item
  return {
    get: async (key) => liveItem(find(key)),
    getMany: async (keys) => keys.map((key) => liveItem(find(key))),
    query: async (query) => readPage({ query, index: indexOf(spec, query), tables: parts.tables(), overlay }, liveItem),
  }
}

const indexOf = (spec: TableSpec, { index: name }: Query): IndexSpec | undefined => {
  if (name === undefined) return undefined
  const index = spec.indexes.find((candidate) => candidate.name === name)
  if (index === undefined)
    throw new Fault('unknown-index', `The table ${spec.name} has no index ${name}. Use an index of its TableSpec.`)
  return index
}

interface IndexQuery {
  readonly query: Query
  readonly index: IndexSpec | undefined
  readonly tables: Tables
  readonly overlay: Overlay
}

/** An item and its LMDB key in the table or index of the query. */
interface Match {
  readonly key: string
  readonly item: Stored | undefined
}

/** Reads one live item more than the limit, so the page gets a cursor only if another item follows. */
const readPage = (
  indexQuery: IndexQuery,
  liveItem: (item: Stored | undefined, query: Query) => Item | undefined,
): Page => {
  const { query, index } = indexQuery
  const items: Item[] = []
  let last = ''
  for (const { key, item } of allMatches(indexQuery)) {
    const found = liveItem(item, query)
    if (found === undefined) continue
    if (items.length === query.limit) return { items, cursor: cursorAt(query, last) }
    items.push(index === undefined ? found : project(index, found))
    last = key
  }
  return { items }
}

/** Returns the matching items of LMDB, replaced by the accepted writes that are not in LMDB yet (`overlay`), in the order of the query. */
const allMatches = function* (indexQuery: IndexQuery): Generator<Match> {
  const { query, overlay } = indexQuery
  const span = spanOf(query)
  const from = query.cursor === undefined ? undefined : keyOfCursor(query, query.cursor, span)
  if (isEmpty(span)) return
  const pending = pendingMatches(indexQuery, span, from)
  let next = 0
  for (const { key, id, item } of storedMatches(indexQuery, span, from)) {
    if (overlay.find(id) !== undefined) continue
    for (let match = pending[next]; match !== undefined && isAfter(query, key, match.key); match = pending[++next])
      yield match
    yield { key, item }
  }
  yield* pending.slice(next)
}

const isAfter = ({ reverse }: Query, key: string, before: string): boolean =>
  reverse === true ? bytewise(key, before) < 0 : bytewise(key, before) > 0

const pendingMatches = ({ query, index, overlay }: IndexQuery, span: Span, from: string | undefined): Match[] => {
  const found: Match[] = []
  const partition = `${query.pk}\u0000`
  for (const [id, item] of overlay.entries()) {
    if (item === null || (index === undefined && !id.startsWith(partition))) continue
    const key = index === undefined ? id : indexKeyOf(index, item)
    if (key === undefined || !key.startsWith(partition) || !within(key, span)) continue
    if (from === undefined || isAfter(query, key, from)) found.push({ key, item })
  }
  return found.sort((a, b) => (isAfter(query, a.key, b.key) ? 1 : -1))
}

const storedMatches = function* (
  { query, index, tables }: IndexQuery,
  span: Span,
  from: string | undefined,
): Generator<Match & { id: string }> {
  const range =
    query.reverse === true
      ? { start: from ?? span.high, end: span.low, exclusiveStart: true, inclusiveEnd: true, reverse: true }
      : { start: from ?? span.low, end: span.high, exclusiveStart: from !== undefined }
  if (index === undefined) {
    for (const { key, value } of tables.items.getRange(range)) yield { key: String(key), id: String(key), item: value }
    return
  }
  for (const entry of tables.indexes.get(index.name)?.getKeys(range) ?? []) {
    const key = String(entry)
    const [, , PK = '', SK = ''] = key.split('\u0000')
    const id = keyOf({ PK, SK })
    yield { key, id, item: tables.items.get(id) }
  }
}
