import type { BuildStorage } from '../processors/engine/rebuild/rebuild.ts'
import { buildTargetFor } from './build-model.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import { createTable, type Table } from './store-model.ts'
import type { Ports } from './world-ports.ts'
import type { World } from './world.ts'

/**
 * The machine on which generations are built. Called with a process and its ports, returns the storage for the builds of this process. The
 * files on the machine outlive the process. Another process can take the lock of a dead process.
 */
export interface BuildMachine {
  (process: Process, ports: Ports): BuildStorage
  /** The tables on the disk of the machine, by generation. */
  readonly local: ReadonlyMap<number, Table>
}

export const createBuildMachine = (
  world: World,
  { scheduler, embedded }: { readonly scheduler: Scheduler; readonly embedded: boolean },
): BuildMachine => {
  const local = new Map<number, Table>()
  const locks = new Map<number, Process>()
  const storageFor = (process: Process, { domain, stores, series }: Ports): BuildStorage => {
    const spec = domain.series
    const tableOf = (generation: number): Table => {
      const table = embedded
        ? world.tables.of(domain.table, generation)
        : (local.get(generation) ?? createTable(domain.table, true))
      local.set(generation, table)
      return table
    }
    return {
      place: 'build-machine',
      lock: async (generation) => {
        const owner = locks.get(generation)
        if (owner !== undefined && owner !== process && owner.state !== 'dead') return undefined
        locks.set(generation, process)
        return { release: async () => void (locks.get(generation) === process && locks.delete(generation)) }
      },
      open: async (generation) => buildTargetFor({ scheduler, random: world.random }, process, tableOf(generation)),
      clear: async (generation) => void local.delete(generation),
      discard: async (generation) => {
        local.delete(generation)
        world.tables.drop(domain.table, generation)
        if (spec) world.series.drop(spec, generation)
      },
      ...(spec && { series: (generation: number) => series.open(spec, generation) }),
      ...(embedded ? {} : { copyTo: (generation: number) => stores.create(domain.table, generation) }),
    }
  }
  return Object.assign(storageFor, { local })
}
