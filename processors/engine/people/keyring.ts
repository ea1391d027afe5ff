import { randomBytes } from 'node:crypto'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { Fault } from '../../../schemas/fault.ts'
import { sealingKey } from '../../../schemas/sealing.ts'
import type { Sealing, SealingKey } from '../../../schemas/sealing.ts'
import { refusalOf } from './key-store-rules.ts'
import { KEY_AGE_MS, type KeyStore, type Person, type PersonalLogKey } from '../ports/key-store.ts'

/** The keys of the key store that are in memory. With them, a codec seals and opens personal data without await. */
export interface Keyring {
  /** Returns the functions with which the codec of one domain seals and opens personal data. */
  sealing(domain: string): Sealing
  /** Removes a person from memory. Called after a step that can have changed the person's keys. */
  evict(subject: string): void
}

interface CachedPerson {
  readonly key: SealingKey | undefined
  readonly destroyed: readonly string[]
  readonly forgetting: boolean
  /** The log keys that the key store stored while the person had this key. They stay stored until the key is destroyed. */
  readonly logKeys: Set<string>
  readonly until: number
}

export interface KeyringOptions {
  readonly now: () => number
  /** The maximum number of people in memory. */
  readonly limit?: number
}

const LIMIT = 50_000
/** The maximum number of log keys in memory, per person. */
const LOG_KEYS = 10_000

/** The operations of the key store that a keyring uses. */
export type KeySource = Pick<KeyStore, 'founding' | 'peek' | 'load' | 'ensureKeys'>

export const createKeyring = (store: KeySource, { now, limit = LIMIT }: KeyringOptions): Keyring => {
  const people = new Map<string, CachedPerson>()
  const add = (subject: string, person: Person | undefined, readAt = now()): CachedPerson => {
    const before = people.get(subject)
    const cached = cachedFrom(person, {
      until: readAt + KEY_AGE_MS,
      logKeys: before?.key !== undefined && before.key.id === person?.key?.id ? before.logKeys : new Set(),
    })
    people.delete(subject)
    // Removes the oldest entries first, because a map keeps the order of insertion.
    if (people.size >= limit)
      for (const oldest of people.keys())
        if (people.size >= limit) people.delete(oldest)
        else break
    people.set(subject, cached)
    return cached
  }
  const find = (subject: string): CachedPerson | undefined => {
    const cached = people.get(subject)
    if (cached !== undefined && cached.until > now()) return cached
    return store.peek && add(subject, store.peek(subject))
  }
  const load = async (subjects: readonly string[]): Promise<void> => {
    const readAt = now()
    const loaded = await store.load(subjects)
    for (const [index, subject] of subjects.entries()) add(subject, loaded[index], readAt)
  }
  const createKeys = async (wanted: ReadonlyMap<string, readonly PersonalLogKey[]>): Promise<void> => {
    const readAt = now()
    const entries = await store.ensureKeys(wanted)
    for (const [subject, places] of wanted) {
      const { logKeys } = add(subject, entries.get(subject), readAt)
      if (logKeys.size > LOG_KEYS) logKeys.clear()
      for (const place of places) logKeys.add(nameOf(place))
    }
  }
  const parts: Parts = { store, people, find, load, createKeys }
  return { sealing: (domain) => sealingOf(parts, domain), evict: (subject) => void people.delete(subject) }
}

interface Parts {
  readonly store: KeySource
  readonly people: Map<string, CachedPerson>
  find(subject: string): CachedPerson | undefined
  load(subjects: readonly string[]): Promise<void>
  createKeys(wanted: ReadonlyMap<string, readonly PersonalLogKey[]>): Promise<void>
}

const sealingOf = ({ store, people, find, load, createKeys: createMissing }: Parts, domain: string): Sealing => {
  const ends = new Map((store.founding.plainBefore[domain] ?? []).map(({ partition, offset }) => [partition, offset]))
  /** The keys (`subject id`) that were missing in the key store when their person was last read. */
  const missingOnce = new Set<string>()
  const createKeys: Sealing['createKeys'] = (events) => {
    const wanted = new Map<string, PersonalLogKey[]>()
    for (const { subjectId, key } of events) {
      if (subjectId === null || isStored(find(subjectId), nameOf({ domain, key }))) continue
      wanted.set(subjectId, [...(wanted.get(subjectId) ?? []), { domain, key }])
    }
    return wanted.size === 0 ? undefined : createMissing(wanted)
  }
  return {
    createKeys,
    load,
    current: (event) => {
      const subject = event.subjectId ?? ''
      const person = find(subject)
      if (person?.key !== undefined) return person.key
      const destroyed = person?.destroyed.at(-1)
      // A fold derives an event about a person who is forgotten, from an event about somebody else. Folding must not wait for a new key, because
      // forgetting waits for the fold. The random key is stored nowhere, so the field reads as forgotten.
      if (destroyed !== undefined && refusalOf(subject, person) !== undefined)
        return sealingKey(destroyed, randomBytes(32))
      // Errors are ignored here: before its next attempt, the caller creates the keys itself and receives the error.
      createKeys([event])
        ?.catch(() => load([subject]))
        .catch(() => undefined)
      throw notLoaded(subject)
    },
    opening: (subject, id) => {
      const person = find(subject)
      if (person === undefined) throw notLoaded(subject)
      if (person.key?.id === id) return person.key
      if (person.destroyed.includes(id)) return FORGOTTEN
      people.delete(subject)
      if (missingOnce.delete(`${subject} ${id}`)) throw missing(subject, id)
      // Another process can have created the key after the last read. So the person is read again before the key counts as missing.
      missingOnce.add(`${subject} ${id}`)
      throw notLoaded(subject)
    },
    isPlain: (at) => at === undefined || at.offset < (ends.get(at.partition) ?? 0),
  }
}

const isStored = (person: CachedPerson | undefined, logKey: string): boolean =>
  person?.key !== undefined && !person.forgetting && person.logKeys.has(logKey)

const cachedFrom = (
  person: Person | undefined,
  { until, logKeys }: Pick<CachedPerson, 'until' | 'logKeys'>,
): CachedPerson => ({
  key: person?.key && sealingKey(person.key.id, person.key.bytes),
  destroyed: person?.destroyed ?? [],
  forgetting: person?.forgetting ?? false,
  logKeys,
  until,
})

const nameOf = ({ domain, key }: PersonalLogKey): string => `${domain}\u0000${key}`

const notLoaded = (subject: string): Fault =>
  new Fault(
    'key-not-loaded',
    `The key of ${subject} is not in memory. The program loads it and repeats the operation.`,
    { retriable: true },
  )

/**
 * This fault is retriable, because an operator can restore the key store. Until then the events wait, and nothing is parked or shown as
 * forgotten.
 */
const missing = (subject: string, id: string): Fault =>
  new Fault(
    'key-missing',
    `An event about ${subject} is sealed with the key ${id}, which the key store does not contain and did not destroy. Restore the key store from its backup. Until then nothing is folded past this event.`,
    { retriable: true },
  )
