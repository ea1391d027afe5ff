import { Fault } from '../../../schemas/fault.ts'
import type { Checkpoint } from '../ports/store.ts'

/** The stored checkpoint is not the one from which this writer continues: another member moved it, or the table was replaced. */
export const checkpointMoved = (table: string, { partition, from }: Checkpoint, stored: number): Fault =>
  new Fault(
    'checkpoint-moved',
    `The checkpoint of partition ${partition} in ${table} is ${stored}, not ${from}: another process moved it, or the table was restored or created anew. Nothing was written; folding continues from ${stored}.`,
  )

/** Throws `checkpoint-moved` unless the stored checkpoint is `from`, or `offset`: then an earlier attempt of this commit wrote it. */
export const requireCheckpoint = (table: string, checkpoint: Checkpoint, stored: number): void => {
  if (stored !== checkpoint.from && stored !== checkpoint.offset) throw checkpointMoved(table, checkpoint, stored)
}

/** The codes of the faults after which no attempt to write the same item can succeed. */
const REJECTIONS = ['item-too-large', 'key-too-large', 'value-not-storable', 'item-rejected']

export const isRejection = (error: unknown): error is Fault => error instanceof Fault && REJECTIONS.includes(error.code)

/** The table was deleted. */
export const tableMissing = (what: string, cause?: unknown): Fault =>
  new Fault(
    'table-missing',
    `There is no table for ${what}: it was deleted. Restore it from a backup, or build the next generation: tributary rebuild DOMAIN. The program does not create it again, because the events that it contained would be skipped.`,
    { retriable: true, cause },
  )
