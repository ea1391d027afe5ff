import type { Clock } from '../../processors/engine/clock.ts'
import { CONTROL_TABLE, createControl, LEDGER_TABLE, type Control } from '../../processors/engine/control.ts'
import type { Log, Logs } from '../../processors/engine/log.ts'
import { createMarks, type Marks } from '../../processors/engine/marks.ts'
import { openPipeline, type Paces } from '../../processors/engine/pipeline.ts'
import type { Series, SeriesStores } from '../../processors/engine/series.ts'
import { tableMissing } from '../../processors/engine/store-faults.ts'
import type { Store, Stores } from '../../processors/engine/store.ts'
import type { Passed } from '../../processors/engine/tally.ts'
import type { Domain } from '../../projections/projection.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { KeyStore } from '../../processors/engine/key-store.ts'
import type { Keyring } from '../../processors/engine/keyring.ts'
import type { Codec } from '../../schemas/codec.ts'
import { codecWith, createKeyTable, keyStoreFor, readingWith, ringOf } from './keys-model.ts'
import type { Bug, BugContext } from './bug.ts'
import { createCoordinator, type Coordinator } from './group-model.ts'
import { createTopic, logFor, type Topic } from './log-model.ts'
import { createRandom, type Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'
import { createSeriesTables, seriesFor, type SeriesTable, type SeriesTables } from './series-model.ts'
import { restore, storeFor, type Table } from './store-model.ts'
import { createTables, type Tables } from './tables.ts'
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

/** The ports as one process is given them. */
export interface Ports {
  readonly domain: Domain
  readonly clock: Clock
  readonly logs: Logs
  readonly log: Log
  readonly stores: Stores
  readonly series: SeriesStores
  readonly ledger: Store
  readonly control: Control
  readonly marks: Marks
  readonly keys: { readonly store: KeyStore; readonly ring: Keyring }
  readonly codec: Codec
}

export interface World {
  readonly topic: Topic
  readonly tables: Tables
  readonly series: SeriesTables
  /** The workload's own first. */
  readonly domains: readonly Domain[]
  readonly coordinator: Coordinator
  readonly random: Random
  /** What nodes told their callers of the domain's events. */
  heard(domain: Domain): readonly Passed[]
  readonly errors: readonly unknown[]
  /** Without any bug: the hands of the world are sound. */
  log(process: Process): Log
  store(process: Process, generation: number): Store
  clock(process: Process): Clock
  codec(process: Process): Codec
  /** Reads the log with the keys that are left. */
  reading(): Codec
  /** As nodes and operators are given them; of the workload's own domain unless another is named. */
  ports(process: Process, domain?: Domain): Ports
  /** A process that comes up again whenever it dies; `life` begins with 1. */
  keep(name: string, index: number, live: (process: Process) => Promise<void>): void
  /** Starts every node. */
  start(): void
  /** Kills every node; each comes up again by itself. */
  restart(): void
  failed(error: unknown): void
}

interface Kept {
  readonly name: string
  readonly index: number
  readonly live: (process: Process) => Promise<void>
  life: number
  process: Process | undefined
}

/** Slow enough that looking is not most of what happens. */
export const PACES: Paces = { senderMs: 6_000, timersMs: 5_000, refreshMs: 4_000, healMs: 5_000 }

export const createWorld = (options: WorldOptions): World => {
  const { scheduler, workload, seed, embedded } = options
  const random = createRandom(seed ^ 0x2545f491)
  const topic = createTopic(workload.domain.topic, options.partitions)
  const tables = createTables(embedded)
  const series = createSeriesTables(embedded)
  const domains = [workload.domain, ...(workload.beside ?? [])]
  const coordinator = createCoordinator({ scheduler, random, batch: options.batch })
  const keyTable = createKeyTable(embedded)
  const past = new Map<Domain, Backup[]>(domains.map((domain) => [domain, []]))
  const heard = new Map<string, Passed[]>(domains.map(({ name }) => [name, []]))
  const errors: unknown[] = []
  const kept: Kept[] = []

  const log = (process: Process) => logFor({ scheduler, coordinator }, process, topic)
  const opened = (process: Process, table: Table) => storeFor({ scheduler, random }, process, table)
  const clock = (process: Process): Clock => clockFor(scheduler, process)
  const sealedBy = ({ ring }: Ports['keys']): Codec => (workload.sealed ? codecWith(ring.sealing(workload.domain.name)) : workload.codec)
  // Embedded there is but one process, and one ring.
  const rings: Keyring[] = []
  const keysOf = (store: KeyStore): Ports['keys'] => {
    const ring = ringOf(store, () => scheduler.now())
    rings.push(ring)
    return { store, ring: embedded ? { ...ring, evict: (subject) => rings.forEach((one) => one.evict(subject)) } : ring }
  }
  const codec = (process: Process) => sealedBy(keysOf(keyStoreFor(scheduler, process, keyTable)))
  const failed = (error: unknown) => {
    errors.push(error)
    scheduler.note(`failed ${error instanceof Error ? error.message : String(error)}`)
  }

  const ports = (process: Process, domain = workload.domain): Ports => {
    const context = (table: Table): BugContext => ({ table, tables, topic, random, process })
    const { bug = {} } = options
    const broken = <T>(wrap: ((part: T, context: BugContext) => T) | undefined, part: T, table: Table): T => wrap?.(part, context(table)) ?? part
    const [ledgerTable, controlTable] = [tables.of(LEDGER_TABLE, 1), tables.of(CONTROL_TABLE, 1)]
    const mine = { log: broken(bug.log, log(process), ledgerTable), clock: broken(bug.clock, clock(process), ledgerTable) }
    const keys = keysOf(broken(bug.keys, keyStoreFor(scheduler, process, keyTable), ledgerTable))
    return {
      ...mine,
      keys,
      codec: sealedBy(keys),
      domain: broken(bug.domain, domain, ledgerTable),
      logs: { open: async () => mine.log, close: async () => undefined },
      stores: storesOf((spec, generation) => broken(bug.store, opened(process, tables.of(spec, generation)), tables.of(spec, generation)), tables),
      series: seriesOf(series, (table) => seriesFor(scheduler, process, table), bug.series),
      ledger: broken(bug.ledger, opened(process, ledgerTable), ledgerTable),
      control: broken(bug.control, createControl({ store: opened(process, controlTable), now: mine.clock.now }), controlTable),
      // Here healthy events are alone in the hands of many who die; care.test.ts has those that kill.
      marks: { ...createMarks(opened(process, controlTable)), tries: undefined },
    }
  }

  const launch = (one: Kept) => {
    one.life += 1
    const process = scheduler.spawn(`${one.name}.${one.life}`, one.index * 1000 + one.life, true)
    one.process = process
    // Who cannot start is started again by whoever watches over it.
    one.live(process).catch((error: unknown) => {
      failed(error)
      scheduler.crash(process)
    })
  }
  const keep: World['keep'] = (name, index, live) => {
    const one: Kept = { name, index, live, life: 0, process: undefined }
    kept.push(one)
    launch(one)
  }
  const node = async (process: Process) => {
    const watching = { passed: (domain: string, _generation: number, passed: Passed) => void heard.get(domain)?.push(passed), parked: () => undefined, failed: (_domain: string, error: unknown) => failed(error) }
    const opened = (domain: Domain) => openPipeline({ ...ports(process, domain), holder: process.name, watching, paces: PACES })
    const pipeline = await opened(workload.domain)
    await pipeline.start('processor')
    for (const domain of workload.beside ?? []) await (await opened(domain)).start('processor')
    if (!workload.sends) return
    await pipeline.start('sender')
    await pipeline.start('timers')
  }

  scheduler.hooks.crashed = (process) => {
    coordinator.silent(process)
    const one = kept.find((each) => each.process === process)
    if (one) scheduler.later(100 + random.next() * 3000, () => launch(one))
  }
  scheduler.hooks.paused = (process) => coordinator.silent(process)
  scheduler.hooks.disturb = (kind, process, amount) => {
    if (kind === 'rebalance') coordinator.rebalance(process)
    if (kind === 'rewind') coordinator.rewind(process, amount)
    for (const [{ table }, were] of past) {
      const first = tables.of(table, 1)
      if (kind === 'forget') forget(first, were, amount)
      if (kind === 'restore' && !embedded) restore(first, were[Math.floor(amount * (were.length + 1)) - 1] ?? { items: new Map(), checkpoints: new Map() })
      were.push({ items: new Map(first.items), checkpoints: new Map(first.checkpoints) })
    }
  }
  const names = 'abcdef'
  return {
    topic, tables, series, domains, coordinator, random, errors, log, clock, codec, ports, keep, failed,
    heard: ({ name }) => heard.get(name) ?? [],
    reading: () => (workload.sealed ? readingWith(keyTable, workload.domain.name) : workload.codec),
    store: (process, generation) => opened(process, tables.of(workload.domain.table, generation)),
    start: () => {
      for (let index = 0; index < options.nodes; index += 1) keep(names.charAt(index), index, node)
    },
    restart: () => {
      for (const { process } of kept) if (process) scheduler.crash(process)
    },
  }
}

const clockFor = (scheduler: Scheduler, process: Process): Clock => ({
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

const storesOf = (open: (spec: TableSpec, generation: number) => Store, tables: Tables): Stores => ({
  open: async (spec, generation) => {
    if (!tables.isThere(spec, generation)) throw tableMissing(`generation ${generation} of the simulated ${spec.name}`)
    return open(spec, generation)
  },
  create: async (spec, generation) => open(spec, generation),
  drop: async (spec, generation) => tables.drop(spec, generation),
  measure: async () => undefined,
  close: async () => undefined,
})

const seriesOf = (tables: SeriesTables, sound: (table: SeriesTable) => Series, broken: Bug['series'] = (series) => series): SeriesStores => ({
  open: (spec, generation) => {
    const table = tables.of(spec, generation)
    return broken(sound(table), { table, other: (number) => sound(tables.of(spec, number)) })
  },
  drop: async (spec, generation) => tables.drop(spec, generation),
  close: async () => undefined,
})

type Backup = Pick<Table, 'items' | 'checkpoints'>

/** The checkpoints fall back to what they once were, or to nothing. */
const forget = (table: Table, past: readonly Backup[], amount: number) => {
  const then = past[Math.floor(amount * (past.length + 1)) - 1]?.checkpoints
  for (const [partition, now] of [...table.checkpoints]) {
    const offset = then?.get(partition)
    if (offset === undefined) table.checkpoints.delete(partition)
    else table.checkpoints.set(partition, Math.min(now, offset))
  }
}

