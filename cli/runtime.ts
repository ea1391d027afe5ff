import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../processors/engine/clock.ts'
import { createControl } from '../processors/engine/control.ts'
import { notStarted, openKept } from '../processors/engine/kept.ts'
import type { Domain } from '../projections/projection.ts'
import { openCodec } from '../schemas/codec.ts'
import { openAdapters } from './adapters.ts'
import type { Adapters } from './adapters.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { createCommandRecords, type CommandRecords } from './command-record.ts'
import type { Config } from './config.ts'
import { DOMAINS, unknownDomain } from './domains.ts'
import { holdFolder } from './folder.ts'
import type { Held } from './folder.ts'
import { createMetrics } from './metrics.ts'
import type { Metrics } from './metrics.ts'
import { openKeys, type Keys } from './sealing.ts'
import { createMarks } from '../processors/engine/marks.ts'
import { openPipeline } from '../processors/engine/pipeline.ts'
import type { Pipeline, Watching } from '../processors/engine/pipeline.ts'

/** Everything that a process has open: the composition root's result. */
export interface Runtime {
  readonly config: Config
  readonly clock: Clock
  readonly adapters: Adapters
  readonly keys: Keys
  readonly pipelines: ReadonlyMap<string, Pipeline>
  readonly metrics: Metrics
  /** Commands that ran in processes of their own, for a server to log. */
  readonly records: CommandRecords
  /** The data folder's lock and socket, where something is embedded and this process holds it. */
  readonly held: Held | undefined
  /** Where this process listens, once it does. */
  readonly where: { http?: string; admin?: string; mqtt?: string }
  pipeline(domain: string): Pipeline
  /** Finishes what is under way, then closes in an order that loses nothing. Concurrent calls share one promise. */
  close(): Promise<void>
}

export interface RuntimeOptions {
  readonly config: Config
  readonly watching?: Partial<Watching>
  readonly domains?: readonly Domain[]
  /** Receives a line for each change to the data folder: narrower permissions, a newer format. */
  readonly note?: (line: string) => void
  /** Creates tables, topics and first generations of domains that are not listed yet. Otherwise those domains are left out. Default: true. */
  readonly founds?: boolean
  /** The roles that this process runs, for its metrics. */
  readonly roles?: readonly string[]
}

/** How often to look for what other processes did, where there may be any. */
const POLL_MS = 10

export const isEmbedded = ({ kafka, dynamodb }: Config): boolean => kafka === undefined || dynamodb === undefined

export const openRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  const { config } = options
  const held = isEmbedded(config) ? await holdFolder(config.data, options.note) : undefined
  try {
    return await openHeld(options, held)
  } catch (error) {
    await held?.release()
    throw error
  }
}

const openHeld = async ({ config, watching, domains = DOMAINS, founds = true, roles = [] }: RuntimeOptions, held: Held | undefined): Promise<Runtime> => {
  const clock = systemClock
  const metrics = createMetrics(clock.now, { log: config.kafka === undefined ? 'embedded' : 'kafka', items: config.dynamodb === undefined ? 'embedded' : 'dynamodb', roles: roles.join(',') })
  const adapters = await openAdapters(config)
  const pipelines = new Map<string, Pipeline>()
  let keys: Keys | undefined
  let records: CommandRecords
  const closeAll = async (): Promise<void> => {
    await Promise.all([...pipelines.values()].map((pipeline) => pipeline.stop()))
    await keys?.store.close()
    await adapters.close()
    await held?.release()
  }
  try {
    const { control: kept, ledger } = await openKept(adapters.stores, { domains, founds })
    records = createCommandRecords(kept)
    const [control, marks] = [createControl({ store: kept, now: clock.now }), createMarks(kept)]
    keys = await openKeys({ adapters, control: kept, domains, founds })
    const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
    const alone = config.kafka === undefined
    for (const domain of domains) {
      if (!founds && !(await control.isListed(domain.name))) continue
      const codec = openCodec({ sealing: keys.ring.sealing(domain.name) })
      const parts = { domain, logs: adapters.logs, stores: adapters.stores, series: adapters.series, control, marks, ledger, holder, codec, clock, watching: bothWatching(metrics, watching), readOnly: !founds }
      pipelines.set(domain.name, await openPipeline(alone ? parts : { ...parts, pollMs: POLL_MS }))
    }
    if (pipelines.size === 0) throw notStarted()
  } catch (error) {
    await closeAll().catch(() => undefined)
    throw error
  }
  let closing: Promise<void> | undefined
  return {
    config, clock, adapters, keys, pipelines, metrics, records, held,
    where: {},
    pipeline: (domain) => known(pipelines, domains, domain),
    close: () => (closing ??= closeAll()),
  }
}

const known = (pipelines: ReadonlyMap<string, Pipeline>, domains: readonly Domain[], name: string): Pipeline => {
  const pipeline = pipelines.get(name)
  if (pipeline !== undefined) return pipeline
  throw domains.some((domain) => domain.name === name) ? notStarted(name) : unknownDomain(name, [...pipelines.keys()])
}

const bothWatching = ({ watching: counted }: Metrics, told: Partial<Watching> = {}): Watching => ({
  passed(domain, generation, passed) {
    counted.passed(domain, generation, passed)
    told.passed?.(domain, generation, passed)
  },
  parked: (domain, parked) => told.parked?.(domain, parked),
  failed(domain, error) {
    counted.failed(domain, error)
    told.failed?.(domain, error)
  },
})
