import { halfBuilt } from '../processors/engine/generations/claim.ts'
import { flip } from '../processors/engine/generations/flip.ts'
import { rebuild, type BuildStorage } from '../processors/engine/rebuild/rebuild.ts'
import type { Domain } from '../projections/projection.ts'
import type { BuildMachine } from './build-machine.ts'
import type { Process } from './process.ts'
import type { Ports } from './world-ports.ts'
import type { World } from './world.ts'

/** An operation on the generations during the run: build a new one, flip to the newest, flip back to the oldest. */
export type Move = 'rebuild' | 'flip' | 'back'

/** Rebuilds and flips, in a process that can die. The next life of the process continues with the move that failed. */
export interface Operator {
  done(): boolean
}

export interface OperatorOptions {
  readonly moves: readonly Move[]
  /** The domain whose generations are rebuilt and flipped. */
  readonly domain: Domain
  readonly buildMachine: BuildMachine
}

const RETRY_MS = 2_000
/** A flip fails if it waits this long without progress. The time is short, because a waiting flip polls often and each poll is a step of the run. */
const FLIP_TIMEOUT_MS = 1_500
/** A low limit, so that a rebuild allocates a small working set. Allocating a large working set would take most of the time of a run. */
const WRITES_PER_SECOND = 50

export const startOperator = (world: World, { moves, domain, buildMachine }: OperatorOptions): Operator => {
  let remaining = moves
  const live = async (process: Process) => {
    const ports = world.ports(process, domain)
    for (;;) {
      const [move] = remaining
      if (move === undefined) return
      await ports.clock.sleep(world.random.between(0, 4_000))
      try {
        if (move === 'rebuild') await rebuildOnce({ ports, process, world, storage: buildMachine(process, ports) })
        else await flipOnce(ports, move)
        remaining = remaining.slice(1)
      } catch (error) {
        world.failed(error)
        await ports.clock.sleep(RETRY_MS)
      }
    }
  }
  if (remaining.length > 0) world.supervise('operator', 400, live)
  return { done: () => remaining.length === 0 }
}

interface Rebuilding {
  readonly ports: Ports
  readonly process: Process
  readonly world: World
  readonly storage: BuildStorage
}

/** Builds a new generation. If there is a half-built generation, mostly resumes its build instead. */
const rebuildOnce = async ({ ports, process, world, storage }: Rebuilding): Promise<void> => {
  const { domain, log, codec, clock, control, stores } = ports
  const { generation } = await control.serving(domain.name)
  const unfinished = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  const resume = unfinished !== undefined && world.random.chance(0.7) ? { resume: unfinished.generation } : {}
  const served = await stores.open(domain.table, generation)
  await rebuild({
    domain,
    log,
    codec,
    clock,
    control,
    served,
    storage,
    writesPerSecond: WRITES_PER_SECOND,
    holder: `${process.name}@${clock.now()}`,
    ...resume,
  })
}

const flipOnce = async ({ domain, log, clock, control, stores }: Ports, move: 'flip' | 'back'): Promise<void> => {
  const serving = (await control.serving(domain.name)).generation
  const others = (await control.generations(domain.name))
    .filter(({ state, generation }) => state === 'following' && generation !== serving)
    .map(({ generation }) => generation)
  const to = move === 'flip' ? Math.max(...others) : Math.min(...others)
  // No flip is needed: there is no other `following` generation, or an earlier life of the process flipped and died before the answer.
  if (!Number.isFinite(to) || (move === 'flip' ? to < serving : to > serving)) return
  const store = (generation: number) => stores.open(domain.table, generation)
  await flip({
    domain: domain.name,
    foldVersion: domain.foldVersion,
    control,
    log,
    admin: log,
    clock,
    to,
    store,
    timeoutMs: FLIP_TIMEOUT_MS,
  })
}
