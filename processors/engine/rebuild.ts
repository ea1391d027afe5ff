import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import { build, type Built, type Owed } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import type { Clock } from './clock.ts'
import type { Control, Generation } from './control.ts'
import type { Log } from './log.ts'
import { parkedOf, type StoredParked } from './parking.ts'
import type { Store } from './store.ts'
import { startOf, type Turn } from './turns.ts'

/** What a build is told: where to stop, and whom to tell how far it is. */
export interface BuildWork {
  readonly log: Pick<Log, 'read'>
  readonly codec: Codec
  readonly generation: number
  readonly ends: ReadonlyMap<number, number>
  /** What the serving generation cannot send, since it stands still there. */
  readonly owed: readonly Owed[]
  readonly progress: (events: number) => void
  readonly workingSet?: number
  readonly signal?: AbortSignal
}

export interface RebuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read' | 'watermarks' | 'setCommitted'>
  readonly codec: Codec
  readonly clock: Clock
  readonly control: Pick<Control, 'begin' | 'renew' | 'follow' | 'abandon'>
  /** The serving generation's store. */
  readonly served: Pick<Store, 'checkpoints' | 'reader'>
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

const RENEW_MS = 15_000

/** Builds the next generation beside the serving one, up to fixed ends; from there it follows the log like any other. */
export const rebuild = async (parts: RebuildParts): Promise<Rebuilt> => {
  const { domain, control, holder } = parts
  const made = await control.begin(domain, holder)
  const done = new AbortController()
  void keepLease(parts, done.signal)
  try {
    const built = await buildGeneration(parts, made)
    await control.follow(domain.name, made.generation, holder)
    return { ...built, generation: made.generation }
  } catch (error) {
    await control.abandon(domain.name, made.generation, holder).catch(() => undefined)
    throw error
  } finally {
    done.abort()
  }
}

const keepLease = async ({ domain, control, holder, clock }: RebuildParts, done: AbortSignal): Promise<void> => {
  for (;;) {
    await clock.sleep(RENEW_MS, done)
    if (done.aborted) return
    await control.renew(domain.name, holder).catch(() => undefined)
  }
}

/** Not past what the serving generation has done: what lies behind that is followed live, and only live events are sent. */
const endsOf = async ({ log, served }: RebuildParts): Promise<ReadonlyMap<number, number>> =>
  standing(served, new Map((await log.watermarks()).map(({ partition, high }) => [partition, high])))

const buildGeneration = async (parts: RebuildParts, { generation, group }: Generation): Promise<Built> => {
  const { domain, log, codec, workIn, copyTo, signal } = parts
  const ends = await endsOf(parts)
  // After its checkpoints: whatever stands still before them is listed by then.
  const owed = (await standingIn(parts.served, ends)).map(({ projection, key, offset }) => ({ projection, key, offset }))
  const total = [...ends.values()].reduce((sum, end) => sum + end, 0)
  const progress = (events: number) => parts.progress?.(events, total)
  const stoppable = signal === undefined ? {} : { signal }
  const shared = await parts.share?.({ log, codec, generation, ends, owed, progress, ...stoppable })
  const target = await workIn(generation)
  const built = shared ?? (await build({ domain, log, codec, target, ends, owed, progress, ...stoppable }))
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
  /** The serving generation's store. */
  readonly served: Pick<Store, 'checkpoints' | 'reader'>
  readonly serving: number
  /** Of this build's folds: a generation of others is not followed by it. */
  readonly foldVersion: number
  readonly control: Pick<Control, 'generations' | 'serving' | 'flip'>
  readonly log: Pick<Log, 'watermarks'>
  readonly clock: Clock
  readonly to: number
  readonly store: Pick<Store, 'checkpoints'>
  readonly timeoutMs: number
}

/** Waits until both generations passed where the log ends now, then moves the pointer in one conditional write. */
export const flip = async ({ domain, control, log, clock, to, store, timeoutMs, served, serving, foldVersion }: FlipParts): Promise<void> => {
  const pointer = await control.serving(domain)
  if (pointer.generation !== serving) throw new Fault('control-conflict', `Somebody else flipped ${domain} meanwhile. Look at tributary status and try again.`)
  const generations = await control.generations(domain)
  const listed = generations.find(({ generation }) => generation === to)
  if (listed === undefined) throw new Fault('generation-unknown', `${domain} has no generation ${to}. See: tributary status.`)
  if (listed.state !== 'following') throw new Fault('generation-unfinished', `Generation ${to} of ${domain} is ${listed.state}; only a complete one can serve.`)
  const ends = new Map((await log.watermarks()).map(({ partition, high }) => [partition, high]))
  // Where nobody follows with the old one, the new one sends from where that stands.
  const isFollowed = generations.some((each) => each.generation === serving && each.foldVersion === foldVersion)
  const from = isFollowed ? ends : await standing(served, ends)
  const until = clock.now() + timeoutMs
  while (!(await hasPassed(store, ends)) || !(await hasPassed(served, from))) {
    if (clock.now() >= until) throw new Fault('generation-behind', `Generation ${to} of ${domain} has not reached the end of the log. Is a processor of its fold version running? See: tributary status.`)
    await clock.sleep(20)
  }
  await control.flip(domain, { generation: to, from, parked: unsentIn(pointer, await standingIn(served, from)) }, pointer.version)
}

type Standing = StoredParked & { readonly key: string }

/** Keys that stand still. Alien records without one say nothing that could be sent. */
const standingIn = async (served: Pick<Store, 'reader'>, partitions: ReadonlyMap<number, number>): Promise<readonly Standing[]> => {
  const reader = served.reader(() => 0)
  const entries = await Promise.all([...partitions.keys()].map((partition) => parkedOf(reader, partition)))
  return entries.flat().filter((entry): entry is Standing => entry.key !== null)
}

/** What stands still was the serving generation's to send only from where its own turn began. */
const unsentIn = (turn: Turn, standing: readonly Standing[]): ReadonlyMap<string, number> =>
  new Map(standing.map((entry) => [`${entry.projection}#${entry.key}`, Math.max(entry.offset, startOf(turn, entry))]))

const standing = async (store: Pick<Store, 'checkpoints'>, ends: ReadonlyMap<number, number>): Promise<ReadonlyMap<number, number>> => {
  const reached = await store.checkpoints()
  return new Map([...ends].map(([partition, end]) => [partition, Math.min(end, reached.get(partition) ?? 0)]))
}

const hasPassed = async (store: FlipParts['store'], ends: ReadonlyMap<number, number>): Promise<boolean> => {
  const reached = await store.checkpoints()
  return [...ends].every(([partition, end]) => (reached.get(partition) ?? 0) >= end)
}
