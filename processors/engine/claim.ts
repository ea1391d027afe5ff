import { Fault } from '../../schemas/fault.ts'
import type { Control, Generation } from './control.ts'
import { running, type Lease } from './lease.ts'

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
  readonly control: Pick<Control, 'lease' | 'begin' | 'resume' | 'release'>
  readonly holder: string
  readonly workshop: Place
  /** Go on with this one, which was left half-built. */
  readonly resume?: number
}

export interface Claimed {
  readonly generation: Generation
  readonly lock: Lock
}

/** A generation to build, with the lease of the domain and the lock of its local store. A lease whose holder is dead for sure is taken at once. */
export const claim = async (parts: ClaimParts): Promise<Claimed> => {
  const lease = await parts.control.lease(parts.domain.name)
  return parts.resume === undefined ? begin(parts, lease) : goOn(parts, parts.resume, lease)
}

const begin = async ({ domain, control, holder, workshop }: ClaimParts, lease: Lease | undefined): Promise<Claimed> => {
  const left = lease?.place === workshop.place ? await workshop.lock(lease.generation) : undefined
  try {
    const over = lease !== undefined && left !== undefined ? { over: lease.holder } : {}
    const generation = await control.begin(domain, { holder, place: workshop.place, ...over })
    const lock = await workshop.lock(generation.generation)
    if (lock === undefined) throw running(domain.name, lease)
    return { generation, lock }
  } finally {
    await left?.release()
  }
}

const goOn = async ({ domain, control, holder, workshop }: ClaimParts, resume: number, lease: Lease | undefined): Promise<Claimed> => {
  const lock = await workshop.lock(resume)
  if (lock === undefined) throw running(domain.name, lease)
  try {
    const over = lease?.generation === resume && lease.place === workshop.place ? { over: lease.holder } : {}
    const generation = await control.resume(domain.name, resume, { holder, place: workshop.place, ...over })
    const { work } = generation
    if (work === undefined || work.place === workshop.place) return { generation, lock }
    await control.release(domain.name, holder)
    throw new Fault('build-elsewhere',
      `Generation ${resume} of ${domain.name} is half-built at ${work.place}, not here (${workshop.place}). Go on with it there, or drop it: tributary generations ${domain.name} --drop ${resume}.`)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The newest that was left half-built by folds of this version. */
export const halfBuilt = (generations: readonly Generation[], foldVersion: number): Generation | undefined =>
  generations.filter((each) => each.state === 'building' && each.foldVersion === foldVersion).at(-1)
