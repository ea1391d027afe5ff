import type { Founding, Person, PersonalLogKey, Step } from '../../engine/ports/key-store.ts'

/**
 * A line of the key file, as JSON. The lines are applied in their order. `of` is the person, `secret` the new key of the person in hex digits, `at` a
 * log key that has events about the person. `step` is the progress of forgetting the person, such as `destroyed`.
 */
export type Line =
  | { readonly founding: Founding }
  | { readonly of: string; readonly key: string; readonly secret: string }
  | { readonly of: string; readonly at: readonly [domain: string, key: string] }
  | { readonly of: string; readonly step: Step }

/** A key in the file. The secret of the key is not in memory: `secretOf` reads it from the file. */
export interface StoredKey {
  readonly id: string
  /** The position of the secret's first hex digit in the file. */
  readonly position: number
}

export interface Entry {
  key: StoredKey | undefined
  destroyed: StoredKey[]
  places: PersonalLogKey[]
  forgetting: boolean
}

export const SECRET_DIGITS = 64
const MARK = '"secret":"'

export const format = (line: Line): string => `${JSON.stringify(line)}\n`

/** The index of the secret's first digit in a line. The secret is the last field, so the last match is the right one. */
const secretIndex = (text: string): number => text.lastIndexOf(MARK) + MARK.length

/** Applies a line to `people`. `start` is the position of the line in the file, in bytes. `text` is the JSON of the line. */
export const applyLine = (
  people: Map<string, Entry>,
  line: Exclude<Line, { founding: Founding }>,
  { start, text }: { start: number; text: string },
): void => {
  const entry = people.get(line.of) ?? { key: undefined, destroyed: [], places: [], forgetting: false }
  people.set(line.of, entry)
  if ('secret' in line)
    entry.key = { id: line.key, position: start + Buffer.byteLength(text.slice(0, secretIndex(text))) }
  else if ('at' in line) entry.places.push({ domain: line.at[0], key: line.at[1] })
  else applyStep(entry, line.step)
}

const applyStep = (entry: Entry, step: Step): void => {
  entry.forgetting = step !== 'forgotten'
  if (step === 'destroyed' && entry.key !== undefined) {
    entry.destroyed.push(entry.key)
    entry.key = undefined
  }
  if (step === 'forgotten') entry.places = []
}

export const personOf = (entry: Entry, secretOf: (key: StoredKey) => Uint8Array): Person => ({
  key: entry.key && { id: entry.key.id, bytes: secretOf(entry.key) },
  destroyed: entry.destroyed.map(({ id }) => id),
  places: [...entry.places],
  forgetting: entry.forgetting,
})
