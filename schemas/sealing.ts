/**
 * The sealed personal field: a version (1), the id of the data key, a nonce, the ciphertext of AES-256-GCM and its tag. A plain personal field
 * begins with the zero of the wire format, so the first byte distinguishes sealed and plain fields.
 */
import { createCipheriv, createDecipheriv, createSecretKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { EventMeta, Forgotten } from './event.ts'
import { Fault } from './fault.ts'

/** A person's data key. */
export interface SealingKey {
  /** Sixteen hex digits. */
  readonly id: string
  readonly secret: KeyObject
  /** Derived from the secret, so that nonces reveal nothing about the content from which they are derived. */
  readonly salt: Buffer
}

export interface LogPosition {
  readonly partition: number
  readonly offset: number
}

/** The subject and the log key of an event. */
type SealingContext = Pick<EventMeta, 'subjectId' | 'key'>

/**
 * The keys by which a codec seals and opens. On the fault `key-not-loaded`, fetch the keys (`Codec.keysOf`,
 * `Codec.keysFor`) and repeat the call.
 */
export interface Sealing {
  /**
   * The key that seals events about this person now. If there is no key, starts to create it and throws `key-not-loaded`. If the person is being
   * forgotten and has no key any more: a random key that nobody can read with.
   */
  current(context: SealingContext): SealingKey
  /**
   * The key with this id. FORGOTTEN if this key was destroyed. Fault: `key-missing` if the store has no record of this key, because it was lost.
   */
  opening(subject: string, id: string): SealingKey | Forgotten
  /**
   * True if a plain personal field is allowed at this position, because the event was written before the first key existed. Also true if the
   * position is unknown.
   */
  isPlain(at: LogPosition | undefined): boolean
  /** Creates the keys for the events of these people under these log keys. Returns undefined if all keys exist. */
  createKeys(context: readonly SealingContext[]): Promise<void> | undefined
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

/** The context to which a sealed field is bound: a field that is copied to another event cannot be opened there. */
export const boundTo = (type: string, { eventId, subjectId }: Pick<EventMeta, 'eventId' | 'subjectId'>): Buffer =>
  Buffer.from(`${eventId}\u0000${type}\u0000${subjectId ?? ''}`)

/**
 * Seals a field. The nonce is derived from the key, the context and the content. So the same event always gives the
 * same bytes, and no nonce is used for two contents.
 */
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
  if (sealed.length < HEAD + TAG || sealed[0] !== SEALED)
    throw unreadable(`${sealed.length} bytes that begin with ${sealed[0]} are not a sealed field of this program`)
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
  new Fault(
    'personal-unreadable',
    `A sealed personal field cannot be opened: ${why}. Find out which other producer writes to this topic.`,
    { cause },
  )
