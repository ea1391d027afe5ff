import { randomFaults, plannedFaults, swarm, type Fault, type Faults, type Rates } from './faults.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Violation } from './checkers.ts'
import { startClients } from './clients.ts'
import { createDesk } from './desk.ts'
import { startDoorman } from './doorman.ts'
import { startForgetter } from './forgetter.ts'
import { checkAll } from './judge.ts'
import { createMender } from './mender.ts'
import { startOperator, type Move } from './operator.ts'
import { createRandom } from './random.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { Table } from './store-model.ts'
import { EPOCH, type Workload } from './workload.ts'
import { expensesWorkload } from './workload-expenses.ts'
import { mealsWorkload } from './workload-meals.ts'
import { scalesWorkload } from './workload-scales.ts'
import { toyWorkload } from './workload-toy.ts'
import type { Bug } from './bug.ts'
import { createWorld, type World } from './world.ts'

export interface RunOptions {
  /** Exactly these faults instead of those that the seed draws. */
  readonly plan?: readonly Fault[]
  /** Asked at every call, instead of a plan. */
  readonly faults?: Faults
  readonly domain?: keyof typeof WORKLOADS
  /** How often each kind of fault strikes, instead of what the seed draws. */
  readonly rates?: Rates
  readonly moves?: readonly Move[]
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
  /** What is done to the generations meanwhile. */
  readonly moves: readonly Move[]
  /** To whose generations. */
  readonly moving: Domain
}

/** Most runs are without: what they are about is elsewhere. */
const MOVES: readonly (readonly Move[])[] = [
  [], [], [], [], [], ['rebuild'], ['rebuild', 'flip'], ['rebuild', 'flip', 'back'], ['rebuild', 'flip', 'back', 'flip'], ['rebuild', 'flip', 'rebuild', 'flip'],
]

/** Long enough for whoever is awake to notice what is left to do. */
const CALM_MS = 500
/** Faults do not go on for ever: a node that is killed at every turn gets nowhere, and teaches nothing more. */
const SAFETY_MS = 30_000
const STUCK_MS = 600_000
const BUDGET = 60_000

const WORKLOADS = { meals: mealsWorkload, toy: toyWorkload, scales: scalesWorkload, expenses: expensesWorkload }

const withRules = (workload: Workload, bug: Bug | undefined): Workload => (bug?.rules === undefined ? workload : { ...workload, domain: bug.rules(workload.domain), beside: workload.beside?.map(bug.rules) ?? [] })

const shapeOf = (seed: number, options: RunOptions): Shape => {
  const random = createRandom(seed)
  const domain = options.domain ?? random.pick(['meals', 'toy', 'scales', 'expenses'] as const)
  const length = random.pick([6, 12, 20, 40])
  const embedded = random.chance(0.25)
  const workload = withRules(WORKLOADS[domain](random, length), options.bug)
  return {
    workload,
    nodes: embedded ? 1 : random.between(1, 3),
    partitions: embedded ? 1 : random.between(1, 3),
    batch: random.pick([1, 2, 5, 30, 300]),
    embedded,
    restart: random.chance(0.5),
    moves: options.moves ?? random.pick(MOVES),
    moving: random.pick([workload.domain, ...(workload.beside ?? [])]),
  }
}

/** One run from its seed: SAFETY, with faults; HEAL; LIVENESS; CHECK. */
export const runSeed = async (seed: number, options: RunOptions = {}): Promise<Report> => {
  const shape = shapeOf(seed, options)
  const faults = options.faults ?? (options.plan ? plannedFaults(options.plan) : randomFaults(seed, options.rates ?? swarm(seed)))
  const scheduler = createScheduler({ seed, faults, start: EPOCH, ...(options.record ? { record: true } : {}) })
  const world = createWorld({ seed, scheduler, ...shape, ...(options.bug ? { bug: options.bug } : {}) })
  const clients = startClients(world, scheduler, shape.workload.clients)
  const mender = createMender(world, scheduler, shape.workload)
  const atTheDoor = startDoorman(world, scheduler, shape.workload)
  world.start()
  const desk = createDesk(world, { scheduler, ...shape })
  const operator = startOperator(world, { desk, ...shape })
  const forgetter = startForgetter(world, { desk, subjects: shape.workload.forgets ?? [] })

  const settled = () => clients.done() && operator.done() && forgetter.done() && isCaughtUp(world, scheduler.now())
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
  const violations = [...stuck, ...atTheDoor, ...(await checkAll({ world, workload: shape.workload, history: clients.history, seed, faults: scheduler.struck, desk, forgotten: forgetter.forgotten, rules: options.bug?.rules }))]
  const events = world.topic.partitions.reduce((sum, records) => sum + records.length, 0)
  return { seed, violations, faults: scheduler.struck, calls: scheduler.calls, events, hash: scheduler.hash(), lines: scheduler.lines }
}

/** Every generation that follows has passed all there is, nothing waits to be sent, and no timer is due. */
const isCaughtUp = (world: World, now: number): boolean => world.domains.every((domain) => hasCaughtUp(world, domain, now))

const hasCaughtUp = ({ topic, tables }: World, domain: Domain, now: number): boolean => {
  const following = tables.following(domain)
  if (following.length === 0) return false
  const hasPassed = ({ table }: { table: Table }) => topic.partitions.every((records, partition) => (table.checkpoints.get(partition) ?? 0) >= records.length)
  return following.every(hasPassed) && !following.some(({ table }) => waits(table, tables.serving(domain).table === table ? now : 0))
}

const waits = ({ items }: Table, now: number): boolean => {
  const due = new Date(now).toISOString()
  // A timer of a key that stands still has fired, and waits to be folded with the rest.
  const stands = (key: unknown) => [...items.values()].some((item) => item.PK.startsWith('PARKED#') && item['key'] === key)
  for (const { PK, SK, key } of items.values()) if (PK.startsWith('OUTBOX#') || (PK.startsWith('TIMER#') && SK < due && !stands(key))) return true
  return false
}

const stuckDetail = ({ topic, tables, errors, domains }: World, scheduler: Scheduler, how: string): string => {
  const lag = domains.flatMap((domain) => tables.following(domain).map((one) => ({ ...one, domain }))).map(({ domain, generation, table }) => `${domain.name} generation ${generation} ${topic.partitions.map((records, partition) => `${table.checkpoints.get(partition) ?? 0} of ${records.length}`).join(', ')}${waits(table, scheduler.now()) ? ' (something waits)' : ''}`)
  const last = errors.at(-1)
  return `stuck (${how}) at ${scheduler.now() - EPOCH} ms: ${lag.join('; ')}; last failure: ${last instanceof Error ? (last.stack ?? last.message) : String(last)}`
}
