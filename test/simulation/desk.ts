import type { Workshop } from '../../processors/engine/rebuild.ts'
import { buildTargetFor } from './build-model.ts'
import type { Process, Scheduler } from './scheduler.ts'
import { createTable, type Table } from './store-model.ts'
import type { Ports, World } from './world.ts'

/** The machine on which generations are built: its files and locks outlive a process, and a lock is free when its holder is dead. */
export interface Desk {
  (process: Process, ports: Ports): Workshop
  /** What lies on its disk. */
  readonly local: ReadonlyMap<number, Table>
}

export const createDesk = (world: World, { scheduler, embedded }: { readonly scheduler: Scheduler; readonly embedded: boolean }): Desk => {
  const local = new Map<number, Table>()
  const locks = new Map<number, Process>()
  const workshop = (process: Process, { domain, stores, series }: Ports): Workshop => {
    const spec = domain.series
    const tableOf = (generation: number): Table => {
      const table = embedded ? world.tables.of(domain.table, generation) : (local.get(generation) ?? createTable(domain.table, true))
      local.set(generation, table)
      return table
    }
    return {
      place: 'desk',
      lock: async (generation) => {
        const holder = locks.get(generation)
        if (holder !== undefined && holder !== process && holder.state !== 'dead') return undefined
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
  return Object.assign(workshop, { local })
}
