import type { Clock } from '../../processors/engine/clock.ts'
import { startProcessor, type Running } from '../../processors/engine/processor.ts'
import type { Passed } from '../../processors/engine/tally.ts'
import { LEDGER_TABLE } from '../../processors/engine/control.ts'
import { createLedger } from '../../processors/engine/ledger.ts'
import { startSender } from '../../processors/engine/sender.ts'
import type { Log } from '../../processors/engine/log.ts'
import type { Store } from '../../processors/engine/store.ts'
import { createCoordinator, type Coordinator } from './group-model.ts'
import { createTopic, logFor, type Topic } from './log-model.ts'
import { createRandom, type Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'
import { createTable, storeFor, type Table } from './store-model.ts'
import type { Workload } from './workload.ts'

export interface WorldOptions {
  readonly seed: number
  readonly scheduler: Scheduler
  readonly workload: Workload
  readonly nodes: number
  readonly partitions: number
  /** Most records in a batch. */
  readonly batch: number
  readonly embedded: boolean
  /** Breaks something on purpose, to see that it is noticed. */
  readonly bug?: Bug
}

/** Wrappers around what a node is given. */
export interface Bug {
  readonly log?: (log: Log, context: BugContext) => Log
  readonly store?: (store: Store, context: BugContext) => Store
}

export interface BugContext {
  readonly table: Table
  readonly topic: Topic
  readonly random: Random
}

export interface World {
  readonly topic: Topic
  readonly table: Table
  readonly coordinator: Coordinator
  readonly random: Random
  /** What nodes told their callers, by process. */
  readonly heard: readonly Passed[]
  readonly errors: readonly unknown[]
  log(process: Process): Log
  store(process: Process): Store
  clock(process: Process): Clock
  /** Starts every node. */
  start(): void
  /** Kills every node; each comes up again by itself. */
  restart(): void
}

interface Node {
  readonly name: string
  readonly index: number
  life: number
  process: Process | undefined
}

const HEAL_MS = 1_500
const POLL_MS = 2_000

export const createWorld = (options: WorldOptions): World => {
  const { scheduler, workload, seed } = options
  const random = createRandom(seed ^ 0x2545f491)
  const topic = createTopic(workload.domain.topic, options.partitions)
  const table = createTable(workload.domain.table, options.embedded)
  const ledger = createTable(LEDGER_TABLE, options.embedded)
  const coordinator = createCoordinator({ scheduler, random, batch: options.batch })
  const context: BugContext = { table, topic, random }
  const past: ReadonlyMap<number, number>[] = []
  const heard: Passed[] = []
  const errors: unknown[] = []
  const nodes: Node[] = Array.from({ length: options.nodes }, (_, index) => ({ name: 'abcdef'.charAt(index), index, life: 0, process: undefined }))

  const log = (process: Process) => logFor({ scheduler, coordinator }, process, topic)
  const store = (process: Process) => storeFor({ scheduler, random }, process, table)
  const clock = (process: Process): Clock => ({
    now: () => scheduler.now(),
    sleep: (ms, signal) => new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      scheduler.later(ms, wake, process)
    }),
  })

  const failed = (error: unknown) => {
    errors.push(error)
    scheduler.note(`failed ${error instanceof Error ? error.message : String(error)}`)
  }
  const tend = async (process: Process, running: Running) => {
    while (process.state !== 'dead') {
      await clock(process).sleep(HEAL_MS)
      await running.heal().catch(failed)
    }
  }
  const launch = (node: Node) => {
    node.life += 1
    const process = scheduler.spawn(`${node.name}.${node.life}`, node.index * 1000 + node.life, true)
    node.process = process
    const mine = { log: options.bug?.log?.(log(process), context) ?? log(process), store: options.bug?.store?.(store(process), context) ?? store(process) }
    const { domain, codec } = workload
    const sender = workload.sends ? startSender({
      ...mine, domain: domain.name, receivers: {}, partitions: options.partitions, clock: clock(process), pollMs: POLL_MS, failed,
      ledger: createLedger({ store: storeFor({ scheduler, random }, process, ledger), clock: clock(process), holder: process.name }),
      sendingFrom: async () => ({ turns: [{ generation: 1, from: new Map(), parked: new Map() }], generations: [{ generation: 1, store: mine.store }] }),
    }) : undefined
    const told = (passed: Passed) => {
      heard.push(passed)
      sender?.wake()
    }
    startProcessor({ domain, generation: 1, ...mine, codec, clock: clock(process), heard: told, failed }).then(
      (running) => workload.mend && void tend(process, running),
      // A node that cannot start is started again by whoever watches over it.
      (error: unknown) => {
        failed(error)
        scheduler.crash(process)
      },
    )
  }

  scheduler.hooks.crashed = (process) => {
    coordinator.silent(process)
    const node = nodes.find((one) => one.process === process)
    if (node) scheduler.later(100 + random.next() * 3000, () => launch(node))
  }
  scheduler.hooks.paused = (process) => coordinator.silent(process)
  scheduler.hooks.disturb = (kind, process, amount) => {
    if (kind === 'rebalance') coordinator.rebalance(process)
    if (kind === 'rewind') coordinator.rewind(process, amount)
    if (kind === 'forget') forget(table, past, amount)
    past.push(new Map(table.checkpoints))
  }
  return {
    topic, table, coordinator, random, heard, errors, log, store, clock,
    start: () => nodes.forEach(launch),
    restart: () => nodes.forEach(({ process }) => process && scheduler.crash(process)),
  }
}

/** The checkpoints fall back to what they once were, or to nothing. */
const forget = (table: Table, past: readonly ReadonlyMap<number, number>[], amount: number) => {
  const then = past[Math.floor(amount * (past.length + 1)) - 1]
  for (const [partition, now] of [...table.checkpoints]) {
    const offset = then?.get(partition)
    if (offset === undefined) table.checkpoints.delete(partition)
    else table.checkpoints.set(partition, Math.min(now, offset))
  }
}
