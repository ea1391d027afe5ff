import { canonical, isExpired, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { BuildTarget, Packed, Packing } from '../../../processors/engine/build-target.ts'
import { isRejection, RejectedSpans, requireCheckpoint } from '../../../processors/engine/store-faults.ts'
import type { Chunk, Store, Write } from '../../../processors/engine/store.ts'
import { requireStorableChunk } from '../../../processors/engine/storable.ts'
import type { Fault } from '../../../schemas/fault.ts'

/** The store port at its plainest, for tests of what stands on it: no peek, so that loads are exercised. */
export interface MemoryStore extends Store {
  readonly items: Map<string, Stored>
  readonly loads: number[]
  readonly commits: (readonly Chunk[])[]
  /** Runs before the next commit, as another writer would. */
  interrupt(work: () => void): void
  dump(): readonly string[]
  /** Sets the checkpoint of a partition, whatever it is. */
  reach(offset: number, partition?: number): Promise<void>
}

const keyOfWrite = (write: Write): Key => ('put' in write ? write.put : write.remove)

export const memoryStore = (): MemoryStore => {
  const items = new Map<string, Stored>()
  const checkpoints = new Map<number, number>()
  const loads: number[] = []
  const commits: (readonly Chunk[])[] = []
  let interruption: (() => void) | undefined
  const holds = (write: Write) => (items.get(keyOf(keyOfWrite(write)))?._pos ?? null) === write.expect
  const apply = (write: Write) => ('put' in write ? items.set(keyOf(write.put), write.put) : items.delete(keyOf(write.remove)))
  const commitSpan = (span: readonly Chunk[], reject: (fault: Fault) => void) => {
    for (const [at, chunk] of span.entries()) {
      try {
        requireStorableChunk({ indexes: [] }, chunk)
      } catch (error) {
        if (!isRejection(error)) throw error
        reject(error)
        return { applied: at, current: [] }
      }
      if (!chunk.every(holds)) {
        return { applied: at, current: chunk.map((write) => items.get(keyOf(keyOfWrite(write)))).filter((item) => item !== undefined) }
      }
      chunk.forEach(apply)
    }
    return { applied: 'all' as const }
  }
  return {
    items,
    loads,
    commits,
    interrupt: (work) => {
      interruption = work
    },
    reach: async (offset, partition = 0) => void checkpoints.set(partition, offset),
    dump: () => [...items.values()].map((item) => canonical(item)).sort(),
    load: async (keys) => {
      loads.push(keys.length)
      return keys.map((key) => items.get(keyOf(key)))
    },
    commit: async (spans, checkpoint) => {
      const other = interruption
      interruption = undefined
      other?.()
      if (checkpoint) requireCheckpoint('memory', checkpoint, checkpoints.get(checkpoint.partition) ?? 0)
      commits.push(...spans)
      const rejected = new Map<number, Fault>()
      const outcomes = spans.map((span, index) => commitSpan(span, (fault) => void rejected.set(index, fault)))
      if (rejected.size > 0) throw new RejectedSpans(rejected)
      const done = outcomes.every(({ applied }) => applied === 'all')
      if (checkpoint && done && checkpoint.offset !== checkpoint.from) checkpoints.set(checkpoint.partition, checkpoint.offset)
      return outcomes
    },
    checkpoints: async () => new Map(checkpoints),
    bulk: async (all) => {
      for await (const item of all) items.set(keyOf(item), item)
    },
    scan: async function* () {
      yield [...items.values()]
    },
    reader: (now) => {
      const get = async (key: Key): Promise<Item | undefined> => {
        const item = items.get(keyOf(key))
        return item === undefined || isExpired(item, 'ttl', now()) ? undefined : item
      }
      return {
        get,
        getMany: (keys) => Promise.all(keys.map(get)),
        query: async ({ pk, prefix = '', from = '', to = '\u{10FFFF}', limit }) => ({
          items: [...items.values()]
            .filter(({ PK, SK }) => PK === pk && SK.startsWith(prefix) && SK >= from && SK <= to)
            .filter((item) => !isExpired(item, 'ttl', now()))
            .sort((a, b) => (a.SK < b.SK ? -1 : 1))
            .slice(0, limit),
        }),
      }
    },
    close: async () => undefined,
  }
}

/** The same for a build to write to, with a packing of its own if it has one. */
export const memoryTarget = (store: MemoryStore, packing?: Packing & { readonly opened: (put: Stored | Packed) => Stored }): BuildTarget => ({
  ...store,
  ...(packing && { packing }),
  peek: (key) => store.items.get(keyOf(key)),
  count: async () => store.items.size,
  write: async (puts, removes, checkpoints) => {
    for (const item of puts) store.items.set(keyOf(item), packing?.opened(item) ?? (item as Stored))
    for (const key of removes) store.items.delete(keyOf(key))
    for (const [partition, offset] of checkpoints) await store.reach(offset, partition)
  },
})
