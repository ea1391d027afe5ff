import { Fault } from '../../../schemas/fault.ts'
import type { Checkpoint } from '../ports/store.ts'

/**
 * Fences zombies: processes that lost a partition and still write. Every commit names the checkpoint from which its process continues. If
 * the new owner of the partition has moved the stored checkpoint, the commit of the zombie fails. If the new owner has written an item, the
 * write of this item fails too, because it requires the `_pos` that the fold read.
 * Throws `checkpoint-moved` unless the stored checkpoint is `from` or `offset`. It is `offset` if an earlier attempt of this commit wrote
 * it.
 */
export const requireCheckpoint = (table: string, checkpoint: Checkpoint, stored: number): void => {
  if (stored !== checkpoint.from && stored !== checkpoint.offset) throw checkpointMoved(table, checkpoint, stored)
}

/** The fault of a process whose checkpoint is not the stored one: another process moved the stored checkpoint, or the table was replaced. */
export const checkpointMoved = (table: string, { partition, from }: Checkpoint, stored: number): Fault =>
  new Fault(
    'checkpoint-moved',
    `The checkpoint of partition ${partition} in ${table} is ${stored}, not ${from}: another process moved it, or the table was restored or created anew. This process did not move it; folding continues from ${stored}.`,
  )
