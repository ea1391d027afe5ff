import { keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Chunk, Write } from '../../engine/ports/store.ts'
import { addUnits, NO_UNITS, writeUnits, type Touch, type Units } from './units.ts'

/** Counts the write units of a table. Remembers loaded items, because a write also costs units for the old version. So counting needs no reads. */
export interface Tally {
  /** Remembers a loaded item. */
  loaded(item: Stored): void
  /** Counts an applied chunk. */
  committed(chunk: Chunk): void
  /** Counts a chunk whose condition failed. */
  rejected(chunk: Chunk): void
  /** Counts puts of new items. */
  put(items: readonly Item[]): void
  units(): Units
}

const MAX_REMEMBERED = 8_192

export const createTally = (spec: TableSpec, counted?: (units: Units) => void): Tally => {
  const remembered = new Map<string, Stored>()
  let total = NO_UNITS

  const remember = (item: Stored) => {
    const id = keyOf(item)
    remembered.delete(id)
    remembered.set(id, item)
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string)
  }
  const count = (touches: readonly Touch[], mode: 'single' | 'transaction', failed = false) => {
    const units = writeUnits({ spec, touches, mode, failed })
    total = addUnits(total, units)
    counted?.(units)
  }
  const touchOf = (write: Write): Touch => {
    const after = 'put' in write ? write.put : undefined
    if (write.expect === null) return { after }
    const before = remembered.get(keyOf('put' in write ? write.put : write.remove))
    // If the old item is not remembered, its size is unknown. It is then counted as large as the new item, or as the key if the write removes the
    // item.
    return { after, before: before?._pos === write.expect ? before : (after ?? keyOnly(write)) }
  }
  const modeOf = (chunk: Chunk) => (chunk.length > 1 ? 'transaction' : 'single')

  return {
    loaded: remember,
    committed(chunk) {
      count(chunk.map(touchOf), modeOf(chunk))
      for (const write of chunk) {
        if ('put' in write) remember(write.put)
        else remembered.delete(keyOf(write.remove))
      }
    },
    rejected: (chunk) => count(chunk.map(touchOf), modeOf(chunk), true),
    put: (items) =>
      count(
        items.map((after) => ({ after })),
        'single',
      ),
    units: () => total,
  }
}

const keyOnly = (write: Write): Key => ('put' in write ? write.put : write.remove)
