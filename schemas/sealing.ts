/**
 * The sealed personal field: a version, the id of the data key, a nonce, AES-256-GCM's ciphertext and its tag. A frame that was
 * written plain begins with the zero of the wire format, so the first byte tells one from the other.
 */
import { createCipheriv, createDecipheriv, createSecretKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { EventMeta, Forgotten } from './event.ts'
import { Fault } from './fault.ts'

/** A person's data key, ready for work. */
export interface SealingKey {
  /** Sixteen hex digits. */
  readonly id: string
  readonly secret: KeyObject
  /** Made of the secret: what keeps nonces from telling anything about what they were made of. */
  readonly salt: Buffer
}

export interface At {
  readonly partition: number
  readonly offset: number
}

/** About whom something was said, and under which log key. */
type Said = Pick<EventMeta, 'subjectId' | 'key'>

/** Whose keys seal and open: what a codec asks. `key-not-loaded` means: fetch it (`Codec.keysOf`, `Codec.keysFor`), then ask again. */
export interface Sealing {
  /** The key by which events about this person are sealed now. Where there is none yet it is made, for the next time it is asked for. */
  current(said: Said): SealingKey
  /** The key of this id, or that it was destroyed. Fault `key-missing` where nothing is known of it: it was lost, not destroyed. */
  opening(subject: string, id: string): SealingKey | Forgotten
  /** Whether a plain personal field may lie there, from before there were keys; undefined where the place is not known. */
  isPlain(at: At | undefined): boolean
  /** Makes the keys by which these people's events, under these log keys, are sealed; undefined when nothing is to be waited for. */
  keep(said: readonly Said[]): Promise<void> | undefined
  load(subjects: readonly string[]): Promise<void>
}

export const SEALED = 1
const ID = 8
const NONCE = 12
const TAG = 16
const HEAD = 1 + ID + NONCE

export const sealingKey = (id: string, bytes: Uint8Array): SealingKey => ({
  id,
  secret: createSecretKey(bytes),
  salt: hash('sha256', Buffer.concat([Buffer.from('tributary nonce'), bytes]), 'buffer'),
})

/** What a sealed field belongs to: it opens nowhere else. */
export const boundTo = (type: string, { eventId, subjectId }: Pick<EventMeta, 'eventId' | 'subjectId'>): Buffer =>
  Buffer.from(`${eventId}\u0000${type}\u0000${subjectId ?? ''}`)

/** The nonce is made of key, place and content: the same event is sealed to the same bytes, and no nonce is used for two contents. */
export const seal = ({ id, secret, salt }: SealingKey, plain: Buffer, bound: Buffer): Buffer => {
  const nonce = hash('sha256', Buffer.concat([salt, bound, plain]), 'buffer').subarray(0, NONCE)
  const cipher = createCipheriv('aes-256-gcm', secret, nonce)
  cipher.setAAD(bound)
  const sealed = Buffer.allocUnsafe(HEAD + plain.length + TAG)
  sealed[0] = SEALED
  sealed.write(id, 1, 'hex')
  nonce.copy(sealed, 1 + ID)
  cipher.update(plain).copy(sealed, HEAD)
  cipher.final()
  cipher.getAuthTag().copy(sealed, HEAD + plain.length)
  return sealed
}

export const keyIdOf = (sealed: Buffer): string => {
  if (sealed.length < HEAD + TAG || sealed[0] !== SEALED) throw unreadable(`${sealed.length} bytes that begin with ${sealed[0]} are not sealed as this program seals`)
  return sealed.toString('hex', 1, 1 + ID)
}

export const unseal = ({ secret }: SealingKey, sealed: Buffer, bound: Buffer): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(1 + ID, HEAD))
  decipher.setAAD(bound)
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG))
  const plain = decipher.update(sealed.subarray(HEAD, sealed.length - TAG))
  try {
    decipher.final()
  } catch (cause) {
    throw unreadable('it was changed, or moved from another event', cause)
  }
  return plain
}

const unreadable = (why: string, cause?: unknown): Fault =>
  new Fault('personal-unreadable', `A sealed personal field cannot be opened: ${why}. Find out who else writes to this topic.`, { cause })
