import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { isFault } from '../../schemas/fault.ts'
import { build, type Built, type Owed } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import { claim, type Place } from './claim.ts'
import type { Clock } from './clock.ts'
import { keepState, type Kept, type Progress } from './build-state.ts'
import type { BuildState, Control } from './control.ts'
import { copy } from './copying.ts'
import { standingIn } from './flip.ts'
import { KEY_AGE_MS } from './keyring.ts'
import type { Log } from './log.ts'
import type { Replaced } from './lost.ts'
import type { Marked } from './marks.ts'
import { createPace, type Pace } from './pace.ts'
import { parkedIn, type StoredParked } from './parking.ts'
import { atMost, endsOf, totalOf, type Positions } from './positions.ts'
import type { Series } from './series.ts'
import type { Store } from './store.ts'
import { refuseTrimmed } from './trimmed.ts'

/** The input of a build: its log, where it ends, and the callback for progress. */
export interface BuildWork {
  readonly log: Pick<Log, 'read'> & Partial<Marked>
  readonly codec: Codec
  readonly generation: number
  readonly ends: Positions
  /** Events for which the serving generation sends nothing: those of its parked keys, and all events of its turn if its table is missing. */
  readonly owed: readonly Owed[]
  readonly progress: (events: number) => void
  readonly workingSet?: number
  readonly writesPerSecond?: number
  readonly signal?: AbortSignal
}

/** Where generations are built, and what with. */
export interface Workshop extends Place {
  /** The local store the build works in; for an embedded generation it is that generation's own. */
  open(generation: number): Promise<BuildTarget>
  /** The generation's own points, where the domain has any; closed by who opened them. */
  series?(generation: number): Series
  /** Among how many workers the keys of so many events are best shared. */
  workers?(events: number): number
  /** Builds the local store with several threads. */
  share?(work: BuildWork & { readonly workers: number }): Promise<Built>
  /** The generation's table where the final states belong, if that is not the local store itself. */
  copyTo?(generation: number): Promise<Store>
  /** What is left here of a build that is done or given up. */
  clear?(generation: number): Promise<void>
  /** All there is of a generation that must not be: here, and in its own table. */
  discard(generation: number): Promise<void>
}

export interface RebuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read' | 'watermarks'>
  readonly codec: Codec
  readonly clock: Clock
  readonly control: Pick<Control, 'generations' | 'begin' | 'resume' | 'renew' | 'release' | 'follow'>
  readonly served: Replaced
  /** Who holds the lease: one rebuild of a domain at a time. */
  readonly holder: string
  readonly workshop: Workshop
  /** Go on with this generation, which was left half-built. */
  readonly resume?: number
  readonly writesPerSecond?: number
  readonly signal?: AbortSignal
  readonly progress?: (progress: Progress) => void
}

export interface Rebuilt {
  readonly generation: number
  /** Folded in this run. */
  readonly events: number
  readonly parked: readonly StoredParked[]
  /** Points that the series store will not take. */
  readonly rejected: number
}

/** A generation on its way: nobody follows it before it is finished, and what is left can be gone on with. */
export interface Building {
  readonly generation: number
  /** Folds on to where the serving generation stands now, and opens what there is. */
  fold(): Promise<BuildTarget>
  /** Where the folding stands. */
  ends(): Positions
  /** From its ends on it follows the log like any other. */
  finish(): Promise<Rebuilt>
  /** Lets go of it as it is. */
  leave(): Promise<void>
}

/** Builds the next generation beside the serving one, up to fixed ends; from there it follows the log like any other. */
export const rebuild = async (parts: RebuildParts): Promise<Rebuilt> => {
  const { resume, ...anew } = parts
  for (let next = parts; ; next = anew) {
    try {
      return await rebuildOnce(next)
    } catch (error) {
      if (!isFault(error, 'build-outdated')) throw error
      // Until no key that was destroyed meanwhile is in memory any more.
      await parts.clock.sleep(KEY_AGE_MS, parts.signal)
      parts.signal?.throwIfAborted()
    }
  }
}

const rebuildOnce = async (parts: RebuildParts): Promise<Rebuilt> => {
  const building = await startBuild(parts)
  try {
    await building.fold()
    return await building.finish()
  } catch (error) {
    if (isFault(error, 'build-outdated')) await parts.workshop.discard(building.generation)
    throw error
  } finally {
    await building.leave()
  }
}

export const startBuild = async (parts: RebuildParts): Promise<Building> => {
  const { domain, control, holder, workshop, log } = parts
  // A half-built generation may have folded the removed events before; if it did not, reading them fails.
  if (parts.resume === undefined) await refuseTrimmed(domain.topic, log)
  const { generation: made, lock } = await claim(parts)
  const { generation } = made
  // This build has folded nothing yet, so files under its number are from before the control table was lost.
  if (made.work === undefined) await workshop.discard(generation)
  const kept = keepState(parts, made)
  const folding = createFolding({ ...parts, signal: kept.signal }, { generation, kept, begun: made.work })
  const finish = async (): Promise<Rebuilt> => {
    const built = folding.opened() ?? (await folding.fold())
    const parked = await parkedIn(built, kept.state().ends.keys())
    if (workshop.copyTo !== undefined) await copy({ from: built, to: await workshop.copyTo(generation), kept, pace: paceOf({ ...parts, signal: kept.signal }) })
    await folding.close()
    await kept.stop()
    await control.follow(domain.name, generation, holder)
    await workshop.clear?.(generation)
    return { generation, events: folding.events(), parked, rejected: folding.rejected() }
  }
  const leave = async () => {
    await kept.stop()
    await folding.close()
    await control.release(domain.name, holder).catch(() => undefined)
    await lock.release()
  }
  return { generation, fold: folding.fold, ends: () => kept.state().ends, finish, leave }
}

interface Work {
  readonly generation: number
  readonly kept: Kept
  /** What another began it with, and may not have brought to its end. */
  readonly begun: BuildState | undefined
}

const createFolding = (parts: RebuildParts, { generation, kept, begun }: Work) => {
  const { workshop } = parts
  let unfinished = begun
  let isBegun = begun !== undefined
  let target: BuildTarget | undefined
  let events = 0
  let rejected = 0
  const close = async () => {
    await target?.close()
    target = undefined
  }
  const foldTo = async ({ ends, workers, owed }: Pick<BuildState, 'ends' | 'workers' | 'owed'>) => {
    await kept.change({ ends, workers, owed, place: workshop.place })
    const built = await foldOnce(parts, { generation, kept })
    events += built.events
    rejected += built.rejected
    isBegun = true
  }
  /** First to the ends that it was begun with, as it was begun; then on to where the serving one stands, unless its items are being copied already. */
  const fold = async (): Promise<BuildTarget> => {
    await close()
    if (unfinished !== undefined) await foldTo(unfinished)
    unfinished = undefined
    const { ends: reached, copied } = kept.state()
    const ends = copied === undefined ? await servedEnds(parts, reached) : reached
    const missing = totalOf(ends) - totalOf(reached)
    if (missing > 0 || !isBegun) await foldTo({ ends, workers: workshop.workers?.(missing) ?? 1, owed: await owedIn(parts, ends) })
    target = await workshop.open(generation)
    return target
  }
  return { fold, close, opened: () => target, events: () => events, rejected: () => rejected }
}

const foldOnce = async (parts: RebuildParts, { generation, kept }: Omit<Work, 'begun'>): Promise<Built> => {
  const { domain, log, codec, workshop, writesPerSecond } = parts
  const { signal } = kept
  const { ends, workers, owed } = kept.state()
  const progress = (done: number) => kept.tell({ what: 'folded', done, of: totalOf(ends) })
  const paced = writesPerSecond === undefined ? {} : { writesPerSecond, workingSet: workingSetOf(writesPerSecond / workers) }
  const work = { log, codec, generation, ends, owed, progress, signal, ...paced }
  if (workers > 1 && workshop.share !== undefined) return workshop.share({ ...work, workers })
  const target = await workshop.open(generation)
  const series = workshop.series?.(generation)
  try {
    return await build({ ...work, domain, series, target: pacedTarget(target, paceOf(parts)) })
  } finally {
    await series?.close()
    await target.close()
  }
}

const paceOf = ({ clock, writesPerSecond, signal }: Pick<RebuildParts, 'clock' | 'writesPerSecond' | 'signal'>): Pace | undefined =>
  writesPerSecond === undefined ? undefined : createPace({ clock, perSecond: writesPerSecond, ...(signal === undefined ? {} : { signal }) })

/** About a second's writes, so that they come evenly. */
const workingSetOf = (perSecond: number): number => Math.min(16 * 1024 * 1024, Math.max(16 * 1024, perSecond * 1024))

export const pacedTarget = (target: BuildTarget, pace: Pace | undefined): BuildTarget => {
  if (pace === undefined) return target
  const write: BuildTarget['write'] = async (puts, removes, checkpoints) => {
    await pace(puts.length + removes.length)
    await target.write(puts, removes, checkpoints)
  }
  return { ...target, write }
}

/** Not past what the serving generation has done: what lies behind that is followed live, and only live events are sent. */
const servedEnds = async ({ log, served }: RebuildParts, reached: Positions): Promise<Positions> => {
  const ends = atMost(await endsOf(log), await served.checkpoints())
  return new Map([...ends].map(([partition, end]) => [partition, Math.max(end, reached.get(partition) ?? 0)]))
}

/** Read after the checkpoints: every key that is parked before them is listed by then. */
const owedIn = async ({ served }: RebuildParts, ends: Positions): Promise<readonly Owed[]> =>
  [...(await standingIn(served, ends)).map(({ projection, key, offset }) => ({ projection, key, offset })), ...((await served.lost?.()) ?? [])]
