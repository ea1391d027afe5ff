import { dropGeneration } from '../../../processors/engine/generations/drop.ts'
import type { Generation } from '../../../processors/engine/generations/generation.ts'
import { checkpointsUnlessLost } from '../../../processors/engine/generations/lost.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { endsOf, missingTo, totalOf } from '../../../processors/engine/generations/positions.ts'
import type { Handler } from '../operations.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import { openUndamaged } from '../../../processors/engine/run/open-generations.ts'

export interface GenerationRow {
  readonly domain: string
  readonly generation: number
  readonly table: string
  /**
   * `half-built`: incomplete, and no process builds it. `standing`: complete, but no processor follows it. `missing`: its table does not exist.
   * `damaged`: its table cannot be opened.
   */
  readonly state: 'missing' | 'damaged' | 'serving' | 'following' | 'standing' | 'building' | 'half-built' | 'dropping'
  readonly foldVersion: number
  /** The next offset to fold, by partition. */
  readonly positions: { readonly [partition: string]: number }
  readonly lag: number
  readonly items: number | null
  readonly bytes: number | null
  readonly createdAt: string
  readonly servingSince: string | null
  /** The running or interrupted build, with its progress. Null if there is none. `by`: the process that builds, null if it was interrupted. */
  readonly build: {
    readonly by: string | null
    readonly since: string | null
    readonly events: number
    readonly of: number
    readonly eventsPerSecond: number
    readonly place: string | null
  } | null
}

export interface DroppedGeneration {
  readonly domain: string
  readonly dropped: number
}

const DROP_TIMEOUT_MS = 60_000

export const listGenerations: Handler<'generations'> = async (runtime, { domain }, output) => {
  for (const pipeline of domain === undefined ? runtime.pipelines.values() : [runtime.pipeline(domain)]) {
    for (const generation of await pipeline.control.generations(pipeline.domain.name))
      await output.row(await rowOf(runtime, pipeline, generation))
  }
}

const rowOf = async ({ adapters }: Runtime, pipeline: Pipeline, listed: Generation): Promise<GenerationRow> => {
  const { domain, control, log, admin } = pipeline
  const { generation, table, foldVersion, createdAt, work, lease } = listed
  const [serving, ends] = [await control.serving(domain.name), await endsOf(log)]
  const isOpen = listed.state === 'following'
  const [opened] = isOpen
    ? await openUndamaged([generation], { generation: pipeline.generation, serving: serving.generation })
    : []
  const measured = await adapters.stores.measure(domain.table, generation)
  const found = opened && (await checkpointsUnlessLost(() => Promise.resolve(opened.store)))
  const isMissing = isOpen && (opened === undefined ? measured === undefined : found === undefined)
  const reached = found ?? new Map<number, number>()
  return {
    domain: domain.name,
    generation,
    table,
    foldVersion,
    state: isMissing
      ? 'missing'
      : isOpen && opened === undefined
        ? 'damaged'
        : stateOf(listed, {
            isServing: serving.generation === generation,
            isBuilt: lease !== undefined,
            isFollowed: foldVersion === domain.foldVersion || (await admin.isFollowed(listed.group)),
          }),
    positions: Object.fromEntries(reached),
    lag: isOpen ? missingTo(ends, reached) : totalOf(ends) - (work?.events ?? 0),
    items: measured?.items ?? null,
    bytes: measured?.bytes ?? null,
    createdAt: iso(createdAt),
    servingSince: serving.generation === generation && serving.since > 0 ? iso(serving.since) : null,
    build:
      listed.state === 'building'
        ? {
            by: lease?.holder ?? null,
            since: lease === undefined ? null : iso(lease.since),
            events: work?.events ?? 0,
            of: totalOf(work?.ends ?? new Map()),
            eventsPerSecond: lease === undefined ? 0 : (work?.perSecond ?? 0),
            place: work?.place ?? null,
          }
        : null,
  }
}

const stateOf = (
  { state }: Generation,
  is: { isServing: boolean; isBuilt: boolean; isFollowed: boolean },
): GenerationRow['state'] => {
  if (is.isServing) return 'serving'
  if (state === 'building') return is.isBuilt ? 'building' : 'half-built'
  if (state === 'following') return is.isFollowed ? 'following' : 'standing'
  return 'dropping'
}

const iso = (ms: number): string => new Date(ms).toISOString()

export const dropOne: Handler<'generations-drop'> = async (runtime, { domain: name, generation }) => {
  const pipeline = runtime.pipeline(name)
  const { domain, control, log, admin } = pipeline
  const { adapters, clock } = runtime
  await dropGeneration({
    domain,
    generation,
    control,
    log,
    admin,
    clock,
    stores: adapters.stores,
    series: adapters.series,
    storage: adapters.buildStorage(domain),
    store: async (number) => (await pipeline.generation(number)).store,
    closeGeneration: () => pipeline.closeGeneration(generation),
    timeoutMs: DROP_TIMEOUT_MS,
  })
  return { domain: name, dropped: generation }
}
