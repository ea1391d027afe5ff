import type { WriteRequest } from '@aws-sdk/client-dynamodb'
import { keyOf, type Stored } from '../../../projections/item.ts'
import { requireStorable } from '../../engine/rows/storable.ts'
import { NOTHING_DONE, PARTLY_DONE } from './attempts.ts'
import { toAttributes } from './codec.ts'
import type { Table } from './table.ts'
import type { Pace } from '../../engine/ports/store.ts'

const MAX_PUTS = 25

export interface BulkConfig {
  /** The maximum number of concurrent batches. */
  readonly width: number
  /** Limits the write units per second. Default: no limit. */
  readonly pace?: Pace | undefined
}

/** Writes items in batches, and replaces existing items without checking their version. Use it only for a table that no reader uses yet. */
export const bulk = async (
  table: Table,
  items: Iterable<Stored> | AsyncIterable<Stored>,
  config: BulkConfig,
): Promise<void> => {
  const openBatches = new Set<Promise<void>>()
  const startBatch = async (batch: ReadonlyMap<string, Stored>) => {
    const units = [...batch.values()].reduce(
      (sum, item) => sum + Math.ceil(requireStorable(table.spec, item) / 1024),
      0,
    )
    await config.pace?.(units)
    if (openBatches.size >= config.width) await Promise.race(openBatches)
    const sending = putBatch(table, [...batch.values()]).finally(() => openBatches.delete(sending))
    openBatches.add(sending)
  }
  try {
    let batch = new Map<string, Stored>()
    for await (const item of items) {
      batch.set(keyOf(item), item)
      if (batch.size < MAX_PUTS) continue
      await startBatch(batch)
      batch = new Map()
    }
    if (batch.size > 0) await startBatch(batch)
    await Promise.all(openBatches)
  } finally {
    await Promise.allSettled(openBatches)
  }
}

const putBatch = async ({ name, client, gate, attempts, tally }: Table, items: readonly Stored[]): Promise<void> => {
  let left: WriteRequest[] = items.map((item) => ({ PutRequest: { Item: toAttributes(item) } }))
  await attempts(`a batch of ${items.length} to ${name}`, async () => {
    const before = left.length
    const { UnprocessedItems } = await gate(() => client.batchWriteItem({ RequestItems: { [name]: left } }))
    left = UnprocessedItems?.[name] ?? []
    if (left.length === 0) return undefined
    return left.length < before ? PARTLY_DONE : NOTHING_DONE
  })
  tally.put(items)
}
