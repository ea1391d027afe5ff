import { isExpired, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { IndexSpec, Page, Query, Reader, TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { project, type Tables } from './items.ts'
import { cursorAt, isEmpty, keyOfCursor, spanOf } from './range.ts'

export interface ReaderParts {
  readonly spec: TableSpec
  readonly now: () => number
  readonly find: (key: Key) => Stored | undefined
  /** The tables, once everything accepted so far is visible in them. */
  readonly settled: () => Promise<Tables>
}

export const createReader = (parts: ReaderParts): Reader => {
  const { spec, now, find } = parts
  const live = (item: Stored | undefined): Item | undefined => (item === undefined || isExpired(item, spec.ttl, now()) ? undefined : item)
  return {
    get: async key => live(find(key)),
    getMany: async keys => keys.map(key => live(find(key))),
    query: async query => {
      const index = indexOf(spec, query)
      return answer({ query, index, tables: await parts.settled(), live })
    },
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
  readonly live: (item: Stored | undefined) => Item | undefined
}

/** Reads one live item more than asked for, so that a cursor is given only where something follows. */
const answer = ({ query, index, tables, live }: Asked): Page => {
  const items: Item[] = []
  let last = ''
  for (const { key, item } of index === undefined ? walkTable(query, tables) : walkIndex(query, index, tables)) {
    const found = live(item)
    if (found === undefined) continue
    if (items.length === query.limit) return { items, cursor: cursorAt(query, last) }
    items.push(index === undefined ? found : project(index, found))
    last = key
  }
  return { items }
}

const walkTable = function* (query: Query, { items }: Tables): Generator<{ key: string; item: Stored | undefined }> {
  const options = rangeOf(query)
  if (options === undefined) return
  for (const { key, value } of items.getRange(options)) yield { key: String(key), item: value }
}

const walkIndex = function* (query: Query, { name }: IndexSpec, tables: Tables): Generator<{ key: string; item: Stored | undefined }> {
  const options = rangeOf(query)
  const entries = tables.indexes.get(name)
  if (options === undefined || entries === undefined) return
  for (const entry of entries.getKeys(options)) {
    const key = String(entry)
    const [, , PK = '', SK = ''] = key.split('\u0000')
    yield { key, item: tables.items.get(keyOf({ PK, SK })) }
  }
}

const rangeOf = (query: Query) => {
  const span = spanOf(query)
  const from = query.cursor === undefined ? undefined : keyOfCursor(query, query.cursor, span)
  if (isEmpty(span)) return undefined
  return query.reverse === true
    ? { start: from ?? span.high, end: span.low, exclusiveStart: true, inclusiveEnd: true, reverse: true }
    : { start: from ?? span.low, end: span.high, exclusiveStart: from !== undefined }
}
