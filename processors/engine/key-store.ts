import type { Key } from '../../projections/item.ts'
import { Fault } from '../../schemas/fault.ts'
import type { At } from '../../schemas/sealing.ts'
import { changeRow } from './change-row.ts'
import { replacing, type Store } from './store.ts'

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

/** The stored key of one person. A person who never had a key has no entry. */
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
  /** How much it holds, where that only ever grows (embedded: the bytes of its file). */
  readonly extent?: () => number
  load(subjects: readonly string[]): Promise<readonly (Person | undefined)[]>
  /** Makes the keys that are not there, and notes the places. Fault `person-being-forgotten`. */
  keep(people: ReadonlyMap<string, readonly Place[]>): Promise<void>
  /** Each step once more changes nothing. A person who is not known stays so. */
  step(subject: string, step: Step): Promise<void>
  close(): Promise<void>
}

const KEPT: Key = { PK: 'KEYS', SK: 'KEYS' }

export interface Opening {
  /**
   * Opens the key store, and begins one where `found` is given and there is none. Faults `key-store-gone`, and `key-store-cut` where it holds
   * less than `least`.
   */
  open(found?: () => Promise<Founding>, least?: number): Promise<KeyStore>
  /** Absent: nothing is begun, and nothing is written. */
  readonly found?: () => Promise<Founding>
}

/** Opens the key store that these logs are sealed with. The control table remembers which, and how much it held: one that is lost or cut is never taken for a new one. */
export const openKnownKeys = async (control: Pick<Store, 'load' | 'commit'>, { open, found }: Opening): Promise<KeyStore> => {
  const [kept] = await control.load([KEPT])
  const keys = await open(kept === undefined ? found : undefined, Number(kept?.['extent'] ?? 0))
  const { id } = keys.founding
  if (kept !== undefined && kept['id'] !== id) {
    await keys.close()
    throw new Fault('key-store-other', `The key store is ${id}, but these logs were sealed with ${String(kept['id'])}. Bring back that one; nothing was changed.`)
  }
  if (found === undefined) return keys
  if (kept === undefined) await control.commit([[[replacing(undefined, { ...KEPT, id })]]])
  return keys.extent === undefined ? keys : measured(keys, keys.extent, control)
}

/** Notes how much there is whenever it grew, after it did: what is noted is always there. */
const measured = (keys: KeyStore, extent: () => number, control: Pick<Store, 'load' | 'commit'>): KeyStore => {
  let noting: Promise<unknown> = Promise.resolve()
  let noted = 0
  const note = (): void => {
    if (noted === extent()) return
    noted = extent()
    noting = noting.then(() => changeRow(control, KEPT, (kept) => kept && { ...kept, extent: extent() })).catch(() => undefined)
  }
  note()
  return {
    ...keys,
    keep: async (people) => {
      await keys.keep(people)
      note()
    },
    close: async () => {
      await noting
      await keys.close()
    },
  }
}

export const keysCut = (where: string, { holds, least }: { readonly holds: number; readonly least: number }): Fault =>
  new Fault('key-store-cut', `The key store ${where} holds ${holds} bytes, and held ${least} before: keys are missing at its end. Restore it from its newest backup, then start again. Nothing was changed.`)

export const keysGone = (where: string): Fault =>
  new Fault('key-store-gone', `The key store ${where} is gone, and what people said in these logs cannot be read without it. Restore it from its backup, then start again. Nothing was changed.`)

export const beingForgotten = (subjects: readonly string[]): Fault =>
  new Fault('person-being-forgotten', `${subjects.join(', ')} is being forgotten: nothing personal is taken until that is done. Try again in a moment, or finish it: tributary forget --subject ID.`, { retriable: true })

/** What a step changes, the same in every store; undefined where it was taken before. */
export const afterStep = <P extends Omit<Person, 'key'> & { readonly key: { readonly id: string } | undefined }>(person: P, step: Step): P | undefined => {
  if (step === 'forgetting') return person.forgetting ? undefined : { ...person, forgetting: true }
  if (step === 'forgotten') return person.forgetting ? { ...person, forgetting: false, places: [] } : undefined
  return person.key === undefined ? undefined : { ...person, forgetting: true, key: undefined, destroyed: [...person.destroyed, person.key.id] }
}
