import type { Stored } from '../../projections/item.ts'
import type { BuildTarget } from './build-target.ts'
import type { Kept } from './build-state.ts'
import type { Pace } from './pace.ts'
import type { Store } from './store.ts'

export interface Copying {
  readonly from: BuildTarget
  readonly to: Store
  readonly kept: Kept
  readonly pace?: Pace | undefined
}

const SECTION = 5_000

/** Final states, once each, section by section, so that a copy goes on where it was cut; the checkpoints last: a table cut in the middle is never taken for whole. */
export const copy = async ({ from, to, kept, pace }: Copying): Promise<void> => {
  const of = await from.count()
  let copied = kept.state().copied ?? 0
  // Said before the first is written: whoever goes on must not fold on, or what that removes would stay in the table.
  if (kept.state().copied === undefined) await kept.change({ copied })
  for await (const items of sectionsOf(from, copied)) {
    await to.bulk(items, pace)
    copied += items.length
    await kept.change({ copied })
    kept.tell({ what: 'written', done: copied, of })
    kept.signal.throwIfAborted()
  }
  for (const [partition, offset] of kept.state().ends) if (offset > 0) await to.commit([], { partition, from: 0, offset })
  await to.close()
}

/** Nobody writes to it meanwhile, so what was copied before are the first so many. */
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
