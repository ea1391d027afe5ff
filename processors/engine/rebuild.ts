import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import { build, type BuildTarget, type Built } from './build.ts'
import type { Clock } from './clock.ts'
import type { Control, Generation } from './control.ts'
import type { Log } from './log.ts'
import type { Store } from './store.ts'

/** What a build is told: where to stop, and whom to tell how far it is. */
export interface BuildWork {
  readonly log: Pick<Log, 'read'>
  readonly codec: Codec
  readonly generation: number
  readonly ends: ReadonlyMap<number, number>
  readonly progress: (events: number) => void
  readonly signal?: AbortSignal
}

export interface RebuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read' | 'watermarks' | 'setCommitted'>
  readonly codec: Codec
  readonly clock: Clock
  readonly control: Pick<Control, 'begin' | 'renew' | 'follow' | 'abandon'>
  /** Who holds the lease: one rebuild of a domain at a time. */
  readonly holder: string
  /** The local store the build works in; for an embedded generation it is that generation's own. */
  readonly workIn: (generation: number) => Promise<BuildTarget>
  /** Builds the local store with several threads where that is worth it; undefined where it is not. */
  readonly share?: (work: BuildWork) => Promise<Built | undefined>
  /** The generation's table where the final states belong, if that is not the local store itself. */
  readonly copyTo?: (generation: number) => Promise<Store>
  readonly signal?: AbortSignal
  readonly progress?: (events: number, of: number) => void
}

export interface Rebuilt extends Built {
  readonly generation: number
}

const RENEW_EVENTS = 200_000

/** Builds the next generation beside the serving one, up to fixed ends; from there it follows the log like any other. */
export const rebuild = async (parts: RebuildParts): Promise<Rebuilt> => {
  const { domain, control, holder } = parts
  const made = await control.begin(domain, holder)
  try {
    const built = await buildGeneration(parts, made)
    await control.follow(domain.name, made.generation, holder)
    return { ...built, generation: made.generation }
  } catch (error) {
    await control.abandon(domain.name, made.generation, holder).catch(() => undefined)
    throw error
  }
}

const buildGeneration = async (parts: RebuildParts, { generation, group }: Generation): Promise<Built> => {
  const { domain, log, codec, control, holder, workIn, copyTo, signal } = parts
  const ends = new Map((await log.watermarks()).map(({ partition, high }) => [partition, high]))
  const total = [...ends.values()].reduce((sum, end) => sum + end, 0)
  let renewed = 0
  const progress = (events: number) => {
    parts.progress?.(events, total)
    if (events - renewed < RENEW_EVENTS) return
    renewed = events
    void control.renew(domain.name, holder).catch(() => undefined)
  }
  const stoppable = signal === undefined ? {} : { signal }
  const shared = await parts.share?.({ log, codec, generation, ends, progress, ...stoppable })
  const target = await workIn(generation)
  const built = shared ?? (await build({ domain, log, codec, target, ends, progress, ...stoppable }))
  if (copyTo !== undefined) await copy(target, await copyTo(generation), ends)
  else await target.close()
  await log.setCommitted(group, ends)
  return built
}

/** Final states, once each; the checkpoints last, so that a table cut in the middle is never taken for whole. */
const copy = async (from: BuildTarget, to: Store, ends: ReadonlyMap<number, number>) => {
  await to.bulk(itemsOf(from))
  for (const [partition, offset] of ends) if (offset > 0) await to.commit([], { partition, offset })
  await from.close()
  await to.close()
}

async function* itemsOf(store: Store) {
  for await (const page of store.scan()) yield* page
}

export interface FlipParts {
  readonly domain: string
  readonly control: Pick<Control, 'generations' | 'flip'>
  readonly log: Pick<Log, 'watermarks'>
  readonly clock: Clock
  readonly to: number
  readonly store: Pick<Store, 'checkpoints'>
  readonly timeoutMs: number
}

/** Waits until the new generation passed where the log ends now, then moves the pointer in one conditional write. */
export const flip = async ({ domain, control, log, clock, to, store, timeoutMs }: FlipParts): Promise<void> => {
  const listed = (await control.generations(domain)).find(({ generation }) => generation === to)
  if (listed === undefined) throw new Fault('generation-unknown', `${domain} has no generation ${to}. See: tributary status.`)
  if (listed.state !== 'following') throw new Fault('generation-unfinished', `Generation ${to} of ${domain} is ${listed.state}; only a complete one can serve.`)
  const from = new Map((await log.watermarks()).map(({ partition, high }) => [partition, high]))
  const until = clock.now() + timeoutMs
  while (!(await hasPassed(store, from))) {
    if (clock.now() >= until) throw new Fault('generation-behind', `Generation ${to} of ${domain} has not reached the end of the log. Is a processor of its fold version running? See: tributary status.`)
    await clock.sleep(20)
  }
  await control.flip(domain, { generation: to, from })
}

const hasPassed = async (store: FlipParts['store'], ends: ReadonlyMap<number, number>): Promise<boolean> => {
  const reached = await store.checkpoints()
  return [...ends].every(([partition, end]) => (reached.get(partition) ?? 0) >= end)
}
