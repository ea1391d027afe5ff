import { flip, rebuild } from '../../processors/engine/rebuild.ts'
import { buildTargetFor } from './build-model.ts'
import type { Process, Scheduler } from './scheduler.ts'
import { createTable } from './store-model.ts'
import type { Workload } from './workload.ts'
import type { Ports, World } from './world.ts'

/** What is done to the generations while everybody writes: a build beside, a flip to the newest, a flip back to an older one. */
export type Move = 'rebuild' | 'flip' | 'back'

/** Somebody who rebuilds and flips, in a process that dies like any other; the person remembers how far it was. */
export interface Operator {
  done(): boolean
}

const AGAIN_MS = 2_000
/** Short: who waits asks again every few milliseconds. */
const FLIP_TIMEOUT_MS = 1_500

export const startOperator = (world: World, { scheduler, workload, moves, embedded }: { scheduler: Scheduler; workload: Workload; moves: readonly Move[]; embedded: boolean }): Operator => {
  let left = moves
  const live = async (process: Process) => {
    const ports = world.ports(process)
    for (;;) {
      const [move] = left
      if (move === undefined) return
      await ports.clock.sleep(world.random.between(0, 4_000))
      try {
        if (move === 'rebuild') await rebuilt({ ports, process, scheduler, workload, world, embedded })
        else await flipped(ports, move)
        left = left.slice(1)
      } catch (error) {
        world.failed(error)
        await ports.clock.sleep(AGAIN_MS)
      }
    }
  }
  if (moves.length > 0) world.keep('operator', 400, live)
  return { done: () => left.length === 0 }
}

interface Rebuilding {
  readonly ports: Ports
  readonly process: Process
  readonly scheduler: Scheduler
  readonly workload: Workload
  readonly world: World
  readonly embedded: boolean
}

const rebuilt = async ({ ports, process, scheduler, workload, world, embedded }: Rebuilding): Promise<void> => {
  const { domain, log, clock, control, stores } = ports
  const serving = (await control.serving(domain.name)).generation
  const place = { scheduler, random: world.random }
  await rebuild({
    domain, log, codec: workload.codec, clock, control,
    served: await stores.open(domain.table, serving),
    holder: `${process.name}@${clock.now()}`,
    workIn: async (generation) => buildTargetFor(place, process, embedded ? world.tables.of(domain.table, generation) : createTable(domain.table, true)),
    ...(embedded ? {} : { copyTo: (generation) => stores.open(domain.table, generation) }),
  })
}

const flipped = async ({ domain, log, clock, control, stores }: Ports, move: 'flip' | 'back'): Promise<void> => {
  const serving = (await control.serving(domain.name)).generation
  const others = (await control.generations(domain.name)).filter(({ state, generation }) => state === 'following' && generation !== serving).map(({ generation }) => generation)
  const to = move === 'flip' ? Math.max(...others) : Math.min(...others)
  // The newest serves, or nothing else is there: an earlier life did it, and did not hear so.
  if (!Number.isFinite(to) || (move === 'flip' ? to < serving : to > serving)) return
  const [store, served] = [await stores.open(domain.table, to), await stores.open(domain.table, serving)]
  await flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, serving, served, timeoutMs: FLIP_TIMEOUT_MS })
}
