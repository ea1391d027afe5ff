import { canonical, isExpired, isReturned, keyOf, type Item, type Key, type Stored } from '../projections/item.ts'
import { requireCheckpoint } from '../processors/engine/run/fencing.ts'
import { isRejection } from '../processors/engine/rows/store-faults.ts'
import { RejectedSpans, type Chunk, type Store, type Write } from '../processors/engine/ports/store.ts'
import { requireStorableChunk } from '../processors/engine/rows/storable.ts'
import type { Reader } from '../projections/table.ts'
import type { Fault } from '../schemas/fault.ts'

/** The store port in memory, for tests of the code that uses a store. It has no `peek`, so that the engine must load items. */
export interface MemoryStore extends Store {
  readonly items: Map<string, Stored>
  /** The number of keys of each load. */
  readonly loads: number[]
  readonly commits: (readonly Chunk[])[]
  /** Runs `work` once, before the next commit, to simulate another writer. */
  interrupt(work: () => void): void
  /** Every item with its position, in canonical form and order. */
  dump(): readonly string[]
  /** Sets the checkpoint of a partition without a check of the current one. Default partition: 0. */
  setCheckpoint(offset: number, partition?: number): Promise<void>
}

const keyOfWrite = (write: Write): Key => ('put' in write ? write.put : write.remove)

/** An empty store in memory. */
export const memoryStore = (): MemoryStore => {
  const items = new Map<string, Stored>()
  const checkpoints = new Map<number, number>()
  const loads: number[] = []
  const commits: (readonly Chunk[])[] = []
  let interruption: (() => void) | undefined
  const isExpected = (write: Write) => (items.get(keyOf(keyOfWrite(write)))?._pos ?? null) === write.expect
  const apply = (write: Write) =>
    'put' in write ? items.set(keyOf(write.put), write.put) : items.delete(keyOf(write.remove))
  const commitSpan = (span: readonly Chunk[], reject: (fault: Fault) => void) => {
    for (const [applied, chunk] of span.entries()) {
      try {
        requireStorableChunk({ indexes: [] }, chunk)
      } catch (error) {
        if (!isRejection(error)) throw error
        reject(error)
        return { applied, current: [] }
      }
      if (!chunk.every(isExpected)) {
        return {
          applied,
          current: chunk.map((write) => items.get(keyOf(keyOfWrite(write)))).filter((item) => item !== undefined),
        }
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
    setCheckpoint: async (offset, partition = 0) => void checkpoints.set(partition, offset),
    dump: () => [...items.values()].map((item) => canonical(item)).sort(),
    load: async (keys) => {
      loads.push(keys.length)
      return keys.map((key) => items.get(keyOf(key)))
    },
    commit: async (spans, checkpoint) => {
      const interrupt = interruption
      interruption = undefined
      interrupt?.()
      if (checkpoint) requireCheckpoint('memory', checkpoint, checkpoints.get(checkpoint.partition) ?? 0)
      commits.push(...spans)
      const rejected = new Map<number, Fault>()
      const outcomes = spans.map((span, index) => commitSpan(span, (fault) => void rejected.set(index, fault)))
      if (rejected.size > 0) throw new RejectedSpans(rejected)
      const isApplied = outcomes.every(({ applied }) => applied === 'all')
      if (checkpoint && isApplied && checkpoint.offset !== checkpoint.from)
        checkpoints.set(checkpoint.partition, checkpoint.offset)
      return outcomes
    },
    checkpoints: async () => new Map(checkpoints),
    bulk: async (all) => {
      for await (const item of all) items.set(keyOf(item), item)
    },
    scan: async function* () {
      yield [...items.values()]
    },
    reader: (now) => readerOf(items, now),
    close: async () => undefined,
  }
}

const readerOf = (items: ReadonlyMap<string, Stored>, now: () => number): Reader => {
  const get = async (key: Key): Promise<Item | undefined> => {
    const item = items.get(keyOf(key))
    return item === undefined || isExpired(item, 'ttl', now()) ? undefined : item
  }
  return {
    get,
    getMany: (keys) => Promise.all(keys.map(get)),
    query: async ({ pk, prefix = '', from = '', to = '\u{10FFFF}', limit, ...query }) => ({
      items: [...items.values()]
        .filter(({ PK, SK }) => PK === pk && SK.startsWith(prefix) && SK >= from && SK <= to)
        .filter((item) => isReturned(item, query, { ttl: 'ttl', now: now() }))
        .sort((a, b) => (a.SK < b.SK ? -1 : 1))
        .slice(0, limit),
    }),
  }
}
