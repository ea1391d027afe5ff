import { FORGOTTEN } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'
import { sealingKey } from '../../schemas/sealing.ts'
import type { Sealing, SealingKey } from '../../schemas/sealing.ts'
import type { KeyStore, Person, Place } from './key-store.ts'

/** Keys in memory, over the key store: what seals and opens without await. */
export interface Keyring {
  /** As the codec of one domain uses it. */
  sealing(domain: string): Sealing
  /** The person's keys changed, or may have. */
  evict(subject: string): void
}

interface Held {
  readonly key: SealingKey | undefined
  readonly destroyed: readonly string[]
  readonly forgetting: boolean
  readonly places: Set<string>
  readonly until: number
}

export interface KeyringOptions {
  readonly now: () => number
  /** People held at most. */
  readonly limit?: number
}

/** How long a key may be used after it was destroyed by another process: `forget` waits for so long. */
export const KEY_AGE_MS = 5_000
const LIMIT = 50_000

export const createKeyring = (store: KeyStore, { now, limit = LIMIT }: KeyringOptions): Keyring => {
  const held = new Map<string, Held>()
  const hold = (subject: string, person: Person | undefined, asked = now()): Held => {
    const made = heldOf(person, asked + KEY_AGE_MS)
    // The oldest go first: a map keeps the order in which its keys came.
    if (held.size >= limit) for (const oldest of held.keys()) if (held.size >= limit) held.delete(oldest); else break
    held.set(subject, made)
    return made
  }
  const find = (subject: string): Held | undefined => {
    const known = held.get(subject)
    if (known !== undefined && known.until > now()) return known
    held.delete(subject)
    return store.peek && hold(subject, store.peek(subject))
  }
  const load = async (subjects: readonly string[]): Promise<void> => {
    const asked = now()
    const people = await store.load(subjects)
    for (const [index, subject] of subjects.entries()) hold(subject, people[index], asked)
  }
  const parts: Parts = { store, held, find, load }
  return { sealing: (domain) => sealingOf(parts, domain), evict: (subject) => void held.delete(subject) }
}

interface Parts {
  readonly store: KeyStore
  readonly held: Map<string, Held>
  find(subject: string): Held | undefined
  load(subjects: readonly string[]): Promise<void>
}

const sealingOf = ({ store, held, find, load }: Parts, domain: string): Sealing => {
  const ends = new Map((store.founding.plainBefore[domain] ?? []).map(({ partition, offset }) => [partition, offset]))
  const doubted = new Set<string>()
  const keep: Sealing['keep'] = (said) => {
    const people = new Map<string, Place[]>()
    for (const { subjectId, key } of said) {
      if (subjectId === null || isKept(find(subjectId), placeName({ domain, key }))) continue
      people.set(subjectId, [...(people.get(subjectId) ?? []), { domain, key }])
    }
    if (people.size === 0) return undefined
    return store.keep(people).then(() => {
      for (const subject of people.keys()) held.delete(subject)
      return load([...people.keys()])
    })
  }
  return {
    keep,
    load,
    current: (said) => {
      const subject = said.subjectId ?? ''
      const key = find(subject)?.key
      if (key !== undefined) return key
      // Told again by whoever asks next.
      keep([said])?.catch(() => undefined)
      throw notLoaded(subject)
    },
    opening: (subject, id) => {
      const person = find(subject)
      if (person === undefined) throw notLoaded(subject)
      if (person.key?.id === id) return person.key
      if (person.destroyed.includes(id)) return FORGOTTEN
      held.delete(subject)
      if (doubted.delete(`${subject} ${id}`)) throw missing(subject, id)
      // Perhaps made by another process since the person was last looked at.
      doubted.add(`${subject} ${id}`)
      throw notLoaded(subject)
    },
    isPlain: (at) => at === undefined || at.offset < (ends.get(at.partition) ?? 0),
  }
}

const isKept = (person: Held | undefined, place: string): boolean => person?.key !== undefined && !person.forgetting && person.places.has(place)

const heldOf = (person: Person | undefined, until: number): Held => ({
  key: person?.key && sealingKey(person.key.id, person.key.bytes),
  destroyed: person?.destroyed ?? [],
  forgetting: person?.forgetting ?? false,
  places: new Set(person?.places.map(placeName)),
  until,
})

const placeName = ({ domain, key }: Place): string => `${domain}\u0000${key}`

const notLoaded = (subject: string): Fault =>
  new Fault('key-not-loaded', `The key of ${subject} is not in memory. It is fetched, and what needed it is tried again.`, { retriable: true })

/** Retriable, since only who keeps the keys can mend it: the events wait, and nothing is parked or shown as forgotten. */
const missing = (subject: string, id: string): Fault =>
  new Fault('key-missing', `An event about ${subject} is sealed with the key ${id}, which the key store neither has nor destroyed. Restore the key store from its backup; nothing is folded past this event until then.`, { retriable: true })
