import { mix } from './random.ts'

/** The hash of the steps of a run. If the run is recorded, also contains readable lines that describe the steps. */
export interface Journal {
  readonly isRecorded: boolean
  readonly lines: readonly string[]
  /** Adds a number to the hash. */
  stir(value: number): void
  /** Adds a text to the hash. */
  stirText(text: string): void
  /** Adds a line if the run is recorded. The hash stays the same. */
  write(text: string): void
  /** Adds a text to the hash. If the run is recorded, also adds the text as a line. */
  note(text: string): void
  hash(): number
}

/** Creates an empty journal. `time` returns the simulated time in milliseconds. The hash and each line include this time. */
export const createJournal = (isRecorded: boolean, time: () => number): Journal => {
  const lines: string[] = []
  let hash = 0
  const stir = (value: number) => {
    hash = (Math.imul(hash ^ value, 0x01000193) + time()) | 0
  }
  const stirText = (text: string) => stir(hashOfText(text))
  const write = (text: string) => void (isRecorded && lines.push(`${(time() / 1000).toFixed(3)} ${text}`))
  return {
    isRecorded,
    lines,
    stir,
    stirText,
    write,
    note: (text) => {
      stirText(text)
      write(text)
    },
    hash: () => hash >>> 0,
  }
}

/** The hashes of texts that were hashed before. A run hashes a few different texts many times. */
const textHashes = new Map<string, number>()
const hashOfText = (text: string): number => {
  const known = textHashes.get(text)
  if (known !== undefined) return known
  const textHash = mix(...Array.from(text, (char) => char.charCodeAt(0)))
  if (textHashes.size < MAX_TEXTS) textHashes.set(text, textHash)
  return textHash
}
const MAX_TEXTS = 1_000
