import { createLocalJWKSet, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose'
import { errors } from 'jose'
import { Fault } from '../../schemas/fault.ts'
import { memberOf, textMember } from '../json-member.ts'

/** The public keys of an OIDC issuer. */
export interface IssuerKeys {
  /** Returns the key with which a JWT was signed. Throws an error of `jose` if the issuer has no such key, and `oidc-unavailable` if it does not answer. */
  keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>
  /** Fetches the keys, and returns their number. Fault: `oidc-unavailable`. */
  fetchNow(): Promise<number>
}

export interface IssuerKeysParts {
  readonly issuer: string
  readonly clock: { now(): number }
  /** Called with the error if the keys cannot be fetched. */
  failed(error: unknown): void
  /** The maximum time of each of the two requests. Default: 2 s. */
  readonly timeoutMs?: number
}

/** The keys are fetched at most once in this time, even if requests with unknown keys arrive or the issuer does not answer. */
export const COOLDOWN_MS = 60_000
/** Older keys are fetched again before they are used, so that a key that the issuer has removed is no longer accepted. */
export const MAX_AGE_MS = 10 * 60_000
const TIMEOUT_MS = 2_000

interface Known {
  readonly keyOf: ReturnType<typeof createLocalJWKSet>
  readonly at: number
}

/** The keys of an issuer: cached, and fetched again if a JWT names an unknown key. */
export const createIssuerKeys = (parts: IssuerKeysParts): IssuerKeys => {
  const { clock, failed } = parts
  let known: Known | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  const refresh = (): Promise<void> => {
    triedAt = clock.now()
    fetching = fetchKeys(parts)
      .then((keys) => {
        known = { keyOf: createLocalJWKSet({ keys: [...keys] }), at: clock.now() }
      })
      .catch(failed)
      .finally(() => (fetching = undefined))
    return fetching
  }
  /** Fetches the keys again, unless they were fetched in the last minute. */
  const refreshed = async (): Promise<boolean> => {
    if (fetching !== undefined) await fetching
    else if (clock.now() - triedAt >= COOLDOWN_MS) await refresh()
    else return false
    return true
  }
  const current = async (): Promise<Known> => {
    // If the issuer does not answer, the old keys are used.
    if (known === undefined || clock.now() - known.at >= MAX_AGE_MS) await refreshed()
    if (known !== undefined) return known
    throw unavailable(parts.issuer)
  }
  return {
    async keyOf(header, token) {
      const { keyOf } = await current()
      try {
        return await keyOf(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !(await refreshed())) throw error
        return (await current()).keyOf(header, token)
      }
    },
    fetchNow: async () => (await fetchKeys(parts)).length,
  }
}

type Jwks = Parameters<typeof createLocalJWKSet>[0]['keys']

const fetchKeys = async ({ issuer, timeoutMs = TIMEOUT_MS }: IssuerKeysParts): Promise<Jwks> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(url, timeoutMs)
  if (textMember(document, 'issuer') !== issuer)
    throw unavailable(
      issuer,
      `${url} names the issuer "${textMember(document, 'issuer')}"; set TRIBUTARY_OIDC_ISSUER to the exact name`,
    )
  const keysUrl = textMember(document, 'jwks_uri')
  if (!URL.canParse(keysUrl)) throw unavailable(issuer, `${url} has no jwks_uri`)
  const keys = memberOf(await fetchJson(keysUrl, timeoutMs), 'keys')
  if (!Array.isArray(keys)) throw unavailable(issuer, `${keysUrl} has no keys`)
  return keys as Jwks
}

const fetchJson = async (url: string, timeoutMs: number): Promise<unknown> => {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    return await response.json()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Fault(
      'oidc-unavailable',
      `${url} cannot be read: ${reason}. Check TRIBUTARY_OIDC_ISSUER and the network.`,
      { retriable: true, cause },
    )
  }
}

const unavailable = (issuer: string, detail = 'its keys cannot be fetched now'): Fault =>
  new Fault('oidc-unavailable', `The keys of the issuer ${issuer} are not known: ${detail}.`, { retriable: true })
