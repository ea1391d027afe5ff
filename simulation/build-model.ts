import { keyOf, type Key, type Stored } from '../projections/item.ts'
import type { BuildTarget } from '../processors/engine/rebuild/build-target.ts'
import { jsonPacking } from './json-packing.ts'
import type { Random } from './random.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import { storeFor, type Table } from './store-model.ts'

/** Returns the local store of a build. Each write is one transaction. */
export const buildTargetFor = (
  world: { scheduler: Scheduler; random: Random },
  process: Process,
  table: Table,
): BuildTarget => {
  const packing = jsonPacking()
  return {
    ...storeFor(world, process, table),
    packing,
    peek: (key) => table.items.get(keyOf(key)),
    count: async () => table.items.size,
    write: (puts, removes, checkpoints) => {
      // Copies the arguments before the call, as the LMDB adapter does, because the builder can change them before the call takes effect.
      const copied = {
        puts: puts.map((put) => ({ ...packing.opened(put) })),
        removes: [...removes],
        checkpoints: new Map(checkpoints),
      }
      return world.scheduler.call(process, {
        port: 'build.write',
        prompt: true,
        *steps() {
          flush(table, copied)
        },
      })
    },
  }
}

/** Returns a local store like `buildTargetFor`, but its writes have no simulated delays and faults. A checker uses it to build a generation. */
export const plainTarget = (
  store: Pick<BuildTarget, 'load' | 'commit' | 'bulk' | 'scan' | 'close'>,
  table: Table,
): BuildTarget => {
  const packing = jsonPacking()
  return {
    ...store,
    packing,
    peek: (key) => table.items.get(keyOf(key)),
    count: async () => table.items.size,
    checkpoints: async () => table.checkpoints,
    reader: () => ({
      get: async () => undefined,
      getMany: async () => [],
      query: async ({ pk }) => ({ items: [...table.items.values()].filter(({ PK }) => PK === pk) }),
    }),
    write: async (puts, removes, checkpoints) => flush(table, { puts: puts.map(packing.opened), removes, checkpoints }),
  }
}

interface Flush {
  readonly puts: readonly Stored[]
  readonly removes: readonly Key[]
  readonly checkpoints: ReadonlyMap<number, number>
}

const flush = (table: Table, { puts, removes, checkpoints }: Flush) => {
  for (const item of puts) table.items.set(keyOf(item), { ...item })
  for (const key of removes) table.items.delete(keyOf(key))
  for (const [partition, offset] of checkpoints) table.checkpoints.set(partition, offset)
}
