import type { Database, RootDatabase } from 'lmdb'
import { keyOf, type Item, type Stored, type Value } from '../../../projections/item.ts'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import type { Packed } from '../../engine/build-target.ts'
import { openDatabase, openSet, type LmdbKey } from './environment.ts'
import { sortText } from './range.ts'

/** The databases of one generation's environment. */
export interface Tables {
  readonly items: Database<Stored, LmdbKey>
  /** Keys `<index pk>\0<index sk>\0<PK>\0<SK>`. The item itself is read from `items`, so the value is empty. */
  readonly indexes: ReadonlyMap<string, Database<Uint8Array, LmdbKey>>
  /** By item key: where it lies in the indexes, by index name. Only for items that lie in one, so most changes ask a small tree. */
  readonly members: Database<Membership, LmdbKey>
  readonly meta: Database<unknown, LmdbKey>
  /** To be called in each batch that wrote items: attribute names learnt since are kept beside the items that use them. */
  saveShapes(): void
  /**
   * The bytes that `items` stores for the item, valid until the next call. Undefined while a shape waits for `saveShapes`: if the write that
   * saves it failed, its number would be given to another shape.
   */
  pack(item: Stored): Uint8Array | undefined
  unpack(packed: Packed): Stored
}

export type Membership = { readonly [index: string]: string }

/** The part of msgpackr's encoder that is used here. lmdb-js makes one for each database. */
interface ItemEncoder {
  encode(item: Stored): Uint8Array
  decode(bytes: Buffer, range: { readonly start: number; readonly end: number }): Stored
}

const SHAPES = 'shapes'
const NOTHING = new Uint8Array(0)
const PLAIN = { useRecords: false, mapsAsObjects: true }

/**
 * Items are MessagePack. Their attribute names are in numbered shapes, which the same transaction stores in `meta`. One of several writers
 * numbers no new shapes: it writes an object of a new shape as a map, with its names. (msgpackr's own way, a definition inside the item, cannot
 * be read if the shape occurs in the item twice and the table has few shapes.)
 */
export const openTables = (root: RootDatabase, spec: TableSpec, among: 'one writer' | 'several writers'): Tables => {
  const meta = openDatabase<unknown>(root, 'meta', PLAIN)
  const shapes = () => shapesFrom(meta.get(SHAPES))
  let learnt: unknown
  const encoder = {
    // Asked for, not given: only shapes that msgpackr loads itself are marked as shared, and read right beyond the thirty-second.
    getStructures: shapes,
    ...(among === 'several writers' && { useRecords: hasShapeIn(shapes()) }),
    maxSharedStructures: 512,
    useBigIntExtension: true,
    mapsAsObjects: true,
    saveStructures: (shapes: unknown) => {
      learnt = shapes
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
      if (learnt === undefined) return
      void meta.put(SHAPES, shapesFrom(learnt))
      learnt = undefined
    },
    pack: (item) => {
      const packed = codec.encode(item)
      return learnt === undefined ? packed : undefined
    },
    unpack: ({ bytes, start, end }) => codec.decode(bytes, { start, end }),
  }
}

const hasShapeIn = (shapes: readonly (readonly string[])[]) => {
  const known = new Set(shapes.map((names) => names.join('\u0000')))
  return (record: object): boolean => known.has(Object.keys(record).join('\u0000'))
}

const shapesFrom = (kept: unknown): string[][] =>
  Array.isArray(kept) ? kept.map((names: unknown) => (Array.isArray(names) ? names.map(String) : [])) : []

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

/** Where an item lies in an index; undefined when it is not in it. */
export const indexKeyOf = ({ pk, sk, number }: IndexSpec, item: Item): string | undefined => {
  const partition = item[pk]
  const sort = item[sk]
  const fits = typeof partition === 'string' && (number ? typeof sort === 'number' : typeof sort === 'string')
  return fits ? `${partition}\u0000${sortText(sort as string | number)}\u0000${keyOf(item)}` : undefined
}

/** Keeps the indexes in step with one batch of writes. Call inside the batch, before or after the item itself. */
export const createIndexer = (tables: Tables, { indexes }: TableSpec) => {
  const changed = new Map<string, Membership | undefined>()
  const any = indexes.length > 0 && hasAny(tables.members)
  return (id: string, item: Item | undefined): void => {
    const now = item && membershipOf(indexes, item)
    const before = changed.has(id) ? changed.get(id) : any ? tables.members.get(id) : undefined
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

/** Whether a database holds anything. (`getKeysCount` walks all of it, whatever its limit.) */
const hasAny = (db: { getKeys(range: { limit: number }): Iterable<unknown> }): boolean => {
  for (const _key of db.getKeys({ limit: 1 })) return true
  return false
}

/** What an index answers: its keys, the table's keys, and what it includes. */
export const project = (index: IndexSpec, item: Item): Item => {
  if (index.project === 'all') return item
  const kept: { [attribute: string]: Value | undefined } = {}
  for (const name of [index.pk, index.sk, ...index.project]) {
    if (item[name] !== undefined) kept[name] = item[name]
  }
  return { ...kept, PK: item.PK, SK: item.SK }
}

/** Without attributes that are undefined: an absent attribute and an undefined one are the same. */
export const tidy = (item: Stored): Stored => {
  for (const name in item) {
    if (item[name] === undefined) return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as Stored
  }
  return item
}
