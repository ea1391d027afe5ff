import { parkedIn } from '../processors/engine/parking.ts'
import type { Standing } from './metrics.ts'
import type { Generation } from '../processors/engine/control.ts'
import type { Pipeline } from '../processors/engine/pipeline.ts'
import { groupOf } from '../processors/engine/processor.ts'
import { logTrimmed, trimmedIn, type Trimmed } from '../processors/engine/trimmed.ts'
import { endsOf, totalOf } from '../processors/engine/positions.ts'
import type { Runtime } from './runtime.ts'

/** A domain as `status` shows it. */
export interface Status extends Standing {
  readonly table: string
  readonly topic: string
  readonly foldVersion: number
  /** Highest offset + 1 over all partitions, summed. */
  readonly events: number
  /** Null where whoever is asked folds nothing: then the metrics of the processors tell. */
  readonly eventsPerSecond: number | null
  readonly writeUnitsPerEvent: number | null
  /** Settings of the topic that let it remove events, as `name=value`. */
  readonly retention: readonly string[]
}

export const standingOf = async (runtime: Runtime, pipeline: Pipeline): Promise<Standing> => standingIn(runtime, pipeline, await pipeline.control.generations(pipeline.domain.name))

const standingIn = async ({ clock, held, where }: Runtime, pipeline: Pipeline, generations: readonly Generation[]): Promise<Standing> => {
  const { domain, log, serving } = pipeline
  const now = clock.now()
  const followed = held !== undefined && where.admin === undefined ? null : await isServingFollowed(pipeline)
  const lags = await lagsOf(pipeline)
  const unfolded = await Promise.all(lags.filter(({ lag }) => lag > 0).map(({ partition, next }) => timeOf(log, partition, next)))
  const lagSeconds = Math.max(0, ...unfolded.map((at) => (now - at) / 1000))
  const entries = await parkedIn(serving().store, lags.map(({ partition }) => partition))
  const [parked, waiting] = [entries.length, entries.reduce((sum, entry) => sum + entry.waiting, 0)]
  const parkedSince = entries.map(({ since }) => since).filter((since) => since > 0).reduce<number | null>((oldest, since) => Math.min(oldest ?? since, since), null)
  const verified = (await pipeline.control.lastVerified(domain.name)) ?? null
  return { domain: domain.name, generation: serving().generation, followed, trimmed: trimmedIn(lags), lagEvents: lags.reduce((sum, { lag }) => sum + lag, 0), lagSeconds, parked, waiting, parkedSince, verified, rebuild: rebuildOf(generations), generations: generations.map(({ generation, state, foldVersion }) => ({ generation, state, foldVersion })) }
}

/** By whomever: what nobody follows stands still, however quiet the log is. */
export const isServingFollowed = ({ domain, log, serving }: Pipeline): Promise<boolean> => log.followed(groupOf(domain.name, serving().generation))

export const unfollowed = (domain: string, generation: number): string =>
  `generation ${generation} of ${domain} serves, but no processor follows it: run tributary start of the release that made it, or flip to a generation that is followed (tributary generations ${domain})`

/** The running build, of whichever process, as its builder reported it last. */
const rebuildOf = (generations: readonly Generation[]): Standing['rebuild'] => {
  const building = generations.find(({ lease }) => lease !== undefined)
  if (building === undefined) return null
  const { generation, work } = building
  const of = work === undefined ? 0 : totalOf(work.ends)
  return { generation, share: work === undefined || of === 0 ? 0 : Math.min(1, work.events / of), eventsPerSecond: work?.perSecond ?? 0 }
}

type Added = 'trimmed' | 'retention' | 'parkedSince'

/** The answer of `status`. A running server of an earlier release reports neither trimmed partitions, nor retention, nor the time of parked events. */
export const statusesIn = (answer: unknown): readonly Status[] =>
  (answer as readonly (Omit<Status, Added> & Partial<Pick<Status, Added>>)[]).map((each) => ({ ...each, trimmed: each.trimmed ?? [], retention: each.retention ?? [], parkedSince: each.parkedSince ?? null }))

/** The text of `log-trimmed` for each domain whose log lost events. */
export const trimmedTexts = (standings: readonly Pick<Status, 'domain' | 'topic' | 'trimmed'>[]): readonly string[] =>
  standings.filter(({ trimmed }) => trimmed.length > 0).map(({ domain, topic, trimmed }) => `${domain}: ${logTrimmed(topic, trimmed).message}`)

/** The warning about a topic that would lose events. */
export const removesEvents = (topic: string, retention: readonly string[]): string =>
  `topic ${topic} removes events (${retention.join(', ')}): set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete`

interface Lag extends Trimmed {
  readonly next: number
  readonly lag: number
}

/** By partition: its first offset, and how far the serving generation's items are behind it. */
export const lagsOf = async ({ log, serving }: Pipeline): Promise<readonly Lag[]> => {
  const [marks, checkpoints] = await Promise.all([log.watermarks(), serving().store.checkpoints()])
  return marks.map(({ partition, low, high }) => {
    const next = Math.max(checkpoints.get(partition) ?? 0, low)
    return { partition, low, next, lag: Math.max(0, high - next) }
  })
}

const timeOf = async (log: Pipeline['log'], partition: number, offset: number): Promise<number> => {
  for await (const records of log.read(partition, offset, offset + 1)) for (const { timestamp } of records) return timestamp
  return Infinity
}

export const statusOf = async (runtime: Runtime): Promise<readonly Status[]> =>
  Promise.all([...runtime.pipelines.values()].map(async (pipeline) => {
    const { domain, control, log } = pipeline
    const generations = await control.generations(domain.name)
    const standing = await standingIn(runtime, pipeline, generations)
    const serving = generations.find(({ generation }) => generation === standing.generation)
    const events = totalOf(await endsOf(log))
    return {
      ...standing,
      table: serving?.table ?? domain.table.name,
      topic: domain.topic,
      foldVersion: serving?.foldVersion ?? domain.foldVersion,
      events,
      eventsPerSecond: runtime.where.admin === undefined ? null : runtime.metrics.rate(domain.name, standing.generation),
      writeUnitsPerEvent: unitsPerEvent(runtime, domain, standing.generation),
      retention: (await log.retention?.()) ?? [],
    }
  }))

const unitsPerEvent = ({ adapters, metrics }: Runtime, { name, table }: Pipeline['domain'], generation: number): number | null => {
  const units = adapters.units(table, generation)
  const folded = metrics.events(name, generation)
  return units === null || folded === 0 ? null : (units.domain + units.bookkeeping) / folded
}
