import { hash } from 'node:crypto'
import type { Secret } from '../../engine/ports/secrets.ts'

/**
 * A secret has two slots of equal length in the key file. A new version is written into the free slot, and then the other slot is overwritten.
 * So the file does not grow with each version, and a crash leaves the old version or the new one. The text of a slot is the version, the value
 * in base64 and a checksum, separated by dots and filled up with underscores. A blank slot contains underscores only.
 */
export interface SecretAddress {
  readonly subject: string
  readonly name: string
}

const FILL = '_'
/** The length of a slot is a multiple of this number. */
const STEP = 512
const CHECK_DIGITS = 16

export const blankSlot = (size: number): string => FILL.repeat(size)

export const slotText = (owner: SecretAddress, { version, value }: Secret): string => {
  const content = `${version}.${Buffer.from(value).toString('base64')}`
  return `${content}.${checkOf(owner, content)}`
}

/** The length of a new slot that has room for the text. */
export const slotSize = (text: string): number => Math.ceil(text.length / STEP) * STEP

export const padded = (text: string, size: number): string => text.padEnd(size, FILL)

/** The secret in a slot. Undefined if the slot is blank, or if it was not written completely. */
export const secretInSlot = (owner: SecretAddress, slot: string): Secret | undefined => {
  const [version = '', value = '', check] = slot.replace(/_+$/, '').split('.')
  if (check !== checkOf(owner, `${version}.${value}`)) return undefined
  return { version: Number(version), value: Buffer.from(value, 'base64').toString() }
}

const checkOf = ({ subject, name }: SecretAddress, content: string): string =>
  hash('sha256', JSON.stringify([subject, name, content]), 'hex').slice(0, CHECK_DIGITS)
