import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { Fault } from '../../../schemas/fault.ts'

/** Encrypts data keys and secrets for the table with a key-encryption key. `unwrap` needs the same `about` (the owner and the name) as `wrap`. */
export interface Wrapping {
  /** Identifies the key-encryption key and reveals nothing else about it. */
  readonly id: string
  wrap(bytes: Uint8Array, about: string): string
  unwrap(wrapped: string, about: string): Uint8Array
}

/** No encryption: everyone who can read the table can read the keys. */
export const NO_WRAPPING: Wrapping = {
  id: 'none',
  wrap: (bytes) => Buffer.from(bytes).toString('base64'),
  unwrap: (wrapped) => Buffer.from(wrapped, 'base64'),
}

const NONCE = 12
const TAG = 16

/** Returns a wrapping with the key-encryption key of the configuration. `text` contains its 32 bytes in base64 or in hex. */
export const localWrapping = (text: string): Wrapping => {
  const key = Buffer.from(text, text.length === 64 ? 'hex' : 'base64')
  return {
    id: hash('sha256', Buffer.concat([Buffer.from('tributary key-encryption key'), key]), 'hex').slice(0, 16),
    wrap: (bytes, about) => {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(Buffer.from(about))
      return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64')
    },
    unwrap: (wrapped, about) => {
      const bytes = Buffer.from(wrapped, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE))
      decipher.setAAD(Buffer.from(about))
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()])
      } catch (cause) {
        throw new Fault(
          'key-unreadable',
          `The entry ${about} of the key store cannot be unwrapped: it was changed, or another key-encryption key wrapped it. Restore the table of keys, or the key.`,
          { retriable: true, cause },
        )
      }
    },
  }
}
