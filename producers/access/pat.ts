import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { DOMAIN_NAME } from '../../projections/domain-name.ts'

/**
 * `admin`: the token may also change what belongs to all users. Only an operator creates such a token. `device`: the token is for one device. The
 * `user` of such a token is the id of the device, and the token gives no other access.
 */
export const SCOPES = ['read', 'write', 'admin', 'device'] as const
export type Scope = (typeof SCOPES)[number]

/** A new personal access token. Only its hash is stored. The token begins with `trib_` and the domain, so that secret scanners recognise it. */
export interface NewToken {
  readonly token: string
  readonly hash: string
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32
const SECRET_DIGITS = 43
const CHECK_DIGITS = 6
const SECRET = `[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}`
const SHAPE = new RegExp(`^trib_(${DOMAIN_NAME})_${SECRET}$`)

/** Finds every token in a text. */
export const TOKENS = new RegExp(`trib_${DOMAIN_NAME}_${SECRET}`, 'g')

/** Finds the domain in the prefix of a bearer token, before the token is checked. */
export const BEARER_PREFIX = new RegExp(`^bearer trib_(${DOMAIN_NAME})_`, 'i')

export const mintToken = (domain: string, randomBytes: (size: number) => Uint8Array): NewToken => {
  const secret = base62(BigInt(`0x${Buffer.from(randomBytes(SECRET_BYTES)).toString('hex')}`), SECRET_DIGITS)
  const body = `trib_${domain}_${secret}`
  const token = body + checksum(body)
  return { token, hash: hashToken(token) }
}

/** The domain in the token's prefix. Undefined if the form or the checksum is wrong. Reads no store. */
export const domainOfToken = (token: string): string | undefined => {
  const match = SHAPE.exec(token)
  if (!match || token.slice(-CHECK_DIGITS) !== checksum(token.slice(0, -CHECK_DIGITS))) return undefined
  return match[1]
}

/** The SHA-256 hash of a token, in hex. A slow password hash is not necessary, because a token has 256 random bits (ASVS 6.5.2). */
export const hashToken = (token: string): string => hash('sha256', token, 'hex')

const checksum = (body: string): string => {
  let text = ''
  for (let rest = crc32(body); text.length < CHECK_DIGITS; rest = Math.floor(rest / 62))
    text = DIGITS.charAt(rest % 62) + text
  return text
}

const base62 = (value: bigint, width: number): string => {
  let text = ''
  for (let rest = value; text.length < width; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text
  return text
}
