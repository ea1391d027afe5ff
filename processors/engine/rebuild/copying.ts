import type { Stored } from '../../../projections/item.ts'
import type { BuildTarget } from './build-target.ts'
import type { BuildLease } from './build-lease.ts'
import type { Pace, Store } from '../ports/store.ts'

export interface Copying {
  readonly from: BuildTarget
  readonly to: Store
  readonly lease: BuildLease
  readonly pace?: Pace | undefined
}

const SECTION = 5_000

/**
 * Copies each item once, section by section, so that an interrupted copy can continue. Writes the checkpoints last, so that no process
 * takes a partial copy for a complete one.
 */
export const copy = async ({ from, to, lease, pace }: Copying): Promise<void> => {
  const of = await from.count()
  let copied = lease.state().copied ?? 0
  // `copied` is stored before the first item is written. A resumed build then does not fold further, because an item that such a fold
  // removes could already be in the table and would stay there.
  if (lease.state().copied === undefined) await lease.change({ copied })
  for await (const items of sectionsOf(from, copied)) {
    await to.bulk(items, pace)
    copied += items.length
    await lease.change({ copied })
    lease.report({ what: 'written', done: copied, of })
    lease.signal.throwIfAborted()
  }
  for (const [partition, offset] of lease.state().ends)
    if (offset > 0) await to.commit([], { partition, from: 0, offset })
  await to.close()
}

/** Yields the items after the first `copied` items, in sections. No process writes to the store, so each scan has the same order. */
async function* sectionsOf(store: Store, copied: number): AsyncGenerator<readonly Stored[]> {
  let skip = copied
  let items: Stored[] = []
  for await (const page of store.scan()) {
    const left = page.slice(skip)
    skip = Math.max(0, skip - page.length)
    items.push(...left)
    if (items.length < SECTION) continue
    yield items
    items = []
  }
  if (items.length > 0) yield items
}
