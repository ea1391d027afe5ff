import type { Founding, Person, Place, Step } from '../../engine/key-store.ts'

/** What the file says, one JSON a line, each true from its place on. */
export type Line =
  | { readonly founding: Founding }
  | { readonly of: string; readonly key: string; readonly secret: string }
  | { readonly of: string; readonly at: readonly [domain: string, key: string] }
  | { readonly of: string; readonly step: Step }

/** Where a key's secret lies in the file, in hex; it is read when it is asked for. */
export interface Kept {
  readonly id: string
  readonly at: number
}

export interface Entry {
  key: Kept | undefined
  destroyed: Kept[]
  places: Place[]
  forgetting: boolean
}

export const SECRET_DIGITS = 64
const MARK = '"secret":"'

export const format = (line: Line): string => `${JSON.stringify(line)}\n`

/** Where the secret's first digit stands within a line: it is written last, so that no other text can pass for it. */
const secretIn = (text: string): number => text.lastIndexOf(MARK) + MARK.length

/** Takes one line in; `start` is where it begins in the file. */
export const learn = (people: Map<string, Entry>, line: Exclude<Line, { founding: Founding }>, at: { start: number; text: string }): void => {
  const entry = people.get(line.of) ?? { key: undefined, destroyed: [], places: [], forgetting: false }
  people.set(line.of, entry)
  if ('secret' in line) entry.key = { id: line.key, at: at.start + Buffer.byteLength(at.text.slice(0, secretIn(at.text))) }
  else if ('at' in line) entry.places.push({ domain: line.at[0], key: line.at[1] })
  else takeStep(entry, line.step)
}

const takeStep = (entry: Entry, step: Step): void => {
  entry.forgetting = step !== 'forgotten'
  if (step === 'destroyed' && entry.key !== undefined) {
    entry.destroyed.push(entry.key)
    entry.key = undefined
  }
  if (step === 'forgotten') entry.places = []
}

export const personOf = (entry: Entry, secretOf: (kept: Kept) => Uint8Array): Person => ({
  key: entry.key && { id: entry.key.id, bytes: secretOf(entry.key) },
  destroyed: entry.destroyed.map(({ id }) => id),
  places: [...entry.places],
  forgetting: entry.forgetting,
})
