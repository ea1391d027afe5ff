import type { Database, RootDatabase } from 'lmdb'
import { keyOf, type Item, type Stored, type Value } from '../../../projections/item.ts'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import type { Packed } from '../../engine/rebuild/build-target.ts'
import { openDatabase, openSet, type LmdbKey } from './environment.ts'
import { sortText } from './range.ts'

/** The databases of one generation's environment. */
export interface Tables {
  readonly items: Database<Stored, LmdbKey>
  /** By index name. An entry has the key `<index pk>\0<index sk>\0<PK>\0<SK>` and an empty value, because reads take the item from `items`. */
  readonly indexes: ReadonlyMap<string, Database<Uint8Array, LmdbKey>>
  /** The index keys of each indexed item, by item key. A write reads the old index keys here. Items without index keys have no entry, so it is small. */
  readonly members: Database<Membership, LmdbKey>
  readonly meta: Database<unknown, LmdbKey>
  /**
   * Stores new shapes (lists of attribute names, see `openTables`). To be called in each batch that writes items, so that one transaction writes the
   * items and their shapes.
   */
  saveShapes(): void
  /**
   * Returns the bytes that `items` stores for the item. They are valid until the next call. Returns undefined if a new shape (list of attribute
   * names) is not stored yet. The write that stores it could fail, and another shape would get its number. The item would then be read with wrong
   * names.
   */
  pack(item: Stored): Uint8Array | undefined
  unpack(packed: Packed): Stored
}

/** The keys of an item in its indexes, by index name. */
export type Membership = { readonly [index: string]: string }

/** The part of msgpackr's encoder that is used here. lmdb-js creates one encoder for each database. */
interface ItemEncoder {
  encode(item: Stored): Uint8Array
  decode(bytes: Buffer, range: { readonly start: number; readonly end: number }): Stored
}

const SHAPES = 'shapes'
const NOTHING = new Uint8Array(0)
const PLAIN = { useRecords: false, mapsAsObjects: true }

/**
 * Opens the databases. Items are stored as MessagePack. A shape is a numbered list of attribute names. An item contains the number of its shape, and
 * the transaction that writes the item stores the shape in `meta`. If a table has several writers, they add no shapes: they write an object of a
 * new shape as a map with its names. (msgpackr itself would put a definition into the item. If the shape occurs in the item twice and the table
 * has few shapes, msgpackr cannot read that item.)
 */
export const openTables = (root: RootDatabase, spec: TableSpec, writers: 'one writer' | 'several writers'): Tables => {
  const meta = openDatabase<unknown>(root, 'meta', PLAIN)
  const shapes = () => shapesFrom(meta.get(SHAPES))
  let newShapes: unknown
  const encoder = {
    // A function and not a value, because msgpackr marks only shapes that it loads itself as shared. Without this mark, msgpackr misreads every
    // shape after the 32nd.
    getStructures: shapes,
    ...(writers === 'several writers' && { useRecords: hasShapeIn(shapes()) }),
    maxSharedStructures: 512,
    useBigIntExtension: true,
    mapsAsObjects: true,
    saveStructures: (shapes: unknown) => {
      newShapes = shapes
    },
  }
  const items = openDatabase<Stored>(root, 'items', encoder)
  const { encoder: codec } = items as Database<Stored, LmdbKey> & { readonly encoder: ItemEncoder }
  return {
    meta,
    items,
    indexes: new Map(spec.indexes.map(({ name }) => [name, openSet(root, `index:${name}`)])),
    members: openDatabase<Membership>(root, 'members', PLAIN),
    saveShapes: () => {
      if (newShapes === undefined) return
      void meta.put(SHAPES, shapesFrom(newShapes))
      newShapes = undefined
    },
    pack: (item) => {
      const packed = codec.encode(item)
      return newShapes === undefined ? packed : undefined
    },
    unpack: ({ bytes, start, end }) => codec.decode(bytes, { start, end }),
  }
}

const hasShapeIn = (shapes: readonly (readonly string[])[]) => {
  const stored = new Set(shapes.map((names) => names.join('\u0000')))
  return (record: object): boolean => stored.has(Object.keys(record).join('\u0000'))
}

const shapesFrom = (stored: unknown): string[][] =>
  Array.isArray(stored) ? stored.map((names: unknown) => (Array.isArray(names) ? names.map(String) : [])) : []

export const membershipOf = (indexes: readonly IndexSpec[], item: Item): Membership | undefined => {
  let found: { [index: string]: string } | undefined
  for (const index of indexes) {
    const key = indexKeyOf(index, item)
    if (key === undefined) continue
    found ??= {}
    found[index.name] = key
  }
  return found
}

/** The key of an item in an index. Undefined if the index does not contain the item. */
export const indexKeyOf = ({ pk, sk, number }: IndexSpec, item: Item): string | undefined => {
  const partition = item[pk]
  const sort = item[sk]
  const fits = typeof partition === 'string' && (number ? typeof sort === 'number' : typeof sort === 'string')
  return fits ? `${partition}\u0000${sortText(sort as string | number)}\u0000${keyOf(item)}` : undefined
}

/** Returns a function that updates the indexes for one write. Use it for the writes of one batch, and call it inside this batch. */
export const createIndexer = (tables: Tables, { indexes }: TableSpec) => {
  const changed = new Map<string, Membership | undefined>()
  const hasMembers = indexes.length > 0 && hasEntries(tables.members)
  return (id: string, item: Item | undefined): void => {
    const now = item && membershipOf(indexes, item)
    const before = changed.has(id) ? changed.get(id) : hasMembers ? tables.members.get(id) : undefined
    if (now === undefined && before === undefined) return
    for (const { name } of indexes) {
      const from = before?.[name]
      const to = now?.[name]
      if (from === to) continue
      if (from !== undefined) void tables.indexes.get(name)?.remove(from)
      if (to !== undefined) void tables.indexes.get(name)?.put(to, NOTHING)
    }
    changed.set(id, now)
    if (now === undefined) void tables.members.remove(id)
    else void tables.members.put(id, now)
  }
}

/** True if a database has an entry. (`getKeysCount` would read all keys, even with a limit.) */
const hasEntries = (db: { getKeys(range: { limit: number }): Iterable<unknown> }): boolean => {
  for (const _key of db.getKeys({ limit: 1 })) return true
  return false
}

/** The attributes of an item that an index returns: the index keys, the table keys and the projected attributes. */
export const project = (index: IndexSpec, item: Item): Item => {
  if (index.project === 'all') return item
  const projected: { [attribute: string]: Value | undefined } = {}
  for (const name of [index.pk, index.sk, ...index.project]) {
    if (item[name] !== undefined) projected[name] = item[name]
  }
  return { ...projected, PK: item.PK, SK: item.SK }
}

/** The item without its undefined attributes, which count as absent. */
export const withoutUndefined = (item: Stored): Stored => {
  for (const name in item) {
    if (item[name] === undefined)
      return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as Stored
  }
  return item
}
