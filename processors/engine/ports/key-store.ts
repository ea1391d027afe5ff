import type { LogPosition } from '../../../schemas/sealing.ts'
import type { Secrets } from './secrets.ts'

/** A stored data key. */
export interface DataKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/** A log key that has events about a person. */
export interface PersonalLogKey {
  readonly domain: string
  readonly key: string
}

/** The stored entry of one person or part of a person (`projections/subject.ts`). A person for whom no key was ever created has no entry. */
export interface Person {
  readonly key: DataKey | undefined
  /** The ids of destroyed keys. Data that such a key sealed reads as forgotten. Data of a key that is neither listed here nor stored is an error. */
  readonly destroyed: readonly string[]
  /** True from the step `forgetting` to the step `forgotten`. During this time no key is created for the person. */
  readonly forgetting: boolean
}

/** The first record of a key store: its id and, per domain, the ends of the partitions at its creation. Events before these ends are not sealed. */
export interface Founding {
  readonly id: string
  readonly plainBefore: { readonly [domain: string]: readonly LogPosition[] }
}

/**
 * The steps in order: `forgetting` (no new key is created), `destroyed` (the key's bytes and the secrets are deleted), `forgotten` (the log keys
 * are deleted, and a new key is possible again, except for a numbered part).
 */
export type Step = 'forgetting' | 'destroyed' | 'forgotten'

export const PLACES_PER_PAGE = 200

/** The maximum time for which a process keeps a key in memory. For this long, a process can still use a key that another process destroyed. */
export const KEY_AGE_MS = 5_000

/** The key store port: the data keys and the secrets of people, stored apart from log and items. Each call resolves when its effect is on disk. */
export interface KeyStore {
  readonly founding: Founding
  /** Returns the entry of a person without await, or undefined if there is none. Absent if the store is remote. */
  readonly peek?: (subject: string) => Person | undefined
  /** True if several processes write to the store. Then cached entries can be out of date. */
  readonly shared: boolean
  /** Returns the size of the store's file in bytes. Absent if the store is not one file that only grows. */
  readonly extent?: () => number
  /** The secrets of people. The first secret of a person creates the person's data key, and the step `destroyed` destroys the secrets. */
  readonly secrets: Secrets
  load(subjects: readonly string[]): Promise<readonly (Person | undefined)[]>
  /**
   * Creates missing keys and adds the log keys (places) of the people. Resolves to the entries of the people. Faults: `person-being-forgotten` if one
   * person is being forgotten; `part-forgotten` if one of the people is a numbered part that was forgotten.
   */
  ensureKeys(people: ReadonlyMap<string, readonly PersonalLogKey[]>): Promise<ReadonlyMap<string, Person>>
  /** Yields the log keys with data of the person in pages of at most `PLACES_PER_PAGE`. */
  places(subject: string): AsyncIterable<readonly PersonalLogKey[]>
  /** The parts of a person that have entries, sorted. */
  parts(person: string): Promise<readonly string[]>
  /** Stores a step of forgetting the person. A repeated step changes nothing. No effect on a person without an entry. */
  step(subject: string, step: Step): Promise<void>
  close(): Promise<void>
}
