import { Fault } from '../../schemas/fault.ts'
import type { Control, Generation } from './control.ts'
import { running, type Builder } from './lease.ts'

/** Held by one process until it lets go of it or ends, however it ends. */
export interface Lock {
  release(): Promise<void>
}

/** Where builds work: a folder of a machine, in which a lock tells for sure whether a builder is still alive. */
export interface Place {
  readonly place: string
  /** Undefined while another process holds it. */
  lock(generation: number): Promise<Lock | undefined>
}

export interface ClaimParts {
  readonly domain: Parameters<Control['begin']>[0]
  readonly control: Pick<Control, 'generations' | 'begin' | 'resume' | 'release'>
  readonly holder: string
  readonly workshop: Place
  /** Go on with this one, which was left half-built. */
  readonly resume?: number
}

export interface Claimed {
  readonly generation: Generation
  readonly lock: Lock
}

/** A generation to build, with its lease and the lock of its local store. If the holder of a lease is certainly dead, the lease is taken at once. */
export const claim = async (parts: ClaimParts): Promise<Claimed> => {
  const { domain, control, holder, workshop, resume } = parts
  const leased = (await control.generations(domain.name)).find(({ lease }) => lease !== undefined)
  const { lockOf, releaseBut } = createLocks(workshop)
  try {
    const isDead = leased?.lease?.place === workshop.place && (await lockOf(leased.generation)) !== undefined
    const builder = { holder, place: workshop.place, ...(isDead && leased.lease && { over: leased.lease.holder }) }
    if (resume !== undefined && (await lockOf(resume)) === undefined) throw running(domain.name, leased ?? { generation: resume })
    const generation = resume === undefined ? await control.begin(domain, builder) : await goOn(parts, resume, builder)
    const lock = await lockOf(generation.generation)
    if (lock === undefined) throw running(domain.name, { generation: generation.generation })
    await releaseBut(generation.generation)
    return { generation, lock }
  } catch (error) {
    await releaseBut(undefined)
    throw error
  }
}

/** Returns true if a living process builds the generation, as far as this process can find out. */
export const isBeingBuilt = async ({ generation, lease }: Pick<Generation, 'generation' | 'lease'>, workshop: Place): Promise<boolean> => {
  if (lease?.place !== workshop.place) return lease !== undefined
  const lock = await workshop.lock(generation)
  await lock?.release()
  return lock === undefined
}

/** Each lock once, however often it is asked for. */
const createLocks = (workshop: Place) => {
  const locks = new Map<number, Lock>()
  const lockOf = async (generation: number): Promise<Lock | undefined> => {
    const lock = locks.get(generation) ?? (await workshop.lock(generation))
    if (lock !== undefined) locks.set(generation, lock)
    return lock
  }
  const releaseBut = async (kept: number | undefined): Promise<void> => {
    for (const [generation, lock] of locks) if (generation !== kept) await lock.release()
  }
  return { lockOf, releaseBut }
}

const goOn = async ({ domain, control, workshop }: ClaimParts, resume: number, builder: Builder): Promise<Generation> => {
  const generation = await control.resume(domain.name, resume, builder)
  const { work } = generation
  if (work === undefined || work.place === workshop.place) return generation
  await control.release(domain.name, builder.holder)
  throw new Fault('build-elsewhere',
    `Generation ${resume} of ${domain.name} is half-built at ${work.place}, not here (${workshop.place}). Go on with it there, or drop it: tributary generations ${domain.name} --drop ${resume}.`)
}

/** The newest that was left half-built by folds of this version. */
export const halfBuilt = (generations: readonly Generation[], foldVersion: number): Generation | undefined =>
  generations.filter((each) => each.state === 'building' && each.foldVersion === foldVersion).at(-1)
