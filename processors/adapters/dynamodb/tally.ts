import { keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Chunk, Write } from '../../engine/store.ts'
import { addUnits, NO_UNITS, writeUnits, type Touch, type Units } from './units.ts'

/** Counts what the writes cost. What a write replaces is known from the load before it, so no read is added for counting. */
export interface Tally {
  saw(item: Stored): void
  committed(chunk: Chunk): void
  refused(chunk: Chunk): void
  wrote(items: readonly Item[]): void
  units(): Units
}

const REMEMBERED = 8_192

export const createTally = (spec: TableSpec, counted?: (units: Units) => void): Tally => {
  const seen = new Map<string, Stored>()
  let total = NO_UNITS

  const remember = (item: Stored) => {
    const id = keyOf(item)
    seen.delete(id)
    seen.set(id, item)
    if (seen.size > REMEMBERED) seen.delete(seen.keys().next().value as string)
  }
  const count = (touches: readonly Touch[], mode: 'single' | 'transaction', failed = false) => {
    const units = writeUnits({ spec, touches, mode, failed })
    total = addUnits(total, units)
    counted?.(units)
  }
  const touchOf = (write: Write): Touch => {
    const after = 'put' in write ? write.put : undefined
    if (write.expect === null) return { after }
    const before = seen.get(keyOf('put' in write ? write.put : write.remove))
    // Not loaded through this store, or forgotten: it counts as large as what takes its place.
    return { after, before: before?._pos === write.expect ? before : (after ?? keyOnly(write)) }
  }
  const modeOf = (chunk: Chunk) => (chunk.length > 1 ? 'transaction' : 'single')

  return {
    saw: remember,
    committed(chunk) {
      count(chunk.map(touchOf), modeOf(chunk))
      for (const write of chunk) {
        if ('put' in write) remember(write.put)
        else seen.delete(keyOf(write.remove))
      }
    },
    refused: (chunk) => count(chunk.map(touchOf), modeOf(chunk), true),
    wrote: (items) => count(items.map((after) => ({ after })), 'single'),
    units: () => total,
  }
}

const keyOnly = (write: Write): Key => ('put' in write ? write.put : write.remove)
