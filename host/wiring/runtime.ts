import type { Clock } from '../../processors/engine/ports/clock.ts'
import { createControl } from '../../processors/engine/generations/control.ts'
import { notStarted, openDurableTables } from '../../processors/engine/generations/durable-tables.ts'
import type { Domain } from '../../projections/projection.ts'
import { openCodec } from '../../schemas/codec.ts'
import { openAdapters } from './adapters.ts'
import type { Adapters } from './adapters.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { createCommandRecords, type CommandRecords } from '../ipc/command-record.ts'
import { createProcessName } from './process-name.ts'
import type { Config } from '../config/config.ts'
import type { Outside } from '../../domains/record.ts'
import { unknownDomain } from '../../domains/domains.ts'
import { lockFolder } from '../folder/folder.ts'
import type { FolderLock } from '../folder/folder.ts'
import { createMetrics } from '../serving/metrics.ts'
import type { Metrics } from '../serving/metrics.ts'
import { createOutside } from './outside.ts'
import { openKeys, type Keys } from './sealing.ts'
import { createSessions, type StoredSessions } from './sessions.ts'
import { createVerdicts } from '../../processors/engine/poison/verdicts.ts'
import { openPipeline } from '../../processors/engine/run/pipeline.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import type { PipelineObserver } from '../../processors/engine/run/pipeline-parts.ts'

/** Everything that a process has open. `openRuntime` is the composition root. */
export interface Runtime {
  readonly config: Config
  readonly clock: Clock
  readonly processName: string
  readonly adapters: Adapters
  readonly keys: Keys
  readonly sessions: StoredSessions
  readonly pipelines: ReadonlyMap<string, Pipeline>
  readonly metrics: Metrics
  /** The store of the ledger. */
  readonly ledger: Store
  /** The functions that edges and handlers of asks get. */
  readonly outside: Omit<Outside, 'failed'>
  /** Records of the commands of operators that ran in other processes. A server takes these records and logs them. */
  readonly records: CommandRecords
  /** The lock and the socket of the data folder. Undefined if the log and the items are services. */
  readonly folderLock: FolderLock | undefined
  /** The addresses on which this process listens. Empty until the process listens. */
  readonly where: { http?: string; admin?: string; mqtt?: string }
  pipeline(domain: string): Pipeline
  /** Finishes the running work, then closes everything in an order that loses nothing. Concurrent calls share one promise. */
  close(): Promise<void>
}

export interface RuntimeOptions {
  readonly config: Config
  readonly observer?: Partial<PipelineObserver>
  /** Receives a line for each change to the data folder: narrower permissions, a newer format. */
  readonly note?: (line: string) => void
  /**
   * True: creates the tables, topics and first generations of domains that the control table does not list yet. False: leaves these domains out.
   * Default: true.
   */
  readonly canCreate?: boolean
  /** The roles that this process runs, for its metrics. */
  readonly roles?: readonly string[]
}

/** The pause between two reads of the checkpoints of other processes, in milliseconds. Only with Kafka: otherwise there is no other process. */
const POLL_MS = 10

export const isEmbedded = ({ kafka, dynamodb }: Config): boolean => kafka === undefined || dynamodb === undefined

export const openRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  const { config } = options
  const folderLock = isEmbedded(config) ? await lockFolder(config.data, options.note) : undefined
  try {
    return await openLocked(options, folderLock)
  } catch (error) {
    await folderLock?.release()
    throw error
  }
}

const openLocked = async (
  { config, observer, canCreate = true, roles = [] }: RuntimeOptions,
  folderLock: FolderLock | undefined,
): Promise<Runtime> => {
  const { all: domains } = config.domains
  const clock = systemClock
  const metrics = createMetrics(clock.now, {
    log: config.kafka === undefined ? 'embedded' : 'kafka',
    items: config.dynamodb === undefined ? 'embedded' : 'dynamodb',
    roles: roles.join(','),
  })
  const adapters = await openAdapters(config)
  const pipelines = new Map<string, Pipeline>()
  let keys: Keys | undefined
  let records: CommandRecords
  let ledger: Store
  const processName = createProcessName()
  const closeAll = async (): Promise<void> => {
    await Promise.all([...pipelines.values()].map((pipeline) => pipeline.stop()))
    await keys?.store.close()
    await adapters.close()
    await folderLock?.release()
  }
  try {
    const tables = await openDurableTables(adapters.stores, { domains, canCreate })
    const { control: controlStore } = tables
    ledger = tables.ledger
    records = createCommandRecords(controlStore)
    const [control, verdicts] = [createControl({ store: controlStore, now: clock.now }), createVerdicts(controlStore)]
    keys = await openKeys({ adapters, control: controlStore, domains, canCreate })
    const isOnlyProcess = config.kafka === undefined
    for (const domain of domains) {
      if (!canCreate && !(await control.isListed(domain.name))) continue
      const codec = openCodec({ sealing: keys.ring.sealing(domain.name), folder: domain.schemas })
      const parts = {
        domain,
        logs: adapters.logs,
        stores: adapters.stores,
        series: adapters.series,
        control,
        verdicts,
        ledger,
        processName,
        codec,
        clock,
        observer: observers(metrics, observer),
        readOnly: !canCreate,
      }
      pipelines.set(domain.name, await openPipeline(isOnlyProcess ? parts : { ...parts, pollMs: POLL_MS }))
    }
    if (pipelines.size === 0) throw notStarted()
  } catch (error) {
    await closeAll().catch(() => undefined)
    throw error
  }
  const sessions = createSessions({ stores: adapters.stores, clock })
  let closing: Promise<void> | undefined
  return {
    config,
    clock,
    processName,
    adapters,
    keys,
    sessions,
    pipelines,
    metrics,
    ledger,
    outside: createOutside({ config, keys, ledger, clock, processName, sessions }),
    records,
    folderLock,
    where: {},
    pipeline: (domain) => pipelineNamed(pipelines, domains, domain),
    close: () => (closing ??= closeAll()),
  }
}

const pipelineNamed = (
  pipelines: ReadonlyMap<string, Pipeline>,
  domains: readonly Domain[],
  name: string,
): Pipeline => {
  const pipeline = pipelines.get(name)
  if (pipeline !== undefined) return pipeline
  throw domains.some((domain) => domain.name === name) ? notStarted(name) : unknownDomain(name, [...pipelines.keys()])
}

const observers = ({ observer: counted }: Metrics, further: Partial<PipelineObserver> = {}): PipelineObserver => ({
  batchFolded(domain, generation, passed) {
    counted.batchFolded(domain, generation, passed)
    further.batchFolded?.(domain, generation, passed)
  },
  parked: (domain, parked) => further.parked?.(domain, parked),
  failed(domain, error) {
    counted.failed(domain, error)
    further.failed?.(domain, error)
  },
  askCalled: (domain, call) => counted.askCalled?.(domain, call),
})
