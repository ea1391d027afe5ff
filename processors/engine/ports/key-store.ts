import type { LogPosition } from '../../../schemas/sealing.ts'

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

/** The stored entry of one person. A person who never had a key has no entry. */
export interface Person {
  readonly key: DataKey | undefined
  /** The ids of destroyed keys. The data that they sealed is forgotten, not lost. */
  readonly destroyed: readonly string[]
  readonly places: readonly PersonalLogKey[]
  /** True from the step `forgetting` to the step `forgotten`. No key is created in between. */
  readonly forgetting: boolean
}

/** Stored once, when the key store is created: its id and, per domain, the ends of the partitions at that time. Events before these ends are not sealed. */
export interface Founding {
  readonly id: string
  readonly plainBefore: { readonly [domain: string]: readonly LogPosition[] }
}

/** `forgetting` starts, `destroyed` deletes the key's bytes for good, `forgotten` ends it: the person can then get a new key. */
export type Step = 'forgetting' | 'destroyed' | 'forgotten'

/** How long a process may use a cached key after another process destroyed it. */
export const KEY_AGE_MS = 5_000

/** The key store port: the data keys of people, stored apart from log and items. Each call resolves when its effect is on disk. */
export interface KeyStore {
  readonly founding: Founding
  /** Reads without await. Absent if the store is remote. */
  readonly peek?: (subject: string) => Person | undefined
  /** True if several processes write, so that cached entries can be out of date. */
  readonly shared: boolean
  /** The size of the store's file. Absent if the store is not a file that only grows. */
  readonly extent?: () => number
  load(subjects: readonly string[]): Promise<readonly (Person | undefined)[]>
  /** Creates the missing keys and adds the log keys to the people's entries. Fault `person-being-forgotten`. */
  ensureKeys(people: ReadonlyMap<string, readonly PersonalLogKey[]>): Promise<void>
  /** Repeating a step changes nothing. No effect on a person without an entry. */
  step(subject: string, step: Step): Promise<void>
  close(): Promise<void>
}
