/** The value of an attribute. Attributes whose names begin with `_` are internal. */
export type Value =
  string | number | bigint | boolean | null | readonly Value[] | { readonly [name: string]: Value | undefined }

/** The key of an item in a single table: partition key and sort key. */
export type Key = { readonly PK: string; readonly SK: string }
/** An item of a table: its key and its attributes. */
export type Item = Key & { readonly [attribute: string]: Value | undefined }

/** An item as a table stores it. `_pos` is the offset of the last event that changed it. */
export type Stored = Item & { readonly _pos: number }

/** Sets the offset of the item. A new item is changed in place. An item that was read with an offset is copied. */
export const stamped = (item: Item & { _pos?: number }, offset: number): Stored => {
  if (item._pos !== undefined) return { ...item, _pos: offset }
  item._pos = offset
  return item as Stored
}

/** An item whose attributes can still be changed. */
export type Draft<I> = { -readonly [Name in keyof I]: I[Name] }

/** The item without the offset, which the engine sets. */
export const bare = <I extends Item>(item: I): I => {
  if (!('_pos' in item)) return item
  const { _pos, ...rest } = item
  return rest as I
}

/**
 * A string that identifies a key: neither PK nor SK contains \0, because the edge rejects \0. The strings have the same
 * order as the keys.
 */
export const keyOf = ({ PK, SK }: Key): string => `${PK}\u0000${SK}`

/**
 * True for the tombstone of a removed item. A tombstone contains the offset of the removal. So if an event is folded
 * again, the engine finds that it was applied. Readers do not receive tombstones, and the table's TTL removes them.
 */
export const isTombstone = (item: Item): boolean => item['_removed'] === true

/**
 * True if the item is expired by the table's TTL attribute (epoch seconds) at a time in epoch milliseconds. Also true
 * for a tombstone.
 */
export const isExpired = (item: Item, ttl: string, atMs: number): boolean => {
  const expiry = item[ttl]
  return (typeof expiry === 'number' && expiry * 1000 <= atMs) || isTombstone(item)
}

/** True if a query at this time returns the item. */
export const isReturned = (
  item: Item,
  { tombstones }: { readonly tombstones?: true },
  at: { readonly ttl: string; readonly now: number },
): boolean => (tombstones === true ? isTombstone(item) : !isExpired(item, at.ttl, at.now))

/** True if two items have the same canonical form (`canonical`). Faster, because it does not build the form. */
export const sameItem = (a: Item | undefined, b: Item | undefined): boolean => sameValue(a, b)

export const sameValue = (a: Value | undefined, b: Value | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Number.isNaN(a) && Number.isNaN(b)
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((member, index) => sameValue(member as Value, b[index] as Value))
    )
  }
  const [left, right] = [a as Members, b as Members]
  for (const name in left) if (!sameValue(left[name], right[name])) return false
  // Only own properties count: user ids are attribute names, so an attribute can have the name of an inherited property.
  for (const name in right) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false
  return true
}

type Members = { readonly [name: string]: Value | undefined }

/** The text by which two items are compared: attributes are sorted, absent and undefined are equal, and -0 is 0. */
export const canonical = (item: Item): string => JSON.stringify(sorted(item))

const sorted = (value: Value | undefined): unknown => {
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? 0 : value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value as { [name: string]: Value | undefined }).filter(
    ([, member]) => member !== undefined,
  )
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  )
}
