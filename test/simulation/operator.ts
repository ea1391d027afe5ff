import { halfBuilt } from '../../processors/engine/claim.ts'
import { flip } from '../../processors/engine/flip.ts'
import { rebuild, type Workshop } from '../../processors/engine/rebuild.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Desk } from './desk.ts'
import type { Process } from './scheduler.ts'
import type { Ports, World } from './world.ts'

/** What is done to the generations while everybody writes: a build beside, a flip to the newest, a flip back to the oldest. */
export type Move = 'rebuild' | 'flip' | 'back'

/** Somebody who rebuilds and flips, in a process that dies like any other; the person remembers how far it was. */
export interface Operator {
  done(): boolean
}

export interface OperatorOptions {
  readonly moves: readonly Move[]
  /** Whose generations. */
  readonly moving: Domain
  readonly desk: Desk
}

const AGAIN_MS = 2_000
/** Short: who waits asks again every few milliseconds. */
const FLIP_TIMEOUT_MS = 1_500
/** Held back, so that its working set is small: large ones are most of what a run costs, and are never filled. */
const WRITES_PER_SECOND = 50

export const startOperator = (world: World, { moves, moving, desk }: OperatorOptions): Operator => {
  let left = moves
  const live = async (process: Process) => {
    const ports = world.ports(process, moving)
    for (;;) {
      const [move] = left
      if (move === undefined) return
      await ports.clock.sleep(world.random.between(0, 4_000))
      try {
        if (move === 'rebuild') await rebuilt({ ports, process, world, workshop: desk(process, ports) })
        else await flipped(ports, move)
        left = left.slice(1)
      } catch (error) {
        world.failed(error)
        await ports.clock.sleep(AGAIN_MS)
      }
    }
  }
  if (left.length > 0) world.keep('operator', 400, live)
  return { done: () => left.length === 0 }
}

interface Rebuilding {
  readonly ports: Ports
  readonly process: Process
  readonly world: World
  readonly workshop: Workshop
}

/** What was left half-built is mostly gone on with. */
const rebuilt = async ({ ports, process, world, workshop }: Rebuilding): Promise<void> => {
  const { domain, log, codec, clock, control, stores } = ports
  const { generation } = await control.serving(domain.name)
  const left = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  const resume = left !== undefined && world.random.chance(0.7) ? { resume: left.generation } : {}
  const served = await stores.open(domain.table, generation)
  await rebuild({ domain, log, codec, clock, control, served, workshop, writesPerSecond: WRITES_PER_SECOND, holder: `${process.name}@${clock.now()}`, ...resume })
}

const flipped = async ({ domain, log, clock, control, stores }: Ports, move: 'flip' | 'back'): Promise<void> => {
  const serving = (await control.serving(domain.name)).generation
  const others = (await control.generations(domain.name)).filter(({ state, generation }) => state === 'following' && generation !== serving).map(({ generation }) => generation)
  const to = move === 'flip' ? Math.max(...others) : Math.min(...others)
  // The newest serves, or nothing else is there: an earlier life did it, and did not hear so.
  if (!Number.isFinite(to) || (move === 'flip' ? to < serving : to > serving)) return
  const store = (generation: number) => stores.open(domain.table, generation)
  await flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, timeoutMs: FLIP_TIMEOUT_MS })
}
