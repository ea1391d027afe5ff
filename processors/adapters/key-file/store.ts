import { existsSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { beingForgotten, keysGone, type Founding, type KeyStore, type Place, type Step } from '../../engine/key-store.ts'
import { foundKeyFile, openKeyFile, type KeyFile } from './file.ts'
import { personOf, type Line } from './lines.ts'

export interface KeyFileOptions {
  readonly path: string
  /** `read`: beside the process that writes. */
  readonly mode: 'write' | 'read'
  /** How a store that is not there is begun; absent where there was one, so that a lost store is never taken for a new one. */
  readonly found?: () => Promise<Founding>
  /** How much it held before. */
  readonly least?: number
}

type Added = Exclude<Line, { founding: Founding }>

/**
 * The embedded key store: one file beside log and tables. Lines are only added, and a destroyed key's digits are overwritten where they
 * lie, so that they are gone from the file and not only from sight.
 */
export const openKeyFileStore = async ({ path, mode, found, least }: KeyFileOptions): Promise<KeyStore> => {
  if (!existsSync(path)) {
    if (found === undefined || mode === 'read') throw keysGone(path)
    foundKeyFile(path, await found())
  }
  const file = openKeyFile(path, mode, least)
  // A kill between the note that a key is destroyed and its erasure: finished here.
  if (mode === 'write') for (const { destroyed } of file.people.values()) for (const kept of destroyed) file.erase(kept)
  const peek: NonNullable<KeyStore['peek']> = (subject) => {
    if (mode === 'read') file.refresh()
    const entry = file.people.get(subject)
    return entry && personOf(entry, file.secretOf)
  }
  return {
    founding: file.founding,
    shared: false,
    extent: file.extent,
    peek,
    load: (subjects) => Promise.resolve(subjects.map(peek)),
    keep: batched((people) => keepAll(file, people)),
    step: (subject, step) => Promise.resolve().then(() => takeStep(file, subject, step)),
    close: () => Promise.resolve(file.close()),
  }
}

type Keep = (people: ReadonlyMap<string, readonly Place[]>) => ReadonlySet<string>

/** Those who wait share one write and one sync; each hears only of its own people that they were refused. */
const batched = (write: Keep): KeyStore['keep'] => {
  let next: { readonly people: Map<string, readonly Place[]>; readonly refused: Promise<ReadonlySet<string>> } | undefined
  const begin = () => {
    const people = new Map<string, readonly Place[]>()
    const turn = new Promise((resolve) => setImmediate(resolve))
    const refused = turn.then(() => {
      next = undefined
      return write(people)
    })
    return { people, refused }
  }
  return async (people) => {
    next ??= begin()
    const { people: all, refused } = next
    for (const [subject, places] of people) all.set(subject, [...(all.get(subject) ?? []), ...places])
    const mine = await refused
    const forgetting = [...people.keys()].filter((subject) => mine.has(subject))
    if (forgetting.length > 0) throw beingForgotten(forgetting)
  }
}

const keepAll = (file: KeyFile, people: ReadonlyMap<string, readonly Place[]>): ReadonlySet<string> => {
  const lines: Added[] = []
  const refused = new Set<string>()
  for (const [subject, places] of people) {
    const entry = file.people.get(subject)
    if (entry?.forgetting) {
      refused.add(subject)
      continue
    }
    if (entry?.key === undefined) lines.push({ of: subject, key: randomBytes(8).toString('hex'), secret: randomBytes(32).toString('hex') })
    const known = new Set(entry?.places.map(({ domain, key }) => JSON.stringify([domain, key])))
    for (const { domain, key } of places) {
      const name = JSON.stringify([domain, key])
      if (!known.has(name)) lines.push({ of: subject, at: [domain, key] })
      known.add(name)
    }
  }
  if (lines.length > 0) file.append(lines)
  return refused
}

const takeStep = (file: KeyFile, subject: string, step: Step): void => {
  const entry = file.people.get(subject)
  if (entry === undefined) return
  const done = step === 'forgetting' ? entry.forgetting : step === 'destroyed' ? entry.key === undefined : !entry.forgetting
  if (!done) file.append([{ of: subject, step }])
  if (step === 'destroyed') for (const kept of entry.destroyed) file.erase(kept)
}
