import type { Due } from '../../../projections/outgoing-rows.ts'
import { EVERY_PROJECTION, type Log } from '../ports/log.ts'
import { openUndamaged, type Opening, type OpenGeneration } from './open-generations.ts'
import type { PipelineParts } from './pipeline-parts.ts'
import { startProcessor, type Processor } from './processor.ts'
import { reportRejected } from './rejected-points.ts'

/** The processors of this process: one for each generation that follows the log and has the fold version of this program. */
export interface Following {
  /** Starts the processors of new generations, and stops the processors of generations that are no longer listed. */
  refresh(): Promise<void>
  running(): ReadonlyMap<number, Processor>
  /** Folds the parked keys whose retry was requested. Resolves to the number of healed keys. */
  heal(): Promise<number>
  stop(): Promise<void>
}

export interface FollowingParts {
  readonly parts: PipelineParts
  readonly log: Log
  readonly generation: (generation: number) => Promise<OpenGeneration>
  /** Called after each batch, so that the roles send at once the rows of the batch that are due. */
  readonly wake: (due: Due) => void
}

/** How often to check whether a table still contains the writes of this process. */
const CONFIRM_MS = 5_000

export const createFollowing = ({ parts, log, generation, wake }: FollowingParts): Following => {
  const { domain, control, clock, observer } = parts
  const running = new Map<number, Processor>()
  const reported = new Set<number>()
  const damaged: Opening['damaged'] = (number, error) => {
    if (!reported.has(number)) observer.failed(domain.name, error)
    reported.add(number)
  }
  let confirmedAt = clock.now()
  /**
   * Stops the processors whose table was replaced. The next refresh starts them again. Then they continue at the checkpoint that is stored
   * in the new table.
   */
  const stopRewound = async (): Promise<void> => {
    confirmedAt = clock.now()
    for (const [number, processor] of running) {
      const moved = await processor.rewound().catch((error: unknown) => void observer.failed(domain.name, error))
      if (moved === undefined) continue
      observer.failed(domain.name, moved)
      running.delete(number)
      await processor.stop()
    }
  }
  const refresh = async (): Promise<void> => {
    if (clock.now() - confirmedAt >= CONFIRM_MS) await stopRewound()
    const listed = await control.generations(domain.name)
    const own = listed
      .filter(({ state, foldVersion }) => state === 'following' && foldVersion === domain.foldVersion)
      .map((each) => each.generation)
    const added = own.filter((number) => !running.has(number))
    const serving = added.length === 0 ? 0 : (await control.serving(domain.name)).generation
    for (const each of await openUndamaged(added, { generation, serving, damaged })) {
      running.set(each.generation, await follow({ parts, log, wake }, each))
    }
    for (const [number, processor] of running) {
      if (own.includes(number)) continue
      running.delete(number)
      await processor.stop()
    }
  }
  const heal = async (): Promise<number> => {
    let healed = 0
    for (const processor of running.values()) healed += await processor.heal()
    return healed
  }
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((processor) => processor.stop()))
    running.clear()
  }
  return { refresh, running: () => running, heal, stop }
}

const follow = async (
  { parts, log, wake }: Omit<FollowingParts, 'generation'>,
  { generation, store, series, outcomes }: OpenGeneration,
): Promise<Processor> => {
  const { domain, stores, codec, clock, observer, verdicts, processName } = parts
  await stores.enableTtl?.(domain.table, generation)
  if (domain.table.watched === true) await stores.enableChanges?.(domain.table, generation)
  const failed = (error: unknown) => observer.failed(domain.name, error)
  return startProcessor({
    domain,
    generation,
    log,
    store,
    codec,
    clock,
    failed,
    series: series && reportRejected(series, failed),
    ...(verdicts.attempts && { attempts: verdicts.attempts(domain.name, generation, processName) }),
    recordCrashing: ({ partition, offset, key }) =>
      verdicts.put(domain.name, {
        what: 'killed',
        partition,
        offset,
        key,
        projection: EVERY_PROJECTION,
        reason: 'several processes crashed while they folded this event alone',
        by: processName,
        at: clock.now(),
      }),
    batchFolded: (result) => {
      outcomes.recordBatch(result)
      observer.batchFolded(domain.name, generation, result)
      wake(result.due)
    },
    parked: (parked) => observer.parked(domain.name, parked),
  })
}
