import type { Stored } from '../../../projections/item.ts'

/** Writes that were accepted and are not in LMDB yet, by key; null is a removal. */
export interface Pending {
  readonly items: Map<string, Stored | null>
  readonly checkpoints: Map<number, number>
}

/** What lies over LMDB: an item that is in it is as it says there, whatever LMDB says. */
export interface Overlay {
  find(id: string): Stored | null | undefined
  entries(): Iterable<readonly [string, Stored | null]>
}

export const nothing = (): Pending => ({ items: new Map(), checkpoints: new Map() })

/** A checkpoint never goes backwards. */
export const advance = (checkpoints: Map<number, number>, partition: number, offset: number): void => {
  if ((checkpoints.get(partition) ?? -1) < offset) checkpoints.set(partition, offset)
}

/** `older` with `newer` laid over it. */
export const merged = (older: Pending, newer: Pending): Pending => {
  const checkpoints = new Map(older.checkpoints)
  for (const [partition, offset] of newer.checkpoints) advance(checkpoints, partition, offset)
  return { items: new Map([...older.items, ...newer.items]), checkpoints }
}
