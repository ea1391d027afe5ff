import { hash } from 'node:crypto'
import { createKeyring, type Keyring } from '../../processors/engine/keyring.ts'
import { afterStep, beingForgotten, type Founding, type KeyStore, type Person, type Place } from '../../processors/engine/key-store.ts'
import { openCodec, type Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Sealing } from '../../schemas/sealing.ts'
import type { Operation, Process, Scheduler } from './scheduler.ts'

/** The keys of people as they lie on disk: they outlive every process. */
export interface KeyTable {
  readonly founding: Founding
  readonly people: Map<string, Person>
  readonly embedded: boolean
  /** How many keys were ever made. */
  made: number
}

export const createKeyTable = (embedded: boolean, founding: Founding = { id: 'simulated', plainBefore: {} }): KeyTable => ({ founding, people: new Map(), embedded, made: 0 })

const throttled = () => new Fault('store-throttled', 'The simulated key store is throttled. Try again.', { retriable: true })
const unavailable = () => new Fault('store-unavailable', 'The simulated key store did not answer. Try again.', { retriable: true })

const keep = (table: KeyTable, subject: string, places: readonly Place[]) => {
  const was = table.people.get(subject) ?? { key: undefined, destroyed: [], places: [], forgetting: false }
  if (was.key === undefined) table.made += 1
  const secret = hash('sha256', `key ${table.made} of ${subject}`, 'buffer')
  const fresh = places.filter(({ domain, key }, index) => ![...was.places, ...places.slice(0, index)].some((known) => known.domain === domain && known.key === key))
  table.people.set(subject, { ...was, key: was.key ?? { id: secret.toString('hex', 0, 8), bytes: secret }, places: [...was.places, ...fresh] })
}

/** The key store port, for one process. */
export const keyStoreFor = (scheduler: Scheduler, process: Process, table: KeyTable): KeyStore => {
  const ask = <T>(port: string, work: Pick<Operation<T>, 'steps' | 'unknown'>) => scheduler.call<T>(process, { port, refused: throttled, prompt: true, ...work })
  const { people, founding, embedded } = table
  return {
    founding,
    shared: !embedded,
    ...(embedded ? { peek: (subject: string) => people.get(subject) } : {}),
    load: (subjects) => ask('keys.load', { *steps() { return subjects.map((subject) => people.get(subject)) } }),
    keep: (wanted) => ask('keys.keep', {
      *steps() {
        const refused = [...wanted.keys()].filter((subject) => people.get(subject)?.forgetting)
        for (const [subject, places] of wanted) if (!refused.includes(subject)) keep(table, subject, places)
        if (refused.length > 0) throw beingForgotten(refused)
      },
      unknown: unavailable,
    }),
    step: (subject, step) => ask('keys.step', {
      *steps() {
        const person = people.get(subject)
        const after = person && afterStep(person, step)
        if (after) people.set(subject, after)
      },
      unknown: unavailable,
    }),
    close: async () => undefined,
  }
}

/** Whose keys the one sealed codec works with: it is asked and answers without waiting, so that processes can take turns. */
let turn: Sealing | undefined
const whose = (): Sealing => {
  if (turn === undefined) throw new Error('nobody\'s turn to seal')
  return turn
}
const shared = openCodec({
  sealing: {
    current: (said) => whose().current(said),
    opening: (subject, id) => whose().opening(subject, id),
    isPlain: (at) => whose().isPlain(at),
    keep: (said) => whose().keep(said),
    load: (subjects) => whose().load(subjects),
  },
})

const inTurn = <T>(sealing: Sealing, work: () => T): T => {
  turn = sealing
  try {
    return work()
  } finally {
    turn = undefined
  }
}

/** The program's own codec with one process's keys; to make one for each life would be most of what a run costs. */
export const codecWith = (sealing: Sealing): Codec => ({
  encode: (event) => inTurn(sealing, () => shared.encode(event)),
  decode: (value, at) => inTurn(sealing, () => shared.decode(value, at)),
  keysFor: (events) => inTurn(sealing, () => shared.keysFor?.(events)),
  keysOf: (values) => inTurn(sealing, async () => shared.keysOf?.(values)),
})

/** Reads the log with the keys there are, as nobody's process. */
export const readingWith = (table: KeyTable, domain: string): Codec => {
  const nobody: KeyStore = { founding: table.founding, shared: false, peek: (subject) => table.people.get(subject), load: async () => [], keep: async () => undefined, step: async () => undefined, close: async () => undefined }
  return codecWith(ringOf(nobody, () => 0).sealing(domain))
}

export const ringOf = (store: KeyStore, now: () => number): Keyring => createKeyring(store, { now })
