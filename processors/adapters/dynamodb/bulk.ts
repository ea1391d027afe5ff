import type { WriteRequest } from '@aws-sdk/client-dynamodb'
import { keyOf, type Stored } from '../../../projections/item.ts'
import type { Pace } from '../../engine/pace.ts'
import { requireStorable } from '../../engine/storable.ts'
import { NOTHING_DONE, PARTLY_DONE } from './attempts.ts'
import { toAttributes } from './codec.ts'
import type { Table } from './table.ts'

const MAX_PUTS = 25

export interface BulkConfig {
  /** Batches under way at once. */
  readonly width: number
  /** Asked in write units; absent: as fast as it goes. */
  readonly pace?: Pace | undefined
}

/** Unconditional puts in batches, for a table nobody reads yet. */
export const bulk = async (table: Table, items: Iterable<Stored> | AsyncIterable<Stored>, config: BulkConfig): Promise<void> => {
  const underWay = new Set<Promise<void>>()
  const launch = async (batch: ReadonlyMap<string, Stored>) => {
    const units = [...batch.values()].reduce((sum, item) => sum + Math.ceil(requireStorable(table.spec, item) / 1024), 0)
    await config.pace?.(units)
    if (underWay.size >= config.width) await Promise.race(underWay)
    const sending = putBatch(table, [...batch.values()]).finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
  try {
    let batch = new Map<string, Stored>()
    for await (const item of items) {
      batch.set(keyOf(item), item)
      if (batch.size < MAX_PUTS) continue
      await launch(batch)
      batch = new Map()
    }
    if (batch.size > 0) await launch(batch)
    await Promise.all(underWay)
  } finally {
    await Promise.allSettled(underWay)
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
  tally.wrote(items)
}
