import type { Log } from './log.ts'
import { startProcessor } from './processor.ts'
import type { Running } from './processor.ts'
import type { Followed, Pipeline, PipelineParts } from './pipeline.ts'
import { telling } from './series.ts'
import { EVERY } from './sort.ts'

/** The processors of this process: one for every listed generation of this build's fold version. */
export interface Following {
  /** Starts what is listed and not running, stops what is no longer listed. */
  refresh(): Promise<void>
  running(): ReadonlyMap<number, Running>
  /** Tries the parked keys whose retry was asked for; resolves to how many are healed. */
  heal(): Promise<number>
  stop(): Promise<void>
}

/** Every generation that follows the log, in whichever process. */
export const followedBy = async ({ domain, control, generation }: Pick<Pipeline, 'domain' | 'control' | 'generation'>): Promise<readonly Followed[]> => {
  const listed = (await control.generations(domain.name)).filter(({ state }) => state === 'following')
  return Promise.all(listed.map((each) => generation(each.generation)))
}

export interface FollowingParts {
  readonly parts: PipelineParts
  readonly log: Log
  readonly generation: (generation: number) => Promise<Followed>
  /** Something was put into the outbox. */
  readonly sent: () => void
}

export const createFollowing = ({ parts, log, generation, sent }: FollowingParts): Following => {
  const { domain, control } = parts
  const running = new Map<number, Running>()
  const refresh = async (): Promise<void> => {
    const listed = await control.generations(domain.name)
    const ours = listed.filter(({ state, foldVersion }) => state === 'following' && foldVersion === domain.foldVersion).map((each) => each.generation)
    for (const number of ours) if (!running.has(number)) running.set(number, await follow({ parts, log, sent }, await generation(number)))
    for (const [number, processor] of running) {
      if (ours.includes(number)) continue
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

const follow = async ({ parts, log, sent }: Omit<FollowingParts, 'generation'>, { generation, store, series, outcomes }: Followed): Promise<Running> => {
  const { domain, stores, codec, clock, watching, marks, holder } = parts
  await stores.enableTtl?.(domain.table, generation)
  if (domain.table.watched === true) await stores.enableChanges?.(domain.table, generation)
  const failed = (error: unknown) => watching.failed(domain.name, error)
  return startProcessor({
    domain, generation, log, store, codec, clock, failed,
    series: series && telling(series, failed),
    ...(marks.tries && { tries: marks.tries(domain.name, generation, holder) }),
    kills: ({ partition, offset, key }) => marks.put(domain.name, { what: 'killed', partition, offset, key, projection: EVERY, reason: 'it was alone in the hands of several processes that died', by: holder, at: clock.now() }),
    heard: (passed) => {
      outcomes.heard(passed)
      watching.passed(domain.name, generation, passed)
      if (passed.sends) sent()
    },
    parked: (parked) => watching.parked(domain.name, parked),
  })
}
