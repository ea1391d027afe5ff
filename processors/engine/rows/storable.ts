import type { Item, Key, Value } from '../../../projections/item.ts'
import type { Change } from '../../../projections/projection.ts'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { notStorable, sizeOf, textSize } from './size.ts'
import type { Chunk } from '../ports/store.ts'

/**
 * The limits of a table. They are the same for all stores: the smaller limit of DynamoDB and LMDB applies everywhere. So the same event
 * parks the same key in a processor and in a rebuild, with embedded stores and with services.
 */
export const MAX_ITEM_BYTES = 400 * 1024
/** DynamoDB's limits for the two parts of a key, in a table and in an index. */
const MAX_PK_BYTES = 2_048
const MAX_SK_BYTES = 1_024
/** True if a store can store an item with this key. */
export const isStorableKey = (key: Key): boolean => {
  try {
    return requireKey(key) > 0
  } catch {
    return false
  }
}

/** LMDB's limit for all parts of a key together, with one byte between two parts. The key of an index entry also contains the item's own key. */
export const MAX_KEY_BYTES = 1_978
/**
 * The size in bytes that is counted for `_pos`, whatever its value: its name and the maximum of 16 digits. So the size of an item does not
 * depend on its position in the log.
 */
const POS_BYTES = 13
/** The maximum size of a tombstone in bytes, without its key. */
const TOMBSTONE_BYTES = 60
/** The size of a number in an index key of LMDB, in bytes. */
const NUMBER_KEY_BYTES = 16

/**
 * The size of a change in bytes by DynamoDB's rule. If no store can store the change, throws a fault that parks the key: `item-too-large`,
 * `key-too-large` or `value-not-storable`.
 */
export const requireStorable = ({ indexes }: Pick<TableSpec, 'indexes'>, change: Change): number => {
  const keyBytes = requireKey(change)
  if ('_removed' in change) return keyBytes + TOMBSTONE_BYTES
  const item = change as Item
  for (const index of indexes) requireIndexKey(index, item, keyBytes)
  const size =
    sizeOf(item) - (item['_pos'] === undefined ? 0 : sizeOf({ _pos: item['_pos'] } as Value as Item)) + POS_BYTES
  if (size <= MAX_ITEM_BYTES) return size
  throw new Fault(
    'item-too-large',
    `The item ${shown(item)} has ${size} bytes; an item has at most ${MAX_ITEM_BYTES}. Fold less into one item.`,
  )
}

/** Checks all items that a chunk puts, as `requireStorable` does. Returns the sum of their sizes in bytes. */
export const requireStorableChunk = (spec: Pick<TableSpec, 'indexes'>, chunk: Chunk): number =>
  chunk.reduce((bytes, write) => bytes + ('put' in write ? requireStorable(spec, write.put) : 0), 0)

const requireKey = (key: Key): number => {
  const [pk, sk] = [
    requirePart(key.PK, { name: 'PK', max: MAX_PK_BYTES }, key),
    requirePart(key.SK, { name: 'SK', max: MAX_SK_BYTES }, key),
  ]
  return requireTogether(pk + sk + 1, 'key', key)
}

/**
 * Checks the attributes of an index key. Checks the type of one attribute even if the item lacks the other and so is not in the index,
 * because DynamoDB does so too.
 */
const requireIndexKey = ({ name, pk, sk, number }: IndexSpec, item: Item, keyBytes: number): void => {
  const partition = indexPart(item, { name: pk, max: MAX_PK_BYTES })
  const sort = number === true ? indexNumber(item, sk) : indexPart(item, { name: sk, max: MAX_SK_BYTES })
  if (partition !== undefined && sort !== undefined)
    requireTogether(partition + sort + keyBytes + 2, `key in the index ${name}`, item)
}

/** The size of a part of an index key in bytes. Undefined if the item does not have the attribute. */
const indexPart = (item: Item, part: Part): number | undefined => {
  const value = item[part.name]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw wrongType(part.name, item)
  return requirePart(value, part, item)
}

const indexNumber = (item: Item, name: string): number | undefined => {
  const value = item[name]
  if (value !== undefined && typeof value !== 'number') throw wrongType(name, item)
  return value === undefined ? undefined : NUMBER_KEY_BYTES
}

interface Part {
  readonly name: string
  readonly max: number
}

const wrongType = (name: string, key: Key): Fault =>
  notStorable(`the value of the index key ${name} of ${shown(key)}, which is of another type than the index`)

const requirePart = (text: string, { name, max }: Part, key: Key): number => {
  if (text === '') throw notStorable(`an empty ${name} (the item ${shown(key)})`)
  if (text.includes('\u0000')) throw notStorable(`a ${name} with the character U+0000 (the item ${shown(key)})`)
  const bytes = textSize(text)
  if (bytes <= max) return bytes
  throw new Fault(
    'key-too-large',
    `${name} of the item ${shown(key)} has ${bytes} bytes; it has at most ${max}. Choose shorter keys.`,
  )
}

const requireTogether = (bytes: number, what: string, key: Key): number => {
  if (bytes <= MAX_KEY_BYTES) return bytes
  throw new Fault(
    'key-too-large',
    `The ${what} of the item ${shown(key)} has ${bytes} bytes; it has at most ${MAX_KEY_BYTES}. Choose shorter keys.`,
  )
}

const SHOWN = 80
const shown = ({ PK, SK }: Key): string =>
  [PK, SK].map((part) => (part.length > SHOWN ? `${part.slice(0, SHOWN)}…` : part)).join(' / ')
