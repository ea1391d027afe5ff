import { randomFaults, plannedFaults, swarm, type Fault, type Faults, type Rates } from './faults.ts'
import type { Domain } from '../projections/projection.ts'
import { isPart } from '../projections/subject.ts'
import type { Violation } from './checkers.ts'
import { pendingAsks } from './checkers-asks.ts'
import { startClients } from './clients.ts'
import { createBuildMachine } from './build-machine.ts'
import { startTokenProber } from './token-prober.ts'
import { startForgetter } from './forgetter.ts'
import { startSecretKeepers } from './secret-keepers.ts'
import { checkRun } from './check-run.ts'
import { createDeployer } from './deployer.ts'
import { startOperator, type Move } from './operator.ts'
import { createRandom } from './random.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { Table } from './store-model.ts'
import { EPOCH, type Workload } from './workload.ts'
import type { DomainSimulation } from './domain.ts'
import { errandsWorkload } from './workload-errands.ts'
import { toyWorkload } from './workload-toy.ts'
import type { Bug } from './bug.ts'
import { createWorld, type World } from './world.ts'

export type SimulatedDomains = Readonly<Record<string, DomainSimulation>>

export interface RunOptions {
  /** Exactly these faults strike. Default: random faults, chosen by the seed. */
  readonly plan?: readonly Fault[]
  /** Called at every port call. Returns the fault of the call, or undefined. Replaces the plan. */
  readonly faults?: Faults
  /** The seed chooses one of these domains or the toy domain of the simulation itself. Default: the toy domain. */
  readonly domains?: SimulatedDomains
  /** The name of the simulated domain. Default: the seed chooses it. */
  readonly domain?: string
  /** The probability per port call of each kind of fault. Default: the seed chooses the probabilities. */
  readonly rates?: Rates
  readonly moves?: readonly Move[]
  /** If true, the report contains readable lines that describe the steps. Default: false. */
  readonly record?: boolean
  readonly bug?: Bug
}

export interface Report {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** The faults that struck, in order. The same seed with these faults as its plan gives the same run. */
  readonly faults: readonly Fault[]
  /** The names of the port calls of all processes that faults can kill. Each such call can be struck by a fault. */
  readonly calls: readonly string[]
  readonly events: number
  /** The hash of all steps. Two runs with the same steps have the same hash. */
  readonly hash: number
  readonly lines: readonly string[]
}

/** The parts of a run that its seed chooses at random. */
interface RunShape {
  readonly workload: Workload
  readonly nodes: number
  readonly partitions: number
  readonly batch: number
  readonly embedded: boolean
  readonly restart: boolean
  /** The operations on the generations during the run. */
  readonly moves: readonly Move[]
  /** The domain whose generations these operations rebuild and flip. */
  readonly domain: Domain
}

/** The seed chooses one of these lists of operations. Half of the lists are empty: these runs test only processors, without rebuilds and flips. */
const MOVES: readonly (readonly Move[])[] = [
  [],
  [],
  [],
  [],
  [],
  ['rebuild'],
  ['rebuild', 'flip'],
  ['rebuild', 'flip', 'back'],
  ['rebuild', 'flip', 'back', 'flip'],
  ['rebuild', 'flip', 'rebuild', 'flip'],
]

/** The minimum time of the phase without faults, in milliseconds. In this time the running processes find their remaining work. */
const CALM_MS = 500
/** The maximum time of the phase with faults, in milliseconds. A longer phase shows nothing new if a node dies again and again. */
const SAFETY_MS = 30_000
const STUCK_MS = 600_000
const BUDGET = 60_000

/** Domains without any other purpose: one with every feature of the engine except asks, and one with asks. */
const TOY: SimulatedDomains = { toy: { workload: toyWorkload }, errands: { workload: errandsWorkload } }

const withRules = (workload: Workload, bug: Bug | undefined): Workload =>
  bug?.rules === undefined
    ? workload
    : { ...workload, domain: bug.rules(workload.domain), sameLogDomains: workload.sameLogDomains?.map(bug.rules) ?? [] }

const shapeOf = (seed: number, options: RunOptions): RunShape => {
  const random = createRandom(seed)
  const domains = { ...TOY, ...options.domains }
  const name = options.domain ?? random.pick(Object.keys(domains))
  const simulated = domains[name]
  if (simulated === undefined) throw new Error(`There is no simulation of the domain ${name}.`)
  const length = random.pick([6, 12, 20, 40])
  const embedded = random.chance(0.25)
  const workload = withRules(simulated.workload(random, length), options.bug)
  return {
    workload,
    nodes: embedded ? 1 : random.between(1, 3),
    partitions: embedded ? 1 : random.between(1, 3),
    batch: random.pick([1, 2, 5, 30, 300]),
    embedded,
    restart: random.chance(0.5),
    moves: options.moves ?? random.pick(MOVES),
    domain: random.pick([workload.domain, ...(workload.sameLogDomains ?? [])]),
  }
}

/** Runs one seed in four phases: with faults, repair (no more faults), liveness (waits until all work has ended), checks. */
export const runSeed = async (seed: number, options: RunOptions = {}): Promise<Report> => {
  const shape = shapeOf(seed, options)
  const faults =
    options.faults ?? (options.plan ? plannedFaults(options.plan) : randomFaults(seed, options.rates ?? swarm(seed)))
  const scheduler = createScheduler({ seed, faults, start: EPOCH, ...(options.record ? { record: true } : {}) })
  const world = createWorld({ seed, scheduler, ...shape, ...(options.bug ? { bug: options.bug } : {}) })
  const clients = startClients(world, scheduler, shape.workload.clients)
  const deployer = createDeployer(world, scheduler, shape.workload)
  const tokenViolations = startTokenProber(world, scheduler, shape.workload)
  world.start()
  const buildMachine = createBuildMachine(world, { scheduler, ...shape })
  const operator = startOperator(world, { buildMachine, ...shape })
  const forgetter = startForgetter(world, { buildMachine, subjects: shape.workload.subjectsToForget ?? [] })
  const keepers = startSecretKeepers(world, {
    seed,
    people: (shape.workload.subjectsToForget ?? []).filter((subject) => !isPart(subject)),
  })

  const isSettled = () =>
    clients.done() && operator.done() && forgetter.done() && keepers.done() && isCaughtUp(world, scheduler.now())
  const first = await scheduler.run(() => isSettled() || scheduler.now() > EPOCH + SAFETY_MS, BUDGET)
  scheduler.calm()
  deployer.deployAll()
  // The nodes start again after the fault `forget`, because a node reads the stored checkpoints only when it gets a partition.
  const hasRestarted = shape.restart || scheduler.struck.some(({ kind }) => kind === 'forget')
  if (hasRestarted) world.restart()
  const calmAt = scheduler.now()
  const isOver = () => scheduler.now() > calmAt + STUCK_MS
  const isWell = () => scheduler.loose() === 0 && isSettled() && deployer.done()
  const end = await scheduler.run(() => isOver() || (scheduler.now() > calmAt + CALM_MS && isWell()), BUDGET)

  const stuck: Violation[] = isWell()
    ? []
    : [{ checker: 'C7', detail: stuckDetail(world, scheduler, `${first}, then ${end}`) }]
  const violations = [
    ...stuck,
    ...tokenViolations,
    ...keepers.check(forgetter.forgotten),
    ...(await checkRun({
      world,
      workload: shape.workload,
      history: clients.history,
      seed,
      faults: scheduler.struck,
      buildMachine,
      forgotten: forgetter.forgotten,
      rules: options.bug?.rules,
      hasRestarted,
    })),
  ]
  const events = world.topic.partitions.reduce((sum, records) => sum + records.length, 0)
  return {
    seed,
    violations,
    faults: scheduler.struck,
    calls: scheduler.calls,
    events,
    hash: scheduler.hash(),
    lines: scheduler.lines,
  }
}

/** Returns true if every following generation has folded the whole log, every outbox is empty, and no timer and no ask is due. */
const isCaughtUp = (world: World, now: number): boolean =>
  world.domains.every((domain) => hasCaughtUp(world, domain, now))

const hasCaughtUp = ({ topic, tables, outside }: World, domain: Domain, now: number): boolean => {
  const following = tables.following(domain)
  if (following.length === 0 || pendingAsks(tables, domain, { kinds: outside.kinds, now }).length > 0) return false
  const hasPassed = ({ table }: { table: Table }) =>
    topic.partitions.every((records, partition) => (table.checkpoints.get(partition) ?? 0) >= records.length)
  return (
    following.every(hasPassed) &&
    !following.some(({ table }) => hasPendingWork(table, tables.serving(domain).table === table ? now : 0))
  )
}

const hasPendingWork = ({ items }: Table, now: number): boolean => {
  const due = new Date(now).toISOString()
  // The row of a timer whose event is parked is removed only when the key is healed. So this row is not pending work.
  const isParked = (key: unknown) =>
    [...items.values()].some((item) => item.PK.startsWith('PARKED#') && item['key'] === key)
  for (const { PK, SK, key } of items.values())
    if (PK.startsWith('OUTBOX#') || (PK.startsWith('TIMER#') && SK < due && !isParked(key))) return true
  return false
}

const stuckDetail = (
  { topic, tables, errors, domains, outside }: World,
  scheduler: Scheduler,
  endings: string,
): string => {
  const lag = domains
    .flatMap((domain) => tables.following(domain).map((following) => ({ ...following, domain })))
    .map(
      ({ domain, generation, table }) =>
        `${domain.name} generation ${generation} ${topic.partitions.map((records, partition) => `${table.checkpoints.get(partition) ?? 0} of ${records.length}`).join(', ')}${hasPendingWork(table, scheduler.now()) ? ' (outbox or timers pending)' : ''}`,
    )
  const pending = domains.flatMap((domain) =>
    pendingAsks(tables, domain, { kinds: outside.kinds, now: scheduler.now() }),
  )
  const asks = pending.map(({ PK, SK, id }) => `; pending ask ${PK} ${SK} (${String(id)})`).join('')
  const last = errors.at(-1)
  return `stuck (${endings}) at ${scheduler.now() - EPOCH} ms: ${lag.join('; ')}${asks}; last failure: ${last instanceof Error ? (last.stack ?? last.message) : String(last)}`
}
