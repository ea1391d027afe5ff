import type { Stored } from '../../../projections/item.ts'
import { pages } from '../../../projections/table.ts'
import type { Clock } from '../ports/clock.ts'
import { removing, type Store } from '../ports/store.ts'
import { followingGenerations } from '../run/open-generations.ts'
import type { Pipeline } from '../run/pipeline.ts'
import { placePages, type PlaceParts } from './place-pages.ts'

export interface TombstoneParts extends PlaceParts {
  readonly clock: Clock
  /** The time for which a process that lost its partition can continue to write items. 0: only one process writes. */
  readonly fencedMs: number
}

const PAGE = 100

/**
 * Removes the tombstones in the partitions of these people, because the key of a removed item can contain personal data. Removes only those
 * below the checkpoint: the log delivers no event below the checkpoint again, so no fold needs them. A process that lost its partition can
 * still fold such an event. So before the first removal, the call waits until such a process has stopped. Resolves to the number of removed
 * tombstones.
 */
export const dropTombstones = async (
  parts: TombstoneParts,
  subjects: readonly string[],
  pipelines: Iterable<Pipeline>,
): Promise<number> => {
  const followed = new Map<Pipeline, readonly Followed[]>()
  for (const pipeline of pipelines) {
    const generations = await followingGenerations(pipeline)
    followed.set(
      pipeline,
      await Promise.all(generations.map(async ({ store }) => ({ store, ends: await store.checkpoints() }))),
    )
  }
  let dropped = 0
  for (const subject of subjects)
    for await (const page of placePages(parts, subject))
      for (const pipeline of page.pipelines)
        for (const each of followed.get(pipeline) ?? [])
          for (const key of page.keys)
            for await (const rows of tombstonesOf({ pipeline, ...each }, key, subject)) {
              if (dropped === 0 && parts.fencedMs > 0) await parts.clock.sleep(parts.fencedMs)
              await each.store.commit(rows.map((row) => [[removing(row)]]))
              dropped += rows.length
            }
  return dropped
}

interface Followed {
  readonly store: Store
  /** The checkpoints before the wait. */
  readonly ends: ReadonlyMap<number, number>
}

/** Yields the tombstones of items of this log key below the checkpoint. */
async function* tombstonesOf(
  { pipeline: { domain, log }, store, ends }: Followed & { readonly pipeline: Pipeline },
  key: string,
  subject: string,
): AsyncGenerator<readonly Stored[]> {
  const end = ends.get(log.partitionOf(key)) ?? 0
  const reader = store.reader(() => 0)
  for (const pk of domain.personal?.partitions(key, subject) ?? [])
    for await (const items of pages(reader, { pk, tombstones: true, limit: PAGE })) {
      const rows = items.map((item) => item as Stored)
      const below = rows.filter((row) => row._pos < end && domain.partitions.keyIn(pk, row) === key)
      if (below.length > 0) yield below
    }
}
