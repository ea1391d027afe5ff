import type { Stored } from '../../../projections/item.ts'

/** Accepted writes that are not in LMDB yet: items by key (null is a removal), and checkpoints by partition. */
export interface Pending {
  readonly items: Map<string, Stored | null>
  readonly checkpoints: Map<number, number>
}

/** Accepted writes that are not in LMDB yet. For every read they replace the items of LMDB. Null: removed. Undefined: read the item from LMDB. */
export interface Overlay {
  find(id: string): Stored | null | undefined
  entries(): Iterable<readonly [string, Stored | null]>
}

export const emptyPending = (): Pending => ({ items: new Map(), checkpoints: new Map() })

/** Sets the checkpoint of a partition to `offset`, unless the checkpoint is already at this offset or after it. */
export const advance = (checkpoints: Map<number, number>, partition: number, offset: number): void => {
  if ((checkpoints.get(partition) ?? -1) < offset) checkpoints.set(partition, offset)
}

/** Combines both sets of writes. For the same key, the write of `newer` replaces the write of `older`. */
export const merged = (older: Pending, newer: Pending): Pending => {
  const checkpoints = new Map(older.checkpoints)
  for (const [partition, offset] of newer.checkpoints) advance(checkpoints, partition, offset)
  return { items: new Map([...older.items, ...newer.items]), checkpoints }
}
