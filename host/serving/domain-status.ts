import { counted } from '../../schemas/counted.ts'
import { parkedIn } from '../../processors/engine/poison/parked-entry.ts'
import type { DomainStatus } from './metrics.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import { logTrimmed, trimmedIn, type Trimmed } from '../../processors/engine/generations/trimmed.ts'
import { endsOf, totalOf } from '../../processors/engine/generations/positions.ts'
import { countAsksOf } from '../ipc/operations/asks.ts'
import type { Runtime } from '../wiring/runtime.ts'
import { type Generation, groupOf } from '../../processors/engine/generations/generation.ts'

/** A row of `tributary status`. */
export interface StatusRow extends DomainStatus {
  readonly table: string
  readonly topic: string
  readonly foldVersion: number
  /** The sum of the end offsets of all partitions. */
  readonly events: number
  /** Null if the process that measures is not a server. The metrics of the processors then contain the rate. */
  readonly eventsPerSecond: number | null
  readonly writeUnitsPerEvent: number | null
  /** The settings with which the topic removes events, as `name=value`. Empty if the topic keeps all events. */
  readonly retention: readonly string[]
}

export const measureDomainStatus = async (runtime: Runtime, pipeline: Pipeline): Promise<DomainStatus> =>
  measureStatusOf(runtime, pipeline, await pipeline.control.generations(pipeline.domain.name))

const measureStatusOf = async (
  runtime: Runtime,
  pipeline: Pipeline,
  generations: readonly Generation[],
): Promise<DomainStatus> => {
  const { clock, folderLock, where } = runtime
  const { domain, log, serving } = pipeline
  const now = clock.now()
  const followed = folderLock !== undefined && where.admin === undefined ? null : await isServingFollowed(pipeline)
  const lags = await lagsOf(pipeline)
  const unfolded = await Promise.all(
    lags.filter(({ lag }) => lag > 0).map(({ partition, next }) => timeOf(log, partition, next)),
  )
  const lagSeconds = Math.max(0, ...unfolded.map((at) => (now - at) / 1000))
  const entries = await parkedIn(
    serving().store,
    lags.map(({ partition }) => partition),
  )
  const [parked, waiting] = [entries.length, entries.reduce((sum, entry) => sum + entry.waiting, 0)]
  const parkedSince = entries
    .map(({ since }) => since)
    .filter((since) => since > 0)
    .reduce<number | null>((oldest, since) => Math.min(oldest ?? since, since), null)
  const verified = (await pipeline.control.lastVerified(domain.name)) ?? null
  return {
    domain: domain.name,
    generation: serving().generation,
    followed,
    trimmed: trimmedIn(lags),
    lagEvents: lags.reduce((sum, { lag }) => sum + lag, 0),
    lagSeconds,
    parked,
    waiting,
    asks: await countAsksOf(runtime, pipeline),
    parkedSince,
    verified,
    rebuild: rebuildOf(generations),
    generations: generations.map(({ generation, state, foldVersion }) => ({ generation, state, foldVersion })),
  }
}

/** Resolves to true if any process follows the serving generation. Otherwise new events do not change its items, even if its lag is 0 now. */
export const isServingFollowed = ({ domain, admin, serving }: Pipeline): Promise<boolean> =>
  admin.isFollowed(groupOf(domain.name, serving().generation))

export const unfollowed = (domain: string, generation: number): string =>
  `generation ${generation} of ${domain} serves, but no processor follows it: run tributary start of the release that made it, or flip to a generation that is followed (tributary generations ${domain})`

/** The generation that any process builds now, with the progress that the process reported last. Null if there is none. */
const rebuildOf = (generations: readonly Generation[]): DomainStatus['rebuild'] => {
  const building = generations.find(({ lease }) => lease !== undefined)
  if (building === undefined) return null
  const { generation, work } = building
  const of = work === undefined ? 0 : totalOf(work.ends)
  return {
    generation,
    share: work === undefined || of === 0 ? 0 : Math.min(1, work.events / of),
    eventsPerSecond: work?.perSecond ?? 0,
  }
}

type Added = 'trimmed' | 'retention' | 'parkedSince' | 'asks'

/** A status as a server reports it. A server of an earlier release does not report the fields in `Added`. */
export type ReportedStatusRow = Omit<StatusRow, Added> & Partial<Pick<StatusRow, Added>>

/** Adds the fields that a server of an earlier release did not report, with an empty list, zero or null. */
export const completeStatusRows = (reported: readonly ReportedStatusRow[]): readonly StatusRow[] =>
  reported.map((each) => ({
    ...each,
    trimmed: each.trimmed ?? [],
    retention: each.retention ?? [],
    parkedSince: each.parkedSince ?? null,
    asks: each.asks ?? { due: 0, waiting: 0 },
  }))

/** The text of `log-trimmed` for each domain whose log lost events. */
export const trimmedTexts = (statuses: readonly Pick<StatusRow, 'domain' | 'topic' | 'trimmed'>[]): readonly string[] =>
  statuses
    .filter(({ trimmed }) => trimmed.length > 0)
    .map(({ domain, topic, trimmed }) => `${domain}: ${logTrimmed(topic, trimmed).message}`)

/** A text for each domain with calls that wait for an operator. */
export const waitingAskTexts = (statuses: readonly Pick<StatusRow, 'domain' | 'asks'>[]): readonly string[] =>
  statuses.flatMap(({ domain, asks: { waiting } }) => waitingAsksText(domain, waiting) ?? [])

/** The warning about calls that wait for an operator. Undefined if there are none. */
export const waitingAsksText = (domain: string, waiting: number): string | undefined =>
  waiting === 0
    ? undefined
    : `${domain}: ${counted(waiting, 'call')} of outside services ${waiting === 1 ? 'waits' : 'wait'} for an operator: tributary asks ${domain}`

/** The warning about a topic whose settings remove events. */
export const removesEvents = (topic: string, retention: readonly string[]): string =>
  `topic ${topic} removes events (${retention.join(', ')}): set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete`

interface Lag extends Trimmed {
  readonly next: number
  readonly lag: number
}

/** Per partition of the log: the first offset, the next offset that the serving generation folds, and the number of events that are not folded. */
export const lagsOf = async ({ log, serving }: Pipeline): Promise<readonly Lag[]> => {
  const [watermarks, checkpoints] = await Promise.all([log.watermarks(), serving().store.checkpoints()])
  return watermarks.map(({ partition, low, high }) => {
    const next = Math.max(checkpoints.get(partition) ?? 0, low)
    return { partition, low, next, lag: Math.max(0, high - next) }
  })
}

const timeOf = async (log: Pipeline['log'], partition: number, offset: number): Promise<number> => {
  for await (const records of log.read(partition, offset, offset + 1))
    for (const { timestamp } of records) return timestamp
  return Infinity
}

export const statusRowsOf = async (runtime: Runtime): Promise<readonly StatusRow[]> =>
  Promise.all(
    [...runtime.pipelines.values()].map(async (pipeline) => {
      const { domain, control, log, admin } = pipeline
      const generations = await control.generations(domain.name)
      const status = await measureStatusOf(runtime, pipeline, generations)
      const serving = generations.find(({ generation }) => generation === status.generation)
      const events = totalOf(await endsOf(log))
      return {
        ...status,
        table: serving?.table ?? domain.table.name,
        topic: domain.topic,
        foldVersion: serving?.foldVersion ?? domain.foldVersion,
        events,
        eventsPerSecond:
          runtime.where.admin === undefined ? null : runtime.metrics.rate(domain.name, status.generation),
        writeUnitsPerEvent: unitsPerEvent(runtime, domain, status.generation),
        retention: (await admin.retention?.()) ?? [],
      }
    }),
  )

const unitsPerEvent = (
  { adapters, metrics }: Runtime,
  { name, table }: Pipeline['domain'],
  generation: number,
): number | null => {
  const units = adapters.units(table, generation)
  const folded = metrics.events(name, generation)
  return units === null || folded === 0 ? null : (units.domain + units.bookkeeping) / folded
}
