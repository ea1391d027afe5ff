import { Fault } from '../../schemas/fault.ts'
import type { Checkpoint } from './store.ts'

/** The store contains another checkpoint than the one this writer continues from: another member moved it, or the table was replaced. */
export const checkpointMoved = (table: string, { partition, from }: Checkpoint, stored: number): Fault =>
  new Fault('checkpoint-moved', `The checkpoint of partition ${partition} in ${table} is ${stored}, not ${from}: another process moved it, or the table was restored or created anew. Nothing was written; folding continues from ${stored}.`)

/** Throws unless the stored checkpoint is the one that a commit continues from, or is at `offset` already: then an earlier attempt of this commit wrote it. */
export const requireCheckpoint = (table: string, checkpoint: Checkpoint, stored: number): void => {
  if (stored !== checkpoint.from && stored !== checkpoint.offset) throw checkpointMoved(table, checkpoint, stored)
}

/** Codes of faults that mean: no attempt to write this item can ever succeed. */
const REJECTIONS = ['item-too-large', 'key-too-large', 'value-not-storable', 'item-rejected']

export const isRejection = (error: unknown): error is Fault => error instanceof Fault && REJECTIONS.includes(error.code)

/** The store will never take a chunk of these spans, by their index. */
export class RejectedSpans extends Fault {
  readonly spans: ReadonlyMap<number, Fault>

  constructor(spans: ReadonlyMap<number, Fault>) {
    const [first] = spans.values()
    super(first?.code ?? 'item-rejected', first?.message ?? 'The store rejects an item.', { cause: first })
    this.spans = spans
  }
}

/** A table does not exist any more. */
export const tableMissing = (what: string, cause?: unknown): Fault =>
  new Fault('table-missing', `There is no table for ${what}: somebody deleted it. Restore it from a backup, or build the next generation: tributary rebuild DOMAIN. Nothing creates it anew, because the events that it contained would be skipped.`, { retriable: true, cause })
