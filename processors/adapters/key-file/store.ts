import { existsSync } from 'node:fs'
import type { Founding, KeyStore, PersonalLogKey, Step } from '../../engine/ports/key-store.ts'
import { foundKeyFile, openKeyFile, type KeyFile } from './file.ts'
import { newKey, personOf, type PersonLine } from './lines.ts'
import { blank, blankUnusedSlots, createFileSecrets } from './secrets.ts'
import { beingForgotten, keysGone } from '../../engine/people/key-store-rules.ts'

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
    return entry && personOf(entry, file.secretOf)
  }
  return {
    founding: file.founding,
    shared: false,
    extent: file.extent,
    secrets: createFileSecrets(file),
    peek,
    load: (subjects) => Promise.resolve(subjects.map(peek)),
    ensureKeys: batched((people) => createKeys(file, people)),
    step: (subject, step) => Promise.resolve().then(() => writeStep(file, subject, step)),
    close: () => Promise.resolve(file.close()),
  }
}

/** Writes a key for each of these people who has none. Returns the people who are being forgotten. These people get no key. */
type WriteKeys = (people: ReadonlyMap<string, readonly PersonalLogKey[]>) => ReadonlySet<string>

/** Concurrent calls share one write and one sync. A person who is being forgotten fails only the calls that contain this person. */
const batched = (write: WriteKeys): KeyStore['ensureKeys'] => {
  let next:
    | { readonly people: Map<string, readonly PersonalLogKey[]>; readonly refused: Promise<ReadonlySet<string>> }
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
    const withoutKey = await refused
    const forgetting = [...people.keys()].filter((subject) => withoutKey.has(subject))
    if (forgetting.length > 0) throw beingForgotten(forgetting)
  }
}

const createKeys = (file: KeyFile, people: ReadonlyMap<string, readonly PersonalLogKey[]>): ReadonlySet<string> => {
  const lines: PersonLine[] = []
  const refused = new Set<string>()
  for (const [subject, places] of people) {
    const entry = file.people.get(subject)
    if (entry?.forgetting) {
      refused.add(subject)
      continue
    }
    if (entry?.key === undefined) lines.push(newKey(subject))
    const storedPlaces = new Set(entry?.places.map(({ domain, key }) => JSON.stringify([domain, key])))
    for (const { domain, key } of places) {
      const name = JSON.stringify([domain, key])
      if (!storedPlaces.has(name)) lines.push({ of: subject, at: [domain, key] })
      storedPlaces.add(name)
    }
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
