import type { At } from '../../schemas/sealing.ts'

/** A data key as it is kept. */
export interface DataKey {
  /** Sixteen hex digits. */
  readonly id: string
  /** Thirty-two bytes. */
  readonly bytes: Uint8Array
}

/** A log key under which events about a person lie. */
export interface Place {
  readonly domain: string
  readonly key: string
}

/** What is kept about one person's keys. Nobody is known who never had one. */
export interface Person {
  readonly key: DataKey | undefined
  /** Ids of keys that were destroyed: what they sealed is forgotten, and not lost. */
  readonly destroyed: readonly string[]
  readonly places: readonly Place[]
  /** Since `forgetting` and until `forgotten`: no key is made meanwhile. */
  readonly forgetting: boolean
}

/** Told once, when the store is made: which one it is, and what of the logs is older than it (by domain, the ends of its partitions). */
export interface Founding {
  readonly id: string
  readonly plainBefore: { readonly [domain: string]: readonly At[] }
}

/** `forgetting` begins, `destroyed` takes the key's bytes away for good, `forgotten` ends it: the person may come back, as somebody new. */
export type Step = 'forgetting' | 'destroyed' | 'forgotten'

/** The key store port: data keys by person, kept apart from log and items. Every verb is on disk when it resolves. */
export interface KeyStore {
  readonly founding: Founding
  /** Reads without await, where the store can (embedded). */
  readonly peek?: (subject: string) => Person | undefined
  /** Several processes write: what is cached of it grows old. */
  readonly shared: boolean
  load(subjects: readonly string[]): Promise<readonly (Person | undefined)[]>
  /** Makes the keys that are not there, and notes the places. Fault `person-being-forgotten`. */
  keep(people: ReadonlyMap<string, readonly Place[]>): Promise<void>
  /** Each step once more changes nothing. A person who is not known stays so. */
  step(subject: string, step: Step): Promise<void>
  close(): Promise<void>
}
