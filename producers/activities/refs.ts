import { createHmac, randomBytes } from 'node:crypto'
import type { Secrets } from '../../processors/engine/ports/secrets.ts'

/** A secret of the program, not of a person: `forget` refuses subjects that begin with `~`. */
const PEPPER = { subject: '~activities', name: 'pepper' } as const
const PEPPER_BYTES = 32
const REF_DIGITS = 26
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Computes the names that stand for ids of Strava in log keys, item keys and asks. */
export interface Refs {
  /** Returns 26 characters. Without the pepper of this program, nobody can find the id that belongs to them. */
  of(kind: 'athlete' | 'activity' | 'updates' | 'ip', id: string): string
}

/** Returns a function that reads the pepper of the program when it is first called. The first process creates the pepper. */
export const createRefs = (secrets: Secrets): (() => Promise<Refs>) => {
  let refs: Promise<Refs> | undefined
  return () => {
    refs ??= pepperOf(secrets).then(refsWith)
    refs.catch(() => (refs = undefined))
    return refs
  }
}

const pepperOf = async (secrets: Secrets): Promise<Buffer> => {
  const { subject, name } = PEPPER
  const stored = await secrets.read(subject, name)
  if (stored !== undefined) return Buffer.from(stored.value, 'base64')
  const pepper = randomBytes(PEPPER_BYTES)
  const conflict = await secrets.write(subject, name, { expect: 0, value: pepper.toString('base64') })
  return conflict === undefined ? pepper : Buffer.from(conflict.value, 'base64')
}

const refsWith = (pepper: Buffer): Refs => ({
  of: (kind, id) => base32(createHmac('sha256', pepper).update(`${kind}:${id}`).digest()).slice(0, REF_DIGITS),
})

/** The bytes in base32 (RFC 4648) in lower case, without padding. */
const base32 = (bytes: Uint8Array): string => {
  let [text, bits, rest] = ['', 0, 0]
  for (const byte of bytes) {
    rest = (rest << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((rest >> (bits - 5)) & 31)
    rest &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + BASE32.charAt((rest << (5 - bits)) & 31)
}
