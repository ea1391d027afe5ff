import { randomBytes } from 'node:crypto'
import type { Founding, Person, PersonalLogKey, Step } from '../../engine/ports/key-store.ts'

/**
 * A line of the key file, as JSON. The lines are applied in their order. `of` is the person, `secret` the new key of the person in hex digits, `at` a
 * log key that has events about the person. `step` is the progress of forgetting the person, such as `destroyed`. `slots` contains the
 * versions of the person's secret `name` (see `slots.ts`). A later line with the same name replaces the slots.
 */
export type Line =
  | { readonly founding: Founding }
  | { readonly of: string; readonly key: string; readonly secret: string }
  | { readonly of: string; readonly at: readonly [domain: string, key: string] }
  | { readonly of: string; readonly step: Step }
  | { readonly of: string; readonly name: string; readonly slots: readonly [string, string] }

/** A line about a person. */
export type EntryLine = Exclude<Line, { readonly founding: Founding }>

/** A key in the file. The secret of the key is not in memory: `secretOf` reads it from the file. */
export interface StoredKey {
  readonly id: string
  /** The position of the secret's first hex digit in the file. */
  readonly position: number
}

/** The two slots of a secret in the file. Both have the same number of characters. */
export interface Slots {
  /** The positions of the first characters in the file. */
  readonly positions: readonly [number, number]
  readonly size: number
}

export interface Entry {
  key: StoredKey | undefined
  destroyed: StoredKey[]
  /** The slots of the secrets, by name. */
  readonly secrets: Map<string, Slots>
  /** Slots that are not used any more. They must be blank. */
  unused: Slots[]
  /** The log keys, by their names (`placeName`). */
  places: Map<string, PersonalLogKey>
  forgetting: boolean
}

export const SECRET_DIGITS = 64
const MARK = '"secret":"'
const SLOTS_MARK = '"slots":["'
/** The characters between the two slots. */
const BETWEEN = '","'

/** A line with a new random key. */
export const newKey = (subject: string): EntryLine => ({
  of: subject,
  key: randomBytes(8).toString('hex'),
  secret: randomBytes(32).toString('hex'),
})

export const format = (line: Line): string => `${JSON.stringify(line)}\n`

/** The position after the mark in a line, in bytes. The mark is in the last field of the line, so the last match is the right one. */
const byteIndex = (text: string, mark: string): number =>
  Buffer.byteLength(text.slice(0, text.lastIndexOf(mark) + mark.length))

/** Applies a line to `people`. `start` is the position of the line in the file, in bytes. `text` is the JSON of the line. */
export const applyLine = (
  people: Map<string, Entry>,
  line: EntryLine,
  { start, text }: { start: number; text: string },
): void => {
  const entry = people.get(line.of) ?? createEntry()
  people.set(line.of, entry)
  if ('secret' in line) entry.key = { id: line.key, position: start + byteIndex(text, MARK) }
  else if ('at' in line) addPlace(entry, { domain: line.at[0], key: line.at[1] })
  else if ('slots' in line) {
    const replaced = entry.secrets.get(line.name)
    if (replaced !== undefined) entry.unused.push(replaced)
    entry.secrets.set(line.name, slotsAt(start + byteIndex(text, SLOTS_MARK), line.slots[0].length))
  } else applyStep(entry, line.step)
}

export const placeName = ({ domain, key }: PersonalLogKey): string => JSON.stringify([domain, key])

const addPlace = ({ places }: Entry, place: PersonalLogKey): void => void places.set(placeName(place), place)

const createEntry = (): Entry => ({
  key: undefined,
  destroyed: [],
  secrets: new Map(),
  unused: [],
  places: new Map(),
  forgetting: false,
})

const slotsAt = (first: number, size: number): Slots => ({ positions: [first, first + size + BETWEEN.length], size })

const applyStep = (entry: Entry, step: Step): void => {
  entry.forgetting = step !== 'forgotten'
  if (step === 'destroyed' && entry.key !== undefined) {
    entry.destroyed.push(entry.key)
    entry.key = undefined
    entry.unused.push(...entry.secrets.values())
    entry.secrets.clear()
  }
  if (step === 'forgotten') entry.places.clear()
}

export const storedPerson = (entry: Entry, secretOf: (key: StoredKey) => Uint8Array): Person => ({
  key: entry.key && { id: entry.key.id, bytes: secretOf(entry.key) },
  destroyed: entry.destroyed.map(({ id }) => id),
  forgetting: entry.forgetting,
})
