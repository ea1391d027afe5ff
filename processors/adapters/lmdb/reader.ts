import { isExpired, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
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
  const live = (item: Stored | undefined): Item | undefined => (item === undefined || isExpired(item, spec.ttl, now()) ? undefined : item)
  return {
    get: async key => live(find(key)),
    getMany: async keys => keys.map(key => live(find(key))),
    query: async query => answer({ query, index: indexOf(spec, query), tables: parts.tables(), overlay }, live),
  }
}

const indexOf = (spec: TableSpec, { index: name }: Query): IndexSpec | undefined => {
  if (name === undefined) return undefined
  const index = spec.indexes.find(candidate => candidate.name === name)
  if (index === undefined) throw new Fault('unknown-index', `The table ${spec.name} has no index ${name}. Ask an index of its TableSpec.`)
  return index
}

interface Asked {
  readonly query: Query
  readonly index: IndexSpec | undefined
  readonly tables: Tables
  readonly overlay: Overlay
}

/** An item and the LMDB key at which the query meets it. */
interface Met {
  readonly key: string
  readonly item: Stored | undefined
}

/** Reads one live item more than asked for, so that a cursor is given only where something follows. */
const answer = (asked: Asked, live: (item: Stored | undefined) => Item | undefined): Page => {
  const { query, index } = asked
  const items: Item[] = []
  let last = ''
  for (const { key, item } of walk(asked)) {
    const found = live(item)
    if (found === undefined) continue
    if (items.length === query.limit) return { items, cursor: cursorAt(query, last) }
    items.push(index === undefined ? found : project(index, found))
    last = key
  }
  return { items }
}

/** What LMDB holds and what lies over it, as one sequence. */
const walk = function* (asked: Asked): Generator<Met> {
  const { query, overlay } = asked
  const span = spanOf(query)
  const from = query.cursor === undefined ? undefined : keyOfCursor(query, query.cursor, span)
  if (isEmpty(span)) return
  const fresh = freshIn(asked, span, from)
  let next = 0
  for (const { key, id, item } of storedIn(asked, span, from)) {
    if (overlay.find(id) !== undefined) continue
    for (let one = fresh[next]; one !== undefined && follows(query, key, one.key); one = fresh[++next]) yield one
    yield { key, item }
  }
  yield* fresh.slice(next)
}

const follows = ({ reverse }: Query, key: string, before: string): boolean => (reverse === true ? bytewise(key, before) < 0 : bytewise(key, before) > 0)

const freshIn = ({ query, index, overlay }: Asked, span: Span, from: string | undefined): Met[] => {
  const found: Met[] = []
  const partition = `${query.pk}\u0000`
  for (const [id, item] of overlay.entries()) {
    if (item === null || (index === undefined && !id.startsWith(partition))) continue
    const key = index === undefined ? id : indexKeyOf(index, item)
    if (key === undefined || !key.startsWith(partition) || !within(key, span)) continue
    if (from === undefined || follows(query, key, from)) found.push({ key, item })
  }
  return found.sort((a, b) => (follows(query, a.key, b.key) ? 1 : -1))
}

const storedIn = function* ({ query, index, tables }: Asked, span: Span, from: string | undefined): Generator<Met & { id: string }> {
  const range = query.reverse === true
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
