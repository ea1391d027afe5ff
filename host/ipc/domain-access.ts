import type { Clock } from '../../processors/engine/ports/clock.ts'
import type { Control } from '../../processors/engine/generations/control.ts'
import type { Log } from '../../processors/engine/ports/log.ts'
import type { LogAdmin } from '../../processors/engine/ports/log-admin.ts'
import type { BuildStorage } from '../../processors/engine/rebuild/rebuild.ts'
import type { Series } from '../../processors/engine/ports/series.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Scratch } from '../wiring/embedded.ts'
import { openRemoteAccess } from './remote-access.ts'
import { readConfig } from '../config/config.ts'
import type { CommandContext } from './command-context.ts'
import { requireFolder } from '../folder/folder.ts'
import type { ControlMethod } from './operations.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import { isServerRunning, withRuntime } from './call-operation.ts'
import { isEmbedded } from '../wiring/runtime.ts'
import type { Runtime } from '../wiring/runtime.ts'
import { sharedFold } from '../wiring/build-storage.ts'
import type { SharedWork } from '../wiring/build-storage.ts'

/** The parts of one domain with which `verify`, `rebuild`, `explain` and `cost` fold its log again, next to the processors. */
export interface DomainAccess {
  readonly domain: Domain
  readonly codec: Codec
  readonly clock: Clock
  readonly log: Pick<Log, 'read' | 'readKey' | 'partitionOf' | 'watermarks'>
  readonly admin: Pick<LogAdmin, 'isFollowed'>
  readonly control: Pick<Control, ControlMethod>
  /** The number of the serving generation. */
  readonly serving: number
  /** True if the store of the items removes expired items by itself. */
  readonly removesExpired: boolean
  store(generation: number): Promise<Pick<Store, 'scan' | 'load' | 'checkpoints' | 'reader'>>
  /** The points of a generation. Undefined if the domain has no series. */
  series(generation: number): Promise<Pick<Series, 'list' | 'retainedFrom'> | undefined>
  /** Opens a temporary local store. If `work` is given and large enough for several workers, these workers fold it into the store first. */
  scratch(work?: SharedWork): Promise<Scratch>
  storage(): Promise<BuildStorage>
  /** Makes sure that a processor follows every complete generation of the domain. Starts one here if no other process can follow them. */
  ensureFollowed(): Promise<void>
  /** True if this process has the data folder, so no other process serves. */
  readonly isExclusive: boolean
  /** The fold version of the running embedded server. No other process can follow a generation then. Undefined if no such server runs. */
  serverFoldVersion(): Promise<number | undefined>
  close(): Promise<void>
}

/** Calls `use` for one domain after the other. Default for `name`: all domains. */
export const forEachDomain = async (
  context: CommandContext,
  name: string | undefined,
  use: (access: DomainAccess) => Promise<void>,
): Promise<void> => {
  const config = readConfig(context.env, context.domains)
  const domains = name === undefined ? context.domains.all : [context.domains.named(name)]
  if (!isEmbedded(config) || !(await isServerRunning(config))) {
    if (isEmbedded(config)) requireFolder(config.data)
    return withRuntime(context, { canCreate: false }, async (runtime) => {
      for (const domain of domains) await use(await localAccess(runtime, runtime.pipeline(domain.name)))
    })
  }
  await context.recorder?.announce(config.data)
  context.lowerPriority?.()
  for (const domain of domains) {
    const access = await openRemoteAccess(config, domain)
    await use(access).finally(() => access.close())
  }
}

/** Access through the open log and stores of this process, without a server. */
const localAccess = async (
  { adapters, clock, config, folderLock }: Runtime,
  pipeline: Pipeline,
): Promise<DomainAccess> => {
  const { domain, codec, log, admin, control } = pipeline
  const isExclusive = folderLock !== undefined
  return {
    domain,
    codec,
    clock,
    log,
    admin,
    control,
    serving: (await control.serving(domain.name)).generation,
    removesExpired: adapters.stores.enableTtl !== undefined,
    store: async (generation) => (await pipeline.generation(generation)).store,
    series: async (generation) => (await pipeline.generation(generation)).series,
    scratch: (work) => adapters.scratch(domain, isExclusive ? sharedFold(config, domain, work) : undefined),
    storage: () => Promise.resolve(adapters.buildStorage(domain)),
    // On Kafka and DynamoDB, other processes follow the generations. In a data folder without a server, this process must follow them.
    ensureFollowed: () => (isExclusive ? pipeline.start('processor') : Promise.resolve()),
    isExclusive,
    serverFoldVersion: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  }
}
