import { isTombstone, sameValue, type Item, type Key, type Stored, type Value } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { isTimer } from '../outgoing/keys.ts'

export interface FieldChange {
  /** The name of the attribute. A member of a map has a dotted name: `map.member`. */
  readonly field: string
  readonly before?: Value
  readonly after?: Value
}

/** An item that differs between two generations. */
export interface ItemChange extends Key {
  readonly kind: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly fields: readonly FieldChange[]
}

/** The counts of a comparison for the items of one kind. */
export interface KindCount {
  readonly kind: string
  added: number
  removed: number
  changed: number
  same: number
  /** By attribute: the number of items in which the attribute changed. */
  readonly fields: { [field: string]: number }
}

/** Returns the name of an item's kind: from the table's list of key prefixes, or else made from the first parts of PK and SK (`USER#DAY#`). */
const kindOf = ({ kinds = [] }: TableSpec, { PK, SK }: Key): string =>
  kinds.find(({ pk = '', sk = '', end = '' }) => PK.startsWith(pk) && SK.startsWith(sk) && SK.endsWith(end))?.name ??
  (isTimer({ PK, SK }) ? 'timer' : `${head(PK)}${head(SK)}`)

const head = (text: string): string => /^[^#]*#?/.exec(text)?.[0] ?? ''

/** Returns the changed attributes, without the attributes of the engine, which begin with `_`. */
export const fieldChanges = (before: Item | undefined, after: Item | undefined): readonly FieldChange[] => {
  const [old, now] = [flat(before), flat(after)]
  const names = [...new Set([...old.keys(), ...now.keys()])]
  return names
    .filter((field) => !sameValue(old.get(field), now.get(field)))
    .map((field) => ({
      field,
      ...(old.has(field) ? { before: old.get(field) as Value } : {}),
      ...(now.has(field) ? { after: now.get(field) as Value } : {}),
    }))
}

const flat = (item: Item | undefined): ReadonlyMap<string, Value> => {
  const found = new Map<string, Value>()
  const add = (name: string, value: Value | undefined): void => {
    if (value === undefined) return
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return void found.set(name, value)
    for (const [member, inner] of Object.entries(value as { [name: string]: Value })) add(`${name}.${member}`, inner)
  }
  for (const [name, value] of Object.entries(item ?? {}))
    if (name !== 'PK' && name !== 'SK' && !name.startsWith('_')) add(name, value)
  return found
}

/** The item that readers see: undefined for a tombstone. */
export const shown = (item: Stored | undefined): Stored | undefined =>
  item !== undefined && isTombstone(item) ? undefined : item

/** Counts the differences by kind and keeps a sample of each kind. */
export const createTallies = (table: TableSpec, sample: number) => {
  const kinds = new Map<string, KindCount>()
  const samples = new Map<string, ItemChange[]>()
  let bookkeeping = 0
  return {
    same: (key: Key): void => void (countOf(kinds, kindOf(table, key)).same += 1),
    differ: (key: Key, before: Item | undefined, after: Item | undefined): void => {
      const kind = kindOf(table, key)
      const count = countOf(kinds, kind)
      const fields = [...fieldChanges(before, after)].sort((a, b) => (a.field < b.field ? -1 : 1))
      if (before !== undefined && after !== undefined && fields.length === 0) {
        count.same += 1
        bookkeeping += 1
        return
      }
      const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
      count[change] += 1
      if (change === 'changed') for (const { field } of fields) count.fields[field] = (count.fields[field] ?? 0) + 1
      const sampled = samples.get(`${kind} ${change}`) ?? []
      samples.set(`${kind} ${change}`, sampled)
      if (sampled.length < sample) sampled.push({ PK: key.PK, SK: key.SK, kind, change, fields })
    },
    kinds: (): readonly KindCount[] => [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    /** At most `sample` changes: first one of each kind and type of change, then a second one of each, and so on. */
    sample: (): readonly ItemChange[] => interleaved([...samples.values()], sample),
    /** The number of items that differ only in attributes of the engine. */
    bookkeeping: (): number => bookkeeping,
  }
}

const countOf = (kinds: Map<string, KindCount>, kind: string): KindCount => {
  const count = kinds.get(kind) ?? { kind, added: 0, removed: 0, changed: 0, same: 0, fields: {} }
  kinds.set(kind, count)
  return count
}

const interleaved = (lists: readonly (readonly ItemChange[])[], limit: number): readonly ItemChange[] => {
  const most = Math.max(0, ...lists.map(({ length }) => length))
  const rounds = Array.from({ length: most }, (_, round) => lists.flatMap((list) => list[round] ?? []))
  return rounds.flat().slice(0, limit)
}
