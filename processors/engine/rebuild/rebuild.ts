import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { isFault } from '../../../schemas/fault.ts'
import { build, type Built } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import { claim, type BuildPlace } from '../generations/claim.ts'
import type { Clock } from '../ports/clock.ts'
import { keepBuildLease, type BuildLease, type Progress } from './build-lease.ts'
import type { Control } from '../generations/control.ts'
import { copy } from './copying.ts'
import { countArmedBefore } from '../asks/waiting.ts'
import { parkedKeysIn } from '../generations/flip.ts'
import type { Log } from '../ports/log.ts'
import type { ReplacedGeneration } from '../generations/lost.ts'
import type { VerdictReader } from '../poison/verdicts.ts'
import { createPace } from '../timing/pace.ts'
import { parkedIn, type StoredParked } from '../poison/parked-entry.ts'
import { atMost, endsOf, totalOf, type Positions } from '../generations/positions.ts'
import type { Series } from '../ports/series.ts'
import { refuseTrimmed } from '../generations/trimmed.ts'
import type { BuildState, UnsentEvents } from '../generations/generation.ts'
import { KEY_AGE_MS } from '../ports/key-store.ts'
import type { Pace, Store } from '../ports/store.ts'

/** The input of a build. */
export interface BuildWork {
  readonly log: Pick<Log, 'read'> & Partial<VerdictReader>
  readonly codec: Codec
  readonly generation: number
  readonly ends: Positions
  /**
   * The events for which the build writes outbox rows: the events of keys that are parked in the serving generation. If the table of the
   * serving generation is missing, also all events since that generation began to serve.
   */
  readonly unsent: readonly UnsentEvents[]
  readonly progress: (events: number) => void
  readonly workingSet?: number
  readonly writesPerSecond?: number
  readonly signal?: AbortSignal
}

/** The storage of builds: their local stores and the tables of the generations. */
export interface BuildStorage extends BuildPlace {
  /** Opens the local store of a build. For an embedded generation it is the generation's own table. */
  open(generation: number): Promise<BuildTarget>
  /** Opens the points of the generation; the caller closes them. Absent if the domain has no points. */
  series?(generation: number): Series
  /** The best number of workers for this number of events. Default: 1. */
  workers?(events: number): number
  /** Builds the local store with several threads. Absent: one thread builds it. */
  share?(work: BuildWork & { readonly workers: number }): Promise<Built>
  /** Opens the generation's table. Absent if the local store is that table. */
  copyTo?(generation: number): Promise<Store>
  /** Removes the files of a build that has ended. */
  clear?(generation: number): Promise<void>
  /** Removes the files of a build and the generation's table. */
  discard(generation: number): Promise<void>
}

export interface RebuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read' | 'watermarks'>
  readonly codec: Codec
  readonly clock: Clock
  readonly control: Pick<Control, 'generations' | 'begin' | 'resume' | 'renew' | 'release' | 'follow'>
  readonly served: ReplacedGeneration
  /** The name of the holder of the lease. Only one rebuild of a domain runs at a time. */
  readonly holder: string
  readonly storage: BuildStorage
  /** The half-built generation to resume. Default: begin a new one. */
  readonly resume?: number
  readonly writesPerSecond?: number
  readonly signal?: AbortSignal
  readonly progress?: (progress: Progress) => void
}

export interface Rebuilt {
  readonly generation: number
  /** The number of events that this run folded. */
  readonly events: number
  readonly parked: readonly StoredParked[]
  /** The number of points that the series store rejected. */
  readonly rejected: number
  /** The number of events whose derived events are not sent because they are too old. Only if the table of the serving generation was lost. */
  readonly omitted: number
  /** The number of asks that change something outside. If the generation serves, they wait for an operator. */
  readonly changingAsks: number
}

/** A running build. No processor follows the generation before the build is finished. A build that was left unfinished can be resumed. */
export interface Building {
  readonly generation: number
  /** Folds up to the present checkpoints of the serving generation. Resolves to the open local store. */
  fold(): Promise<BuildTarget>
  /** The positions up to which the build has folded. */
  ends(): Positions
  /** Copies the items to the generation's table, if the local store is not that table. From then on processors follow the generation. */
  finish(): Promise<Rebuilt>
  /** Releases the lease and the lock. A build that is not finished stays half-built. */
  leave(): Promise<void>
}

/**
 * Builds the next generation next to the serving one, up to fixed ends. Processors then follow the generation and fold the events after
 * these ends. If a person is forgotten during the build, builds a new generation instead.
 */
export const rebuild = async (parts: RebuildParts): Promise<Rebuilt> => {
  const { resume, ...anew } = parts
  for (let next = parts; ; next = anew) {
    try {
      return await rebuildOnce(next)
    } catch (error) {
      if (!isFault(error, 'build-outdated')) throw error
      // After this pause, no process has in memory a key that was destroyed during the build.
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
    if (isFault(error, 'build-outdated')) await parts.storage.discard(building.generation)
    throw error
  } finally {
    await building.leave()
  }
}

/** Claims the generation to build, and keeps its lease until the build ends. */
export const startBuild = async (parts: RebuildParts): Promise<Building> => {
  const { domain, control, holder, storage, log } = parts
  // A resumed build is not refused here: it may have folded the removed events before their removal. If it has not, its read of the log fails.
  if (parts.resume === undefined) await refuseTrimmed(domain.topic, log)
  const { generation: made, lock } = await claim(parts)
  const { generation } = made
  // The build has folded nothing yet. So files with this generation number are from a time before the control table was lost and restored,
  // and are removed.
  if (made.work === undefined) await storage.discard(generation)
  const lease = keepBuildLease(parts, made)
  const folding = createFolding({ ...parts, signal: lease.signal }, { generation, lease, begun: made.work })
  const finish = async (): Promise<Rebuilt> => {
    const built = folding.opened() ?? (await folding.fold())
    const parked = await parkedIn(built, lease.state().ends.keys())
    const { ends } = lease.state()
    const changingAsks = await countArmedBefore({
      reader: built.reader(() => 0),
      partitions: ends.size,
      period: { generation, from: ends, parked: new Map() },
    })
    if (storage.copyTo !== undefined)
      await copy({
        from: built,
        to: await storage.copyTo(generation),
        lease,
        pace: paceOf({ ...parts, signal: lease.signal }),
      })
    await folding.close()
    await lease.stop()
    await control.follow(domain.name, generation, holder)
    await storage.clear?.(generation)
    return {
      generation,
      events: folding.events(),
      parked,
      rejected: folding.rejected(),
      omitted: folding.omitted(),
      changingAsks,
    }
  }
  const leave = async () => {
    await lease.stop()
    await folding.close()
    await control.release(domain.name, holder).catch(() => undefined)
    await lock.release()
  }
  return { generation, fold: folding.fold, ends: () => lease.state().ends, finish, leave }
}

interface OwnBuild {
  readonly generation: number
  readonly lease: BuildLease
  /** The state of an earlier run of this build, which may not have reached its ends. Undefined if the build is new. */
  readonly begun: BuildState | undefined
}

const createFolding = (parts: RebuildParts, { generation, lease, begun }: OwnBuild) => {
  const { storage } = parts
  let unfinished = begun
  let isBegun = begun !== undefined
  let target: BuildTarget | undefined
  let events = 0
  let [rejected, omitted] = [0, 0]
  const close = async () => {
    await target?.close()
    target = undefined
  }
  const foldTo = async ({ ends, workers, unsent }: Pick<BuildState, 'ends' | 'workers' | 'unsent'>) => {
    await lease.change({ ends, workers, unsent, place: storage.place })
    const built = await foldOnce(parts, { generation, lease })
    events += built.events
    rejected += built.rejected
    omitted += built.omitted
    isBegun = true
  }
  /**
   * Folds first to the ends of the earlier run, with the parameters of that run. Then folds up to the checkpoints of the serving
   * generation, unless the copy of the items has begun.
   */
  const fold = async (): Promise<BuildTarget> => {
    await close()
    if (unfinished !== undefined) await foldTo(unfinished)
    unfinished = undefined
    const { ends: folded, copied } = lease.state()
    const ends = copied === undefined ? await servedEnds(parts, folded) : folded
    const missing = totalOf(ends) - totalOf(folded)
    if (missing > 0 || !isBegun)
      await foldTo({ ends, workers: storage.workers?.(missing) ?? 1, unsent: await unsentIn(parts, ends) })
    target = await storage.open(generation)
    return target
  }
  return { fold, close, opened: () => target, events: () => events, rejected: () => rejected, omitted: () => omitted }
}

const foldOnce = async (parts: RebuildParts, { generation, lease }: Omit<OwnBuild, 'begun'>): Promise<Built> => {
  const { domain, log, codec, storage, writesPerSecond } = parts
  const { signal } = lease
  const { ends, workers, unsent } = lease.state()
  const progress = (done: number) => lease.report({ what: 'folded', done, of: totalOf(ends) })
  const paced =
    writesPerSecond === undefined ? {} : { writesPerSecond, workingSet: workingSetOf(writesPerSecond / workers) }
  const work = { log, codec, generation, ends, unsent, progress, signal, ...paced }
  if (workers > 1 && storage.share !== undefined) return storage.share({ ...work, workers })
  const target = await storage.open(generation)
  const series = storage.series?.(generation)
  try {
    return await build({ ...work, domain, series, target: pacedTarget(target, paceOf(parts)) })
  } finally {
    await series?.close()
    await target.close()
  }
}

const paceOf = ({
  clock,
  writesPerSecond,
  signal,
}: Pick<RebuildParts, 'clock' | 'writesPerSecond' | 'signal'>): Pace | undefined =>
  writesPerSecond === undefined
    ? undefined
    : createPace({ clock, perSecond: writesPerSecond, ...(signal === undefined ? {} : { signal }) })

/** Returns the size of the working set in bytes for about one second of writes. With a larger one, writes would be rare and large instead of even. */
const workingSetOf = (perSecond: number): number => Math.min(16 * 1024 * 1024, Math.max(16 * 1024, perSecond * 1024))

/** Returns the target with its writes limited to the given pace. */
export const pacedTarget = (target: BuildTarget, pace: Pace | undefined): BuildTarget => {
  if (pace === undefined) return target
  const write: BuildTarget['write'] = async (puts, removes, checkpoints) => {
    await pace(puts.length + removes.length)
    await target.write(puts, removes, checkpoints)
  }
  return { ...target, write }
}

/**
 * Returns the checkpoints of the serving generation, but not less than `folded`. The build does not fold past these positions: it sends no
 * derived events, so a processor must fold all events that the serving generation has not folded.
 */
const servedEnds = async ({ log, served }: RebuildParts, folded: Positions): Promise<Positions> => {
  const ends = atMost(await endsOf(log), await served.checkpoints())
  return new Map([...ends].map(([partition, end]) => [partition, Math.max(end, folded.get(partition) ?? 0)]))
}

/**
 * Returns the events for which this build writes outbox rows. The parked entries must be read after the checkpoints: only then do they
 * include every key that was parked before these checkpoints.
 */
const unsentIn = async ({ served }: RebuildParts, ends: Positions): Promise<readonly UnsentEvents[]> => [
  ...(await parkedKeysIn(served, ends)).map(({ projection, key, offset }) => ({ projection, key, offset })),
  ...((await served.unsentIfLost?.()) ?? []),
]
