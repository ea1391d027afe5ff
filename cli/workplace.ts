import type { Clock } from '../processors/engine/clock.ts'
import type { Control } from '../processors/engine/control.ts'
import type { Log } from '../processors/engine/log.ts'
import type { Workshop } from '../processors/engine/rebuild.ts'
import type { Series } from '../processors/engine/series.ts'
import type { Store } from '../processors/engine/store.ts'
import type { Domain } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Scratch } from './adapters.ts'
import { openBeside } from './beside.ts'
import { configOf } from './context.ts'
import type { Context } from './context.ts'
import { DOMAINS, domainNamed } from './domains.ts'
import { requireFolder } from './folder.ts'
import type { ControlVerb } from './operations/beside.ts'
import type { Pipeline } from '../processors/engine/pipeline.ts'
import { isHeld, withRuntime } from './reach.ts'
import { isEmbedded } from './runtime.ts'
import type { Runtime } from './runtime.ts'
import { sharedFold } from './workshops.ts'
import type { SharedWork } from './workshops.ts'

/** Where one domain's log is folded again, apart from those who serve: what `verify` and `rebuild` need. */
export interface Workplace {
  readonly domain: Domain
  readonly codec: Codec
  readonly clock: Clock
  readonly log: Pick<Log, 'read' | 'readKey' | 'partitionOf' | 'watermarks' | 'followed'>
  readonly control: Pick<Control, ControlVerb>
  /** The generation that answers now. */
  readonly serving: number
  /** Whether the items' store removes for good what has expired. */
  readonly collects: boolean
  store(generation: number): Promise<Pick<Store, 'scan' | 'load' | 'checkpoints' | 'reader'>>
  /** The points of a generation, where the domain has any. */
  series(generation: number): Promise<Pick<Series, 'list' | 'keepsFrom'> | undefined>
  /** A local store to fold into. Given work, it is done already as far as several workers can share it. */
  scratch(work?: SharedWork): Promise<Scratch>
  workshop(): Promise<Workshop>
  /** Makes sure that somebody follows the listed generations. */
  follow(): Promise<void>
  /** Nobody is served while this runs, and whoever starts next looks at what serves. */
  readonly alone: boolean
  /** The fold version of the running server, where one alone follows. */
  folds(): Promise<number | undefined>
  close(): Promise<void>
}

/** One domain after the other, all of them when none is named. */
export const inWorkplaces = async (context: Context, name: string | undefined, use: (workplace: Workplace) => Promise<void>): Promise<void> => {
  const config = configOf(context)
  const domains = name === undefined ? DOMAINS : [domainNamed(name)]
  if (!isEmbedded(config) || !(await isHeld(config))) {
    if (isEmbedded(config)) requireFolder(config.data)
    return withRuntime(context, { founds: false }, async (runtime) => {
      for (const domain of domains) await use(await workplaceIn(runtime, runtime.pipeline(domain.name)))
    })
  }
  await context.recorder?.announce(config.data)
  context.giveWay?.()
  for (const domain of domains) {
    const workplace = await openBeside(config, domain)
    await use(workplace).finally(() => workplace.close())
  }
}

const workplaceIn = async ({ adapters, clock, config, held }: Runtime, pipeline: Pipeline): Promise<Workplace> => {
  const { domain, codec, log, control } = pipeline
  return {
    domain, codec, clock, log, control,
    serving: (await control.serving(domain.name)).generation,
    collects: adapters.stores.enableTtl !== undefined,
    store: async (generation) => (await pipeline.generation(generation)).store,
    series: async (generation) => (await pipeline.generation(generation)).series,
    scratch: (work) => adapters.scratch(domain, held === undefined ? undefined : sharedFold(config.data, domain, work)),
    workshop: () => Promise.resolve(adapters.workshop(domain)),
    // On services other processes follow; a folder that nobody else holds is followed here.
    follow: () => (held === undefined ? Promise.resolve() : pipeline.start('processor')),
    alone: held !== undefined,
    folds: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  }
}
