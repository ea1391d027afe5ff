import type { Item, Key, Stored } from '../../../projections/item.ts'
import { removing, replacing, type Store } from '../ports/store.ts'

/**
 * Changes one row that several processes write (compare-and-set). `next` receives the stored row (undefined: none) and returns the new row,
 * null to remove the row, or undefined to leave the row as it is. If another process changes the row at the same time, `next` is called
 * again with the changed row. Resolves to the row that is stored afterwards. `assumed` is the row that the caller expects (undefined:
 * none). With `assumed`, the call does not read the row before its first write.
 */
export const changeRow = async <R extends Stored>(
  store: Pick<Store, 'load' | 'commit'>,
  { PK, SK }: Key,
  next: (was: R | undefined) => Item | null | undefined,
  known?: { readonly assumed: R | undefined },
): Promise<R | undefined> => {
  let was = known === undefined ? ((await store.load([{ PK, SK }]))[0] as R | undefined) : known.assumed
  for (;;) {
    const item = next(was)
    const write = item === null ? was && removing(was) : item && replacing(was, item)
    if (write === undefined) return was
    const [outcome] = await store.commit([[[write]]])
    if (outcome === undefined || outcome.applied === 'all') return 'put' in write ? (write.put as R) : undefined
    was = outcome.current[0] as R | undefined
  }
}
