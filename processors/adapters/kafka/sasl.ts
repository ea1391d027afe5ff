import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Fault } from '../../../schemas/fault.ts'
import type { Link } from './link.ts'
import type { SaslOptions } from './options.ts'
import { bytes, reading, string } from './wire.ts'

const derive = promisify(pbkdf2)
const HANDSHAKE = { key: 17, version: 1, flexible: false }
const AUTHENTICATE = { key: 36, version: 0, flexible: false }
const MIN_ITERATIONS = 4096

/** SASL on a raw connection, as Kafka's client does it on its own. */
export async function authenticate(link: Link, sasl: SaslOptions): Promise<void> {
  const answer = reading(await link.ask({ ...HANDSHAKE, body: string(sasl.mechanism.toUpperCase()) }))
  if (answer.int16() !== 0) throw refused(sasl, 'the broker does not offer this mechanism')
  if (sasl.mechanism === 'plain') await exchange(link, sasl, `\0${sasl.username}\0${sasl.password}`)
  else await scram(link, sasl, sasl.mechanism === 'scram-sha-256' ? 'sha256' : 'sha512')
}

async function exchange(link: Link, sasl: SaslOptions, message: string): Promise<string> {
  const answer = reading(await link.ask({ ...AUTHENTICATE, body: bytes(Buffer.from(message)) }))
  const code = answer.int16()
  const reason = answer.string()
  if (code !== 0) throw refused(sasl, reason)
  return answer.bytes().toString()
}

/** RFC 5802 without channel binding; the names follow it. */
async function scram(link: Link, sasl: SaslOptions, digest: 'sha256' | 'sha512'): Promise<void> {
  const hmac = (key: Buffer, text: string): Buffer => createHmac(digest, key).update(text).digest()
  const nonce = randomBytes(24).toString('base64url')
  const clientFirst = `n=${sasl.username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  const serverFirst = await exchange(link, sasl, `n,,${clientFirst}`)
  const { r = '', s = '', i = '' } = attributes(serverFirst)
  const iterations = Number(i)
  if (!r.startsWith(nonce) || !(iterations >= MIN_ITERATIONS)) throw refused(sasl, 'the broker answered the challenge wrongly')
  const salted = await derive(sasl.password, Buffer.from(s, 'base64'), iterations, digest === 'sha256' ? 32 : 64, digest)
  const clientKey = hmac(salted, 'Client Key')
  const withoutProof = `c=biws,r=${r}`
  const authMessage = `${clientFirst},${serverFirst},${withoutProof}`
  const signature = hmac(createHash(digest).update(clientKey).digest(), authMessage)
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))).toString('base64')
  const { v = '' } = attributes(await exchange(link, sasl, `${withoutProof},p=${proof}`))
  const expected = hmac(hmac(salted, 'Server Key'), authMessage)
  const given = Buffer.from(v, 'base64')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw refused(sasl, 'the broker does not know the password itself')
}

const attributes = (message: string): Record<string, string> =>
  Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]))

const refused = ({ mechanism, username }: SaslOptions, reason: string): Fault =>
  new Fault('log-login-failed', `Kafka refused the login of ${username} by ${mechanism}: ${reason}. Check TRIBUTARY_KAFKA_SASL_*.`)
