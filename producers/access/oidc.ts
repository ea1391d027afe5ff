import { createHash } from 'node:crypto'
import { errors, jwtVerify, type JWTPayload } from 'jose'
import { Problem } from '../http/problem.ts'
import { credentialsOf, type Recognised, type Scheme } from '../http/scheme.ts'
import { isFault, messageOf } from '../../schemas/fault.ts'
import { createIssuerKeys, type IssuerKeysParts } from './oidc-keys.ts'

export interface OidcParts extends IssuerKeysParts {
  readonly audience: string
}

/** The clocks of the issuer and of this server can differ by this number of seconds. */
const TOLERANCE_S = 60
const ALGORITHMS = ['RS256', 'ES256']
const PAT_PREFIX = 'trib_'

/** Authenticates by a JWT of an OIDC issuer in `Authorization: Bearer`. Personal access tokens have a prefix of their own, and are not read here. */
export const oidcScheme = (parts: OidcParts): Scheme => {
  const keys = createIssuerKeys(parts)
  return {
    name: 'oidc',
    description: `A JWT of ${parts.issuer}.`,
    openapi: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    credentialsIn({ authorization }) {
      const token = credentialsOf('Bearer', authorization ?? '')
      return token === undefined || token.startsWith(PAT_PREFIX) ? undefined : token
    },
    async recognise(token, now) {
      const { issuer, audience } = parts
      const verified = await jwtVerify(token, keys.keyOf, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'exp'],
      }).catch((error: unknown) => {
        throw refusalOf(error)
      })
      return personOf(verified.payload, issuer)
    },
  }
}

const personOf = ({ sub = '', email, email_verified: isVerified }: JWTPayload, issuer: string): Recognised => {
  if (sub === '') throw invalid('its claim sub is empty')
  const hasEmail = typeof email === 'string' && email.length <= 320 && (isVerified === true || isVerified === 'true')
  return { user: userOf(sub, issuer), email: hasEmail ? email : null }
}

const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/
const HASHED = /^oidc-[a-z2-7]{26}$/

/** The user id of a JWT: its `sub`, or a hash of issuer and `sub` if the `sub` has other characters, is too long, or looks like such a hash. */
export const userOf = (sub: string, issuer: string): string => {
  if (PLAIN.test(sub) && !HASHED.test(sub)) return sub
  return `oidc-${base32(createHash('sha256').update(`${issuer}\n${sub}`).digest()).slice(0, 26)}`
}

const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567'

const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((group) => DIGITS.charAt(Number.parseInt(group, 2))).join('')
}

const refusalOf = (error: unknown): unknown => {
  if (isFault(error, 'oidc-unavailable'))
    return new Problem(
      503,
      error.code,
      'The issuer of the JWT does not answer, so the JWT cannot be checked. Send the request again later. Personal access tokens still work.',
      { retryAfter: 60, cause: error },
    )
  if (error instanceof errors.JWTExpired)
    return unauthorized('jwt-expired', 'The JWT has expired. Get a new one from the issuer.')
  if (error instanceof errors.JWTClaimValidationFailed) return invalid(`its claim ${error.claim} is not accepted`)
  if (error instanceof errors.JOSEAlgNotAllowed) return invalid(`its algorithm is not ${ALGORITHMS.join(' or ')}`)
  if (error instanceof errors.JWKSNoMatchingKey) return invalid('the issuer has no such key')
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid('its signature is wrong')
  if (error instanceof errors.JOSEError) return invalid(messageOf(error).toLowerCase())
  return error
}

const invalid = (reason: string): Problem =>
  unauthorized('jwt-invalid', `The credentials are neither a personal access token nor a valid JWT: ${reason}.`)

const unauthorized = (code: 'jwt-invalid' | 'jwt-expired', detail: string): Problem =>
  new Problem(401, code, detail, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })

/** Fetches the keys of the issuer, for `tributary doctor`. Returns the result as a sentence. Fault: `oidc-unavailable`. */
export const checkIssuer = async (issuer: string): Promise<string> => {
  const count = await createIssuerKeys({ issuer, clock: { now: () => 0 }, failed: () => {} }).fetchNow()
  return `${issuer} answers, and has ${count} ${count === 1 ? 'key' : 'keys'}`
}
