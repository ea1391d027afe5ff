import { isNumberedPart, isPart, isSubjectOfProgram } from '../../../projections/subject.ts'
import { counted } from '../../../schemas/counted.ts'
import { Fault } from '../../../schemas/fault.ts'
import { KEY_AGE_MS, type KeyStore } from '../ports/key-store.ts'
import { followingGenerations } from '../run/open-generations.ts'
import type { Pipeline } from '../run/pipeline.ts'
import type { Keyring } from './keyring.ts'
import { plainPlaces, type PlainPlaces } from './plain-places.ts'
import { sweep, type SweepParts } from './sweeping.ts'
import { dropTombstones } from './tombstones.ts'

export interface ForgetParts extends SweepParts {
  readonly keys: KeyStore
  readonly ring: Keyring
  /** Drops a generation with its table. Resolves to a text for each part of the generation that this process cannot remove. */
  readonly drop: (pipeline: Pipeline, generation: number) => Promise<readonly string[]>
  /** Removes the files on this machine of a build that has ended, in case the builder crashed before it removed the files. */
  readonly clearBuild: (pipeline: Pipeline, generation: number) => Promise<void>
  readonly progress?: (text: string) => void
  /** The time for which a process that lost its partition can continue to write items. 0: only one process writes. */
  readonly fencedMs: number
}

export interface Forgot {
  readonly subject: string
  /**
   * `known`: this call has forgotten the person, or a part of the data (see `left`). `unknown`: there is no personal data about the person.
   * `before`: the person was forgotten before, and there is no new personal data.
   */
  readonly was: 'known' | 'unknown' | 'before'
  /** The parts of the person that this call has forgotten together with the person. */
  readonly parts: readonly string[]
  /** The number of log keys to which `PersonForgotten` was appended. */
  readonly places: number
  /** The number of items from which personal data was removed. */
  readonly items: number
  /** The number of the person's events from the time before personal data was sealed. Their plain text stays in the log. */
  readonly plain: number
  /** The reasons why the person is not completely forgotten. If there are any reasons, the command must be run again. */
  readonly left: readonly string[]
}

/**
 * Forgets a person with all parts, or one part of a person. Stops new keys, removes the personal data from the items, destroys the keys and the
 * secrets, removes the data that was added to the items in the meantime, and erases the data from the disks. Each step can be repeated, and
 * the key store records the steps. So after a crash at any point a second call has the same result.
 */
export const forget = async (parts: ForgetParts, subject: string): Promise<Forgot> => {
  if (isSubjectOfProgram(subject)) throw ofProgram(subject)
  const plain = await plainPlaces(parts, subject)
  const known = await isKnown(parts.keys, subject)
  const result = { subject, was: known, parts: [], places: 0, items: 0, plain: plain.events, left: [] }
  const done = new Set<string>()
  let forgot: Forgot = plain.places.length > 0 ? { ...result, was: 'known' } : result
  if (known === 'unknown') await createEntry(parts.keys, subject, plain)
  // The next iteration finds the parts that were created during this one.
  for (;;) {
    const subjects = (await subjectsToForget(parts.keys, subject)).filter((each) => !done.has(each))
    if (subjects.length === 0 || forgot.left.length > 0) return forgot
    for (const each of subjects) done.add(each)
    const { places, items, left } = await forgetSubjects(parts, subjects)
    const ofParts = [...done].filter((each) => each !== subject)
    forgot = {
      ...forgot,
      was: ofParts.length > 0 ? 'known' : forgot.was,
      parts: ofParts,
      places: forgot.places + places,
      items: forgot.items + items,
      left,
    }
  }
}

const ofProgram = (subject: string): Fault =>
  new Fault(
    'subject-of-program',
    `${subject} is not a person: the program stores data of its own under this name, and other data depends on it. Nothing was changed.`,
  )

const isKnown = async (keys: KeyStore, subject: string): Promise<Forgot['was']> => {
  const [person] = await keys.load([subject])
  if (person === undefined) return 'unknown'
  return person.key === undefined && !person.forgetting ? 'before' : 'known'
}

/**
 * Creates an entry in the key store, which records the progress, for a person whose events are all from the time before personal data was
 * sealed. Also for a numbered part, so that it accepts no data that arrives later.
 */
const createEntry = async (keys: KeyStore, subject: string, { places }: PlainPlaces): Promise<void> => {
  if (places.length > 0 || isNumberedPart(subject)) await keys.ensureKeys(new Map([[subject, places]]))
}

/** The person and the parts of the person that are not forgotten. */
const subjectsToForget = async (keys: KeyStore, subject: string): Promise<readonly string[]> => {
  const subjects = isPart(subject) ? [subject] : [subject, ...(await keys.parts(subject))]
  const people = await keys.load(subjects)
  return subjects.filter((_, index) => people[index]?.key !== undefined || people[index]?.forgetting === true)
}

const forgetSubjects = async (
  parts: ForgetParts,
  subjects: readonly string[],
): Promise<Pick<Forgot, 'places' | 'items' | 'left'>> => {
  const { keys, ring, clock, progress = () => undefined } = parts
  const step = async (name: Parameters<KeyStore['step']>[1]) => {
    for (const subject of subjects) {
      await keys.step(subject, name)
      ring.evict(subject)
    }
  }
  const names = subjects.join(', ')
  await step('forgetting')
  progress(`${names}: removing the personal data from the items`)
  const first = await sweep(parts, subjects)
  await step('destroyed')
  progress(`${names}: the ${subjects.length === 1 ? 'key is' : 'keys are'} destroyed`)
  // During this pause, another process can still seal events with its cached key. After the pause, the second sweep removes their data from
  // the items too.
  if (keys.shared) await clock.sleep(KEY_AGE_MS)
  const second = await sweep(parts, subjects)
  const swept = { places: second.places, items: first.items + second.items }
  if (second.left.length > 0) return { ...swept, left: second.left }
  const dropped = await dropTombstones(parts, subjects, second.pipelines)
  if (dropped > 0) progress(`${names}: ${counted(dropped, 'row')} of removed items are removed`)
  const left = await clear(parts, second.pipelines)
  if (left.length === 0) await step('forgotten')
  return { ...swept, left }
}

/** Removes the data that is on disks but in no item: builds that used the key, their files, and overwritten data. */
const clear = async (
  { drop, clearBuild }: ForgetParts,
  pipelines: ReadonlySet<Pipeline>,
): Promise<readonly string[]> => {
  const left: string[] = []
  for (const pipeline of pipelines) {
    const { name } = pipeline.domain
    await pipeline.control.endBuilds(name)
    for (const { generation, state } of await pipeline.control.generations(name))
      if (state === 'dropping') left.push(...(await drop(pipeline, generation)))
    for (const { generation, store } of await followingGenerations(pipeline)) {
      await clearBuild(pipeline, generation)
      await store.scrub?.()
    }
  }
  return left
}
