/** Attribute names and keys are those of the source documents; names that begin with `_` are our bookkeeping. */
export type Value = string | number | bigint | boolean | null | readonly Value[] | { readonly [name: string]: Value | undefined }

export type Key = { readonly PK: string; readonly SK: string }
export type Item = Key & { readonly [attribute: string]: Value | undefined }

/** An item as it lies in a table: `_pos` is the offset of the last event that touched it. */
export type Stored = Item & { readonly _pos: number }

/** The item at its position. In place: what a fold made is the engine's; what it only handed on, as it was read, is copied. */
export const stamped = (item: Item & { _pos?: number }, offset: number): Stored => {
  if (item._pos !== undefined) return { ...item, _pos: offset }
  item._pos = offset
  return item as Stored
}

/** An item while it is being made. */
export type Draft<I> = { -readonly [Name in keyof I]: I[Name] }

/** An item as a fold writes it: the position that lies in a stored one is the engine's. */
export const bare = <I extends Item>(item: I): I => {
  if (!('_pos' in item)) return item
  const { _pos, ...rest } = item
  return rest as I
}

/** One string a key; \0 cannot occur in either half (the edge refuses it), so this is injective and keeps the order. */
export const keyOf = ({ PK, SK }: Key): string => `${PK}\u0000${SK}`

/**
 * What a removed item leaves: its position, so that a removal as well shows which events were applied, and before whom.
 * Readers do not see it, and the table's TTL collects it.
 */
export const isTrace = (item: Item): boolean => item['_removed'] === true

/** By the table's TTL attribute (epoch seconds), at a time in epoch milliseconds. A trace is never there to see. */
export const isExpired = (item: Item, ttl: string, atMs: number): boolean => {
  const expiry = item[ttl]
  return (typeof expiry === 'number' && expiry * 1000 <= atMs) || isTrace(item)
}

/** Whether two items have the same canonical form, without making it. */
export const sameItem = (a: Item | undefined, b: Item | undefined): boolean => sameValue(a, b)

export const sameValue = (a: Value | undefined, b: Value | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Number.isNaN(a) && Number.isNaN(b)
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((member, index) => sameValue(member as Value, b[index] as Value))
  }
  const [left, right] = [a as Members, b as Members]
  for (const name in left) if (!sameValue(left[name], right[name])) return false
  // An attribute may be called as what every object inherits: a user's id is one.
  for (const name in right) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false
  return true
}

type Members = { readonly [name: string]: Value | undefined }

/** The form in which two items are compared: attributes sorted, absent and undefined alike, -0 as 0. */
export const canonical = (item: Item): string => JSON.stringify(sorted(item))

const sorted = (value: Value | undefined): unknown => {
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? 0 : value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value as { [name: string]: Value | undefined }).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]))
}
