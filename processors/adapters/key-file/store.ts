import { existsSync } from 'node:fs'
import { isPart, personOf } from '../../../projections/subject.ts'
import type { Fault } from '../../../schemas/fault.ts'
import {
  PLACES_PER_PAGE,
  type Founding,
  type KeyStore,
  type Person,
  type PersonalLogKey,
  type Step,
} from '../../engine/ports/key-store.ts'
import { foundKeyFile, openKeyFile, type KeyFile } from './file.ts'
import { newKey, placeName, storedPerson, type EntryLine } from './lines.ts'
import { blank, blankUnusedSlots, createFileSecrets } from './secrets.ts'
import { keysGone, refusalOf, throwFirst } from '../../engine/people/key-store-rules.ts'

export interface KeyFileOptions {
  readonly path: string
  /** `read`: for a process that reads the file while another process writes it. */
  readonly mode: 'write' | 'read'
  /**
   * Creates the founding (the first entry) of a new store. Pass it only if no store ever existed, because a new store must never replace a lost
   * store. Without `found`, a missing store is an error.
   */
  readonly found?: () => Promise<Founding>
  /** The minimum number of bytes of an intact file. A shorter file is rejected with `key-store-cut`. Default: 0. */
  readonly least?: number
}

/**
 * The embedded key store: one file. Lines are only appended, except that the digits of a destroyed key are overwritten with zeros, and that
 * the slots of a secret are overwritten.
 */
export const openKeyFileStore = async ({ path, mode, found, least }: KeyFileOptions): Promise<KeyStore> => {
  if (!existsSync(path)) {
    if (found === undefined || mode === 'read') throw keysGone(path)
    foundKeyFile(path, await found())
  }
  const file = openKeyFile(path, mode, least)
  // Erases destroyed keys again. The process may have been killed after it stored that a key is destroyed, and before it erased the key.
  if (mode === 'write') {
    for (const { destroyed } of file.people.values()) for (const key of destroyed) file.erase(key)
    blankUnusedSlots(file)
  }
  const peek: NonNullable<KeyStore['peek']> = (subject) => {
    if (mode === 'read') file.refresh()
    const entry = file.people.get(subject)
    return entry && storedPerson(entry, file.secretOf)
  }
  return {
    founding: file.founding,
    shared: false,
    extent: file.extent,
    secrets: createFileSecrets(file),
    peek,
    load: (subjects) => Promise.resolve(subjects.map(peek)),
    ensureKeys: batched((people) => createKeys(file, people), peek),
    async *places(subject) {
      file.refresh()
      const places = [...(file.people.get(subject)?.places.values() ?? [])]
      for (let at = 0; at < places.length; at += PLACES_PER_PAGE) yield places.slice(at, at + PLACES_PER_PAGE)
    },
    parts: async (person) => {
      file.refresh()
      return [...file.people.keys()].filter((subject) => isPart(subject) && personOf(subject) === person).sort()
    },
    step: (subject, step) => Promise.resolve().then(() => writeStep(file, subject, step)),
    close: () => Promise.resolve(file.close()),
  }
}

/** Writes a key for each of these people who has none. Returns the faults of the people who get no key. */
type WriteKeys = (people: ReadonlyMap<string, readonly PersonalLogKey[]>) => ReadonlyMap<string, Fault>

/** Concurrent calls share one write and one sync. A person who gets no key fails only the calls that contain this person. */
const batched = (write: WriteKeys, peek: NonNullable<KeyStore['peek']>): KeyStore['ensureKeys'] => {
  let next:
    | { readonly people: Map<string, readonly PersonalLogKey[]>; readonly refused: Promise<ReadonlyMap<string, Fault>> }
    | undefined
  const begin = () => {
    const people = new Map<string, readonly PersonalLogKey[]>()
    const nextIteration = new Promise((resolve) => setImmediate(resolve))
    const refused = nextIteration.then(() => {
      next = undefined
      return write(people)
    })
    return { people, refused }
  }
  return async (people) => {
    next ??= begin()
    const { people: batch, refused } = next
    for (const [subject, places] of people) batch.set(subject, [...(batch.get(subject) ?? []), ...places])
    const faults = await refused
    const subjects = [...people.keys()]
    throwFirst(subjects.map((subject) => faults.get(subject)))
    return new Map(subjects.flatMap((subject) => [[subject, peek(subject)] as const]).filter(isFound))
  }
}

const isFound = (entry: readonly [string, Person | undefined]): entry is readonly [string, Person] =>
  entry[1] !== undefined

const createKeys = (file: KeyFile, people: Parameters<WriteKeys>[0]): ReturnType<WriteKeys> => {
  const lines: EntryLine[] = []
  const refused = new Map<string, Fault>()
  for (const [subject, places] of people) {
    const entry = file.people.get(subject)
    const fault = refusalOf(subject, entry)
    if (fault !== undefined) {
      refused.set(subject, fault)
      continue
    }
    if (entry?.key === undefined) lines.push(newKey(subject))
    const missing = new Map(places.map((place) => [placeName(place), place]))
    for (const [name, { domain, key }] of missing)
      if (entry?.places.has(name) !== true) lines.push({ of: subject, at: [domain, key] })
  }
  if (lines.length > 0) file.append(lines)
  return refused
}

const writeStep = (file: KeyFile, subject: string, step: Step): void => {
  const entry = file.people.get(subject)
  if (entry === undefined) return
  const isDone =
    step === 'forgetting' ? entry.forgetting : step === 'destroyed' ? entry.key === undefined : !entry.forgetting
  if (!isDone) file.append([{ of: subject, step }])
  if (step !== 'destroyed') return
  for (const key of entry.destroyed) file.erase(key)
  for (const slots of entry.unused) blank(file, slots)
}
