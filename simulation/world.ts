import { openPipeline } from '../processors/engine/run/pipeline.ts'
import type { BatchResult } from '../processors/engine/run/tally.ts'
import type { Store } from '../processors/engine/ports/store.ts'
import type { Domain } from '../projections/projection.ts'
import type { Bug } from './bug.ts'
import { createDisturbances } from './disturbances.ts'
import { createCoordinator, type Coordinator } from './group-model.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'
import { createTopic, type Topic } from './log-model.ts'
import { createOutside, type OutsideService } from './outside-model.ts'
import type { Process } from './process.ts'
import { createRandom, type Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { createSeriesTables, type SeriesTables } from './series-model.ts'
import { createTables, type Tables } from './tables.ts'
import type { Workload } from './workload.ts'
import { createPorts, type WorldPorts } from './world-ports.ts'
import type { Paces } from '../processors/engine/run/pipeline-parts.ts'

export interface WorldOptions {
  readonly seed: number
  readonly scheduler: Scheduler
  readonly workload: Workload
  readonly nodes: number
  readonly partitions: number
  /** Maximum number of records per batch. */
  readonly batch: number
  readonly embedded: boolean
  /** A planted bug that the checkers must detect. */
  readonly bug?: Bug
}

export interface World extends Pick<WorldPorts, 'log' | 'clock' | 'codec' | 'reading' | 'keyTable' | 'ports'> {
  readonly topic: Topic
  readonly tables: Tables
  readonly series: SeriesTables
  /** The domain of the workload, followed by the other domains of its log. */
  readonly domains: readonly Domain[]
  readonly coordinator: Coordinator
  readonly random: Random
  /** The outside service that the nodes call for asks. */
  readonly outside: OutsideService
  /** The outcomes that nodes reported for the domain, batch by batch. */
  reportedOutcomes(domain: Domain): readonly BatchResult[]
  readonly errors: readonly unknown[]
  /** The store of a generation of the workload's own domain, without any bug. */
  store(process: Process, generation: number): Store
  /** Starts a process, and starts it again after each death. */
  readonly supervise: Supervisor['supervise']
  /** Starts every node. */
  start(): void
  /** Kills every node. Each starts again by itself. */
  restart(): void
  failed(error: unknown): void
}

/** Long intervals, so that polling is a small part of a run. */
export const PACES: Paces = { senderMs: 6_000, timersMs: 5_000, fetcherMs: 3_000, refreshMs: 4_000, healMs: 5_000 }

export const createWorld = (options: WorldOptions): World => {
  const { scheduler, workload, seed, embedded, bug = {} } = options
  const random = createRandom(seed ^ 0x2545f491)
  const topic = createTopic(workload.domain.topic, options.partitions)
  const tables = createTables(embedded)
  const series = createSeriesTables(embedded)
  const domains = [workload.domain, ...(workload.sameLogDomains ?? [])]
  const coordinator = createCoordinator({ scheduler, random, batch: options.batch })
  const { store, ...ports } = createPorts({
    scheduler,
    random,
    workload,
    embedded,
    bug,
    topic,
    tables,
    series,
    coordinator,
  })
  const outside = createOutside({ scheduler, random, tables, domain: workload.domain, answers: workload.answers ?? {} })
  const outcomes = new Map<string, BatchResult[]>(domains.map(({ name }) => [name, []]))
  const errors: unknown[] = []
  const failed = (error: unknown) => {
    errors.push(error)
    scheduler.note(`failed ${error instanceof Error ? error.message : String(error)}`)
  }
  const { supervise, restart, crashAll } = createSupervisor({ scheduler, random, failed })

  const node = async (process: Process) => {
    const observer = {
      batchFolded: (domain: string, _generation: number, result: BatchResult) =>
        void outcomes.get(domain)?.push(result),
      parked: () => undefined,
      failed: (_domain: string, error: unknown) => failed(error),
    }
    const opened = (domain: Domain) =>
      openPipeline({ ...ports.ports(process, domain), processName: process.name, observer, paces: PACES })
    const pipeline = await opened(workload.domain)
    await pipeline.start('processor')
    for (const domain of workload.sameLogDomains ?? []) await (await opened(domain)).start('processor')
    if (workload.answers) pipeline.startFetcher(outside.handlers(process, ports.clock(process)))
    if (!workload.hasOutgoingEvents) return
    await pipeline.start('sender')
    await pipeline.start('timers')
  }

  scheduler.hooks.crashed = (process) => {
    coordinator.silent(process)
    restart(process)
  }
  scheduler.hooks.paused = (process) => coordinator.silent(process)
  scheduler.hooks.disturb = createDisturbances({ coordinator, tables, domains, embedded, stopAll: crashAll })
  return {
    ...ports,
    topic,
    tables,
    series,
    domains,
    coordinator,
    random,
    outside,
    errors,
    supervise,
    failed,
    reportedOutcomes: ({ name }) => outcomes.get(name) ?? [],
    store: (process, generation) => store(process, tables.of(workload.domain.table, generation)),
    start: () => {
      for (let index = 0; index < options.nodes; index += 1) supervise(NODES.charAt(index), index, node)
    },
    restart: crashAll,
  }
}

/** The names of the nodes. */
const NODES = 'abcdef'
