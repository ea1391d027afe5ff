import type { BuildTarget, Packed, Packing } from '../../../processors/engine/rebuild/build-target.ts'
import { keyOf, type Stored } from '../../../projections/item.ts'
import type { MemoryStore } from '../../../testing/memory-store.ts'

/** A store in memory as the target of a build. Without `packing`, the build keeps items as objects, and does not convert them to bytes. */
export const memoryTarget = (
  store: MemoryStore,
  packing?: Packing & { readonly opened: (put: Stored | Packed) => Stored },
): BuildTarget => ({
  ...store,
  ...(packing && { packing }),
  peek: (key) => store.items.get(keyOf(key)),
  count: async () => store.items.size,
  write: async (puts, removes, checkpoints) => {
    for (const item of puts) store.items.set(keyOf(item), packing?.opened(item) ?? (item as Stored))
    for (const key of removes) store.items.delete(keyOf(key))
    for (const [partition, offset] of checkpoints) await store.setCheckpoint(offset, partition)
  },
})
