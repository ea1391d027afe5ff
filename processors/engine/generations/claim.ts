import { Fault } from '../../../schemas/fault.ts'
import type { Control } from './control.ts'
import type { Generation } from './generation.ts'
import { running, type Builder } from './lease.ts'

/** A lock that one process has until it releases the lock or ends for any reason. */
export interface Lock {
  release(): Promise<void>
}

/**
 * The place where builds store their files: a folder of one machine. A lock in this folder shows for certain whether the process of a build
 * is alive.
 */
export interface BuildPlace {
  readonly place: string
  /** Resolves to undefined if another process has the lock. */
  lock(generation: number): Promise<Lock | undefined>
}

export interface ClaimParts {
  readonly domain: Parameters<Control['begin']>[0]
  readonly control: Pick<Control, 'generations' | 'begin' | 'resume' | 'release'>
  readonly holder: string
  readonly storage: BuildPlace
  /** The half-built generation to resume. Default: begin a new one. */
  readonly resume?: number
}

export interface Claimed {
  readonly generation: Generation
  readonly lock: Lock
}

/**
 * Claims a generation to build: takes its lease and the lock of its local store. If the holder of the domain's lease is certainly dead,
 * takes the lease before it expires. Throws `rebuild-running` if another process builds.
 */
export const claim = async (parts: ClaimParts): Promise<Claimed> => {
  const { domain, control, holder, storage, resume } = parts
  const leased = (await control.generations(domain.name)).find(({ lease }) => lease !== undefined)
  const { lockOf, releaseOthers } = createLocks(storage)
  try {
    const isDead = leased?.lease?.place === storage.place && (await lockOf(leased.generation)) !== undefined
    const builder = { holder, place: storage.place, ...(isDead && leased.lease && { over: leased.lease.holder }) }
    if (resume !== undefined && (await lockOf(resume)) === undefined)
      throw running(domain.name, leased ?? { generation: resume })
    const generation =
      resume === undefined ? await control.begin(domain, builder) : await resumeBuild(parts, resume, builder)
    const lock = await lockOf(generation.generation)
    if (lock === undefined) throw running(domain.name, { generation: generation.generation })
    await releaseOthers(generation.generation)
    return { generation, lock }
  } catch (error) {
    await releaseOthers(undefined)
    throw error
  }
}

/** Resolves to true if a process builds the generation. A process on another machine counts as running until its lease expires. */
export const isBeingBuilt = async (
  { generation, lease }: Pick<Generation, 'generation' | 'lease'>,
  storage: BuildPlace,
): Promise<boolean> => {
  if (lease?.place !== storage.place) return lease !== undefined
  const lock = await storage.lock(generation)
  await lock?.release()
  return lock === undefined
}

/** Remembers the locks that `claim` has taken, so that it takes each lock at most once. */
const createLocks = (storage: BuildPlace) => {
  const locks = new Map<number, Lock>()
  const lockOf = async (generation: number): Promise<Lock | undefined> => {
    const lock = locks.get(generation) ?? (await storage.lock(generation))
    if (lock !== undefined) locks.set(generation, lock)
    return lock
  }
  const releaseOthers = async (claimed: number | undefined): Promise<void> => {
    for (const [generation, lock] of locks) if (generation !== claimed) await lock.release()
  }
  return { lockOf, releaseOthers }
}

const resumeBuild = async (
  { domain, control, storage }: ClaimParts,
  resume: number,
  builder: Builder,
): Promise<Generation> => {
  const generation = await control.resume(domain.name, resume, builder)
  const { work } = generation
  if (work === undefined || work.place === storage.place) return generation
  await control.release(domain.name, builder.holder)
  throw new Fault(
    'build-elsewhere',
    `Generation ${resume} of ${domain.name} is half-built at ${work.place}, not here (${storage.place}). Resume it there, or drop it: tributary generations ${domain.name} --drop ${resume}.`,
  )
}

/** The newest half-built generation of this fold version. Undefined if there is none. */
export const halfBuilt = (generations: readonly Generation[], foldVersion: number): Generation | undefined =>
  generations.filter((each) => each.state === 'building' && each.foldVersion === foldVersion).at(-1)
