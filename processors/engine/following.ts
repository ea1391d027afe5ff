import { isFault } from '../../schemas/fault.ts'
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

type Opening = Pick<FollowingParts, 'generation'> & { readonly serving: number; readonly damaged?: (generation: number, error: unknown) => void }

/**
 * Opens the given generations. A generation with a missing table is left out. A generation with a damaged table is left out too (an operator can drop it), unless it serves:
 * then this throws.
 */
export const wholeOf = async (numbers: readonly number[], { generation, serving, damaged }: Opening): Promise<readonly Followed[]> => {
  const opened = await Promise.all(numbers.map((number) => generation(number).catch((error: unknown) => {
    if (!isFault(error, 'table-missing') && (number === serving || !isFault(error, 'data-damaged'))) throw error
    damaged?.(number, error)
    return undefined
  })))
  return opened.filter((each) => each !== undefined)
}

export interface FollowingParts {
  readonly parts: PipelineParts
  readonly log: Log
  readonly generation: (generation: number) => Promise<Followed>
  /** Something was put into the outbox. */
  readonly sent: () => void
}

/** How often to look whether a table still contains what was written to it. */
const CONFIRM_MS = 5_000

export const createFollowing = ({ parts, log, generation, sent }: FollowingParts): Following => {
  const { domain, control } = parts
  const running = new Map<number, Running>()
  const told = new Set<number>()
  const damaged: Opening['damaged'] = (number, error) => {
    if (!told.has(number)) parts.watching.failed(domain.name, error)
    told.add(number)
  }
  let confirmed = parts.clock.now()
  /** Stops those processors whose table was replaced: started anew, they fold from the checkpoint that it contains. */
  const confirm = async (): Promise<void> => {
    confirmed = parts.clock.now()
    for (const [number, processor] of running) {
      const moved = await processor.rewound().catch((error: unknown) => void parts.watching.failed(domain.name, error))
      if (moved === undefined) continue
      parts.watching.failed(domain.name, moved)
      running.delete(number)
      await processor.stop()
    }
  }
  const refresh = async (): Promise<void> => {
    if (parts.clock.now() - confirmed >= CONFIRM_MS) await confirm()
    const listed = await control.generations(domain.name)
    const ours = listed.filter(({ state, foldVersion }) => state === 'following' && foldVersion === domain.foldVersion).map((each) => each.generation)
    const added = ours.filter((number) => !running.has(number))
    const serving = added.length === 0 ? 0 : (await control.serving(domain.name)).generation
    for (const each of await wholeOf(added, { generation, serving, damaged })) {
      running.set(each.generation, await follow({ parts, log, sent }, each))
    }
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
