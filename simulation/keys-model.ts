import { hash } from 'node:crypto'
import { createKeyring, type Keyring, type KeySource } from '../processors/engine/people/keyring.ts'
import { type Founding, type KeyStore, type Person, type PersonalLogKey } from '../processors/engine/ports/key-store.ts'
import type { Secret } from '../processors/engine/ports/secrets.ts'
import type { Domain } from '../projections/projection.ts'
import { isPart, personOf } from '../projections/subject.ts'
import { openCodec, type Codec } from '../schemas/codec.ts'
import { Fault } from '../schemas/fault.ts'
import type { Sealing } from '../schemas/sealing.ts'
import type { Operation } from './calls.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import { afterStep, NO_SECRET, refusalOf, throwFirst } from '../processors/engine/people/key-store-rules.ts'

/** The keys of people. They outlive every process. */
export interface KeyTable {
  readonly founding: Founding
  readonly people: Map<string, Person>
  /** The log keys with data of people, by subject. */
  readonly places: Map<string, readonly PersonalLogKey[]>
  /** The secrets of people, by subject and then by name. */
  readonly secrets: Map<string, Map<string, Secret>>
  readonly embedded: boolean
  /** The number of keys ever made. */
  made: number
}

export const createKeyTable = (
  embedded: boolean,
  founding: Founding = { id: 'simulated', plainBefore: {} },
): KeyTable => ({ founding, people: new Map(), places: new Map(), secrets: new Map(), embedded, made: 0 })

/** The number of log keys per page. It is small, so that many people have several pages. */
const PAGE = 1

const throttled = () =>
  new Fault('store-throttled', 'The simulated key store is throttled. Try again.', { retriable: true })
const unavailable = () =>
  new Fault('store-unavailable', 'The simulated key store did not answer. Try again.', { retriable: true })

const addPlaces = (table: KeyTable, subject: string, places: readonly PersonalLogKey[]): Person => {
  const person = table.people.get(subject) ?? { key: undefined, destroyed: [], forgetting: false }
  if (person.key === undefined) table.made += 1
  const secret = hash('sha256', `key ${table.made} of ${subject}`, 'buffer')
  const stored = table.places.get(subject) ?? []
  const fresh = places.filter(
    ({ domain, key }, index) =>
      ![...stored, ...places.slice(0, index)].some((known) => known.domain === domain && known.key === key),
  )
  const entry = { ...person, key: person.key ?? { id: secret.toString('hex', 0, 8), bytes: secret } }
  table.people.set(subject, entry)
  table.places.set(subject, [...stored, ...fresh])
  return entry
}

const writeSecret = (
  table: KeyTable,
  { subject, name }: { readonly subject: string; readonly name: string },
  { expect, value }: { readonly expect: number; readonly value: string },
): Secret | undefined => {
  throwFirst([refusalOf(subject, table.people.get(subject))])
  const named = table.secrets.get(subject) ?? new Map<string, Secret>()
  const stored = named.get(name) ?? NO_SECRET
  if (stored.version !== expect) return stored
  addPlaces(table, subject, [])
  table.secrets.set(subject, named.set(name, { version: expect + 1, value }))
  return undefined
}

/** The key store port, for one process. */
export const keyStoreFor = (scheduler: Scheduler, process: Process, table: KeyTable): KeyStore => {
  const call = <T>(port: string, work: Pick<Operation<T>, 'steps' | 'unknown'>) =>
    scheduler.call<T>(process, { port, refused: throttled, prompt: true, ...work })
  const { people, secrets, founding, embedded } = table
  return {
    founding,
    shared: !embedded,
    ...(embedded ? { peek: (subject: string) => people.get(subject) } : {}),
    load: (subjects) =>
      call('keys.load', {
        *steps() {
          return subjects.map((subject) => people.get(subject))
        },
      }),
    ensureKeys: (wanted) =>
      call('keys.keep', {
        *steps() {
          throwFirst([...wanted.keys()].map((subject) => refusalOf(subject, people.get(subject))))
          return new Map([...wanted].map(([subject, places]) => [subject, addPlaces(table, subject, places)]))
        },
        unknown: unavailable,
      }),
    async *places(subject) {
      for (let from = 0; ; from += PAGE) {
        const page = await call('keys.places', {
          *steps() {
            return (table.places.get(subject) ?? []).slice(from, from + PAGE)
          },
        })
        if (page.length > 0) yield page
        if (page.length < PAGE) return
      }
    },
    parts: (person) =>
      call('keys.parts', {
        *steps() {
          return [...people.keys()].filter((subject) => isPart(subject) && personOf(subject) === person).sort()
        },
      }),
    step: (subject, step) =>
      call('keys.step', {
        *steps() {
          const person = people.get(subject)
          const after = person && afterStep(person, step)
          if (after) people.set(subject, after)
          if (after && step === 'forgotten') table.places.delete(subject)
          if (step === 'destroyed') secrets.delete(subject)
        },
        unknown: unavailable,
      }),
    secrets: {
      read: (subject, name) =>
        call('keys.secret', {
          *steps() {
            return secrets.get(subject)?.get(name)
          },
        }),
      write: (subject, name, next) =>
        call('keys.write', {
          *steps() {
            return writeSecret(table, { subject, name }, next)
          },
          unknown: unavailable,
        }),
      drop: (subject, name) =>
        call('keys.drop', {
          *steps() {
            secrets.get(subject)?.delete(name)
          },
          unknown: unavailable,
        }),
    },
    close: async () => undefined,
  }
}

/** The keys that the shared codec uses during one call. The codec is synchronous, so no other process calls the codec during this call. */
let activeSealing: Sealing | undefined
const requireSealing = (): Sealing => {
  if (activeSealing === undefined) throw new Error('The shared codec was used outside withSealing.')
  return activeSealing
}
const activeKeys: Sealing = {
  current: (subject) => requireSealing().current(subject),
  opening: (subject, id) => requireSealing().opening(subject, id),
  isPlain: (at) => requireSealing().isPlain(at),
  createKeys: (events) => requireSealing().createKeys(events),
  load: (subjects) => requireSealing().load(subjects),
}

/** The shared codecs, by the folder that contains the schemas. */
const codecs = new Map<string | undefined, Codec>()
const sharedCodec = (folder: URL | undefined): Codec => {
  const codec = codecs.get(folder?.href) ?? openCodec({ sealing: activeKeys, folder })
  codecs.set(folder?.href, codec)
  return codec
}

const withSealing = <T>(sealing: Sealing, work: () => T): T => {
  activeSealing = sealing
  try {
    return work()
  } finally {
    activeSealing = undefined
  }
}

/** Returns the codec of a domain with the keys of one process. Internally, all processes share one codec, because opening a codec is slow. */
export const codecOver = (sealing: Sealing, { schemas }: Pick<Domain, 'schemas'>): Codec => {
  const codec = sharedCodec(schemas)
  return {
    encode: (event) => withSealing(sealing, () => codec.encode(event)),
    decode: (value, at) => withSealing(sealing, () => codec.decode(value, at)),
    keysFor: (events) => withSealing(sealing, () => codec.keysFor?.(events)),
    keysOf: (values) => withSealing(sealing, async () => codec.keysOf?.(values)),
  }
}

/** Returns a codec that reads the log with the keys that are not destroyed, without port calls. */
export const readingCodec = (table: KeyTable, domain: Pick<Domain, 'name' | 'schemas'>): Codec => {
  const store: KeySource = {
    founding: table.founding,
    peek: (subject) => table.people.get(subject),
    load: async () => [],
    ensureKeys: async () => new Map(),
  }
  return codecOver(createRing(store, () => 0).sealing(domain.name), domain)
}

export const createRing = (store: KeySource, now: () => number): Keyring => createKeyring(store, { now })
