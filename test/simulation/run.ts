import { randomFaults, plannedFaults, swarm, type Fault } from './faults.ts'
import { checkAppends, checkDerived, checkItems, checkOutcomes, checkPassed, type History, type Violation } from './checkers.ts'
import { startClients } from './clients.ts'
import { startDoorman } from './doorman.ts'
import { createMender } from './mender.ts'
import { createRandom } from './random.ts'
import { checkRebuilt } from './rebuilt.ts'
import { expectedOf } from './reference.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { EPOCH, type Workload } from './workload.ts'
import { mealsWorkload } from './workload-meals.ts'
import { toyWorkload } from './workload-toy.ts'
import { createWorld, type Bug, type World } from './world.ts'

export interface RunOptions {
  /** Exactly these faults instead of those that the seed draws. */
  readonly plan?: readonly Fault[]
  readonly domain?: 'meals' | 'toy'
  /** Keep a readable line for everything that happened. */
  readonly record?: boolean
  readonly bug?: Bug
}

export interface Report {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** The faults that struck, in order; with them as a plan the run is the same again. */
  readonly faults: readonly Fault[]
  /** The port calls that nodes made: where one can be killed. */
  readonly calls: readonly string[]
  readonly events: number
  /** Of everything that happened. */
  readonly hash: number
  readonly lines: readonly string[]
}

/** How a run looks, by its seed. */
interface Shape {
  readonly workload: Workload
  readonly nodes: number
  readonly partitions: number
  readonly batch: number
  readonly embedded: boolean
  readonly restart: boolean
}

/** Long enough for whoever is awake to notice what is left to do. */
const CALM_MS = 500
/** Faults do not go on for ever: a node that is killed at every turn gets nowhere, and teaches nothing more. */
const SAFETY_MS = 60_000
const STUCK_MS = 600_000
const BUDGET = 60_000

const shapeOf = (seed: number, options: RunOptions): Shape => {
  const random = createRandom(seed)
  const domain = options.domain ?? random.pick(['meals', 'toy'])
  const length = random.pick([8, 20, 40])
  const embedded = random.chance(0.25)
  return {
    workload: domain === 'meals' ? mealsWorkload(random, length) : toyWorkload(random, length),
    nodes: embedded ? 1 : random.between(1, 3),
    partitions: embedded ? 1 : random.between(1, 3),
    batch: random.pick([1, 2, 5, 30, 300]),
    embedded,
    restart: random.chance(0.5),
  }
}

/** One run from its seed: SAFETY, with faults; HEAL; LIVENESS; CHECK. */
export const runSeed = async (seed: number, options: RunOptions = {}): Promise<Report> => {
  const shape = shapeOf(seed, options)
  const faults = options.plan ? plannedFaults(options.plan) : randomFaults(seed, swarm(seed))
  const scheduler = createScheduler({ seed, faults, start: EPOCH, ...(options.record ? { record: true } : {}) })
  const world = createWorld({ seed, scheduler, ...shape, ...(options.bug ? { bug: options.bug } : {}) })
  const clients = startClients(world, scheduler, shape.workload.clients)
  const mender = createMender(world, scheduler, shape.workload)
  const atTheDoor = startDoorman(world, scheduler, shape.workload)
  world.start()

  const settled = () => clients.done() && isCaughtUp(world)
  const first = await scheduler.run(() => settled() || scheduler.now() > EPOCH + SAFETY_MS, BUDGET)
  scheduler.calm()
  mender.mend()
  // A lost checkpoint shows when somebody starts from it.
  if (shape.restart || scheduler.struck.some(({ kind }) => kind === 'forget')) world.restart()
  const calmed = scheduler.now()
  const over = () => scheduler.now() > calmed + STUCK_MS
  const well = () => scheduler.loose() === 0 && settled() && mender.done()
  const end = await scheduler.run(() => over() || (scheduler.now() > calmed + CALM_MS && well()), BUDGET)

  const stuck: Violation[] = well() ? [] : [{ checker: 'C7', detail: stuckDetail(world, scheduler, `${first}, then ${end}`) }]
  const violations = [...stuck, ...atTheDoor, ...(await checkAll({ world, workload: shape.workload, history: clients.history, seed }))]
  const events = world.topic.partitions.reduce((sum, records) => sum + records.length, 0)
  return { seed, violations, faults: scheduler.struck, calls: scheduler.calls, events, hash: scheduler.hash(), lines: scheduler.lines }
}

const isCaughtUp = ({ topic, table }: World): boolean =>
  topic.partitions.every((records, partition) => (table.checkpoints.get(partition) ?? 0) >= records.length) &&
  ![...table.items.values()].some(({ PK }) => PK.startsWith('OUTBOX#'))

const stuckDetail = ({ topic, table, errors }: World, scheduler: Scheduler, how: string): string => {
  const lag = topic.partitions.map((records, partition) => `${table.checkpoints.get(partition) ?? 0} of ${records.length}`)
  const last = errors.at(-1)
  return `stuck (${how}) at ${scheduler.now() - EPOCH} ms: passed ${lag.join(', ')}; last failure: ${last instanceof Error ? (last.stack ?? last.message) : String(last)}`
}

const checkAll = async ({ world, workload, history, seed }: { world: World; workload: Workload; history: History; seed: number }): Promise<readonly Violation[]> => {
  const { topic, table, heard } = world
  const { domain, codec } = workload
  const expected = expectedOf({ domain, codec, topic })
  return [
    ...checkItems(table.items.values(), expected),
    ...checkAppends(topic, codec, history),
    ...checkPassed(topic, table, expected),
    ...checkOutcomes(heard, expected),
    ...checkDerived(topic, codec, expected),
    ...(seed % 5 === 0 ? await checkRebuilt(topic, workload, expected) : []),
  ]
}
