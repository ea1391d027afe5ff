import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ChangeFeed } from '../../projections/changes.ts'
import type { Item, Key } from '../../projections/item.ts'
import type { Reader } from '../../projections/table.ts'
import { BEARER_PREFIX, domainOfToken, hashToken, type Scope } from '../access/pat.ts'
import { SESSION_PREFIX } from '../access/sessions.ts'
import { Problem } from './problem.ts'
import type { Caller, Draft, FurtherReaders, OutcomeTracker, Route, TrackedSeries } from './route.ts'
import { credentialsOf, type PresentedRequest, type Recognised, type Scheme } from './scheme.ts'

/** A personal access token, as its item stores it. */
export interface Pat {
  readonly id: string
  readonly user: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly lastUsedAt: string | undefined
}

/** The functions with which a domain stores its tokens and the usage of its routes. */
export interface Access {
  /** Finds the key of the token's item by the hash of the token. Reads an index, which can be behind the table. */
  find(reader: Reader, hash: string): Promise<Key | undefined>
  /** Reads the token from its item. Undefined if the token is revoked. */
  pat(item: Item): Pat | undefined
  /** True if the token no longer works although its item exists. Default: a token works while its item exists. */
  hasEnded?(reader: Reader, item: Item): Promise<boolean>
  userOf(key: Key): string
  /** Routes that every domain has on the same paths. The token of a request selects the domain. */
  readonly routes: readonly Route[]
  usageKey(user: string, day: string): Key
  used(patId: string, day: string): Draft
  sampled(sample: {
    readonly day: string
    readonly reads: number
    readonly writes: number
    readonly weight: number
  }): Draft
}

/** The maximum number of requests per person and UTC day. Null: no limit. */
export interface Quota {
  readonly reads: number | null
  readonly writes: number | null
}

/** The generation that serves the requests of a domain. */
export interface ServingGeneration {
  readonly reader: Reader
  /** The changes of the generation's items. Undefined if the store has no change feed. */
  readonly changes?: ChangeFeed | undefined
  readonly generation: number
  readonly outcomes: OutcomeTracker
  readonly series?: TrackedSeries | undefined
  readonly further?: FurtherReaders | undefined
  /** Throws a retriable fault if items of the generation can be missing. Then an absent item does not prove that a token is unknown. */
  readonly confirm?: (() => Promise<void>) | undefined
}

export interface AuthenticationParts {
  readonly domain: string
  readonly access: Access
  readonly serving: () => Promise<ServingGeneration>
  readonly quota: Quota
  /** Ways to authenticate without a token. */
  readonly schemes?: readonly Scheme[] | undefined
}

export interface AuthenticatedCaller extends Caller {
  readonly lastUsedAt: string | undefined
}

export interface Authentication {
  /** Authenticates a request by the first scheme for which it has credentials, otherwise by its token. */
  ofRequest(request: PresentedRequest, need: RequiredAccess): Promise<AuthenticatedCaller>
  /** Authenticates by the token in the text of an `Authorization` header. */
  ofToken(authorization: string | undefined, need: RequiredAccess): Promise<AuthenticatedCaller>
}

interface RequiredAccess {
  /** The quota to which the request belongs. */
  readonly kind: 'read' | 'write'
  /** The scope that the route requires. Default: the kind. */
  readonly scope?: Scope | undefined
  /** Another scope that also admits the token. Default: none. */
  readonly or?: Scope | undefined
  readonly now: number
}

/** The maximum number of cached keys of token items. The cache saves the read of the index. Every request still reads the item itself. */
const MOST_CACHED_KEYS = 10_000

export const createAuthentication = (parts: AuthenticationParts): Authentication => {
  const { domain, access, serving, quota, schemes = [] } = parts
  const tokens = createTokenAuthentication(parts)

  const ofToken: Authentication['ofToken'] = async (authorization, need) => {
    const token = presentedToken(authorization)
    const hash = hashToken(token)
    // A token whose item key is cached has passed this check before.
    if (!tokens.isCached(hash)) requireOurs(token, domain)
    return tokens.callerOf(hash, need)
  }
  const recognised = async (person: Recognised, need: RequiredAccess): Promise<AuthenticatedCaller> => {
    const { kind, now } = need
    const { session } = person
    if (session?.token) {
      if (session.token.domain !== domain) throw otherSession(session.token.domain, domain)
      return { ...(await tokens.callerOf(session.token.hash, need)), session }
    }
    requireScope(OWN_SCOPES, need)
    const answering = await serving()
    if (isMetered(quota))
      enforceQuota(quota, await answering.reader.get(access.usageKey(person.user, utcDay(now))), { kind, now })
    return { ...person, domain, patId: null, scopes: OWN_SCOPES, ...readBy(answering), lastUsedAt: undefined }
  }
  const ofRequest: Authentication['ofRequest'] = async (request, need) => {
    const { authorization } = request
    for (const scheme of schemes) {
      const credentials = scheme.credentialsIn
        ? scheme.credentialsIn(request)
        : credentialsOf(scheme.name, authorization ?? '')
      if (credentials !== undefined) return recognised(await scheme.recognise(credentials, need.now, request), need)
    }
    return ofToken(authorization, need)
  }
  return { ofRequest, ofToken }
}

const isMetered = ({ reads, writes }: Quota): boolean => reads !== null || writes !== null

/** Authenticates by the hash of a token. */
const createTokenAuthentication = ({ domain, access, serving, quota }: AuthenticationParts) => {
  const keys = new Map<string, Key>()

  const keyOf = async (reader: Reader, hash: string): Promise<Key | undefined> => {
    const known = keys.get(hash)
    if (known) return known
    const key = await access.find(reader, hash)
    if (!key) return undefined
    if (keys.size >= MOST_CACHED_KEYS) keys.clear()
    keys.set(hash, key)
    return key
  }
  const items = async (reader: Reader, key: Key, day: string): Promise<readonly (Item | undefined)[]> =>
    isMetered(quota) ? reader.getMany([key, access.usageKey(access.userOf(key), day)]) : [await reader.get(key)]

  return {
    isCached: (hash: string): boolean => keys.has(hash),
    async callerOf(hash: string, need: RequiredAccess): Promise<AuthenticatedCaller> {
      const { kind, now } = need
      const answering = await serving()
      const { reader, confirm } = answering
      const key = await keyOf(reader, hash)
      if (!key) return unknownToken(confirm)
      const [item, usage] = await items(reader, key, utcDay(now))
      const pat = item && access.pat(item)
      if (!item || !pat || !sameHash(pat.hash, hash)) {
        keys.delete(hash)
        return unknownToken(confirm)
      }
      if (await access.hasEnded?.(reader, item)) throw endedToken()
      requireScope(pat.scopes, need)
      enforceQuota(quota, usage, { kind, now })
      return {
        user: pat.user,
        domain,
        patId: pat.id,
        scopes: pat.scopes,
        ...readBy(answering),
        lastUsedAt: pat.lastUsedAt,
      }
    },
  }
}

const otherSession = (of: string, domain: string) =>
  unauthorized(
    'token-unknown',
    `The session belongs to a token for ${of}, not for ${domain}. Sign in with a token for ${domain}.`,
  )

/** The parts of a serving generation that the routes of a request use. */
const readBy = ({ reader, generation, outcomes, series, further }: ServingGeneration) => ({
  reader,
  generation,
  outcomes,
  series,
  further,
})

/** The scopes of a caller who was authenticated by a scheme. */
const OWN_SCOPES: readonly Scope[] = ['read', 'write']

const requireScope = (scopes: readonly Scope[], { kind, scope = kind, or = scope }: RequiredAccess): void => {
  if (scopes.includes(scope) || scopes.includes(or)) return
  const detail =
    scope === 'admin'
      ? 'Only an administrator may send this request. Create a token with the scope "admin": tributary token create --scopes read,write,admin.'
      : `The token may not ${scope}. Create a token with the scope "${scope}".`
  throw new Problem(403, 'scope-missing', detail)
}

const BEARER = 'Bearer'

const presentedToken = (authorization: string | undefined): string => {
  if (authorization === undefined || authorization === '')
    throw unauthorized(
      'token-missing',
      'Send Authorization: Bearer <token>. The command `tributary token create` creates a token.',
    )
  const token = credentialsOf(BEARER, authorization)
  if (token === undefined) throw malformed()
  return token
}

/**
 * A constraint for routes of the web framework. If several domains have a route with the same path, the domain in the prefix of the token, or of
 * the session's id, selects the route. That domain then checks the whole token or session.
 */
export const byTokenDomain = {
  name: 'tokenDomain',
  storage: () => new Map(),
  deriveConstraint: ({ headers: { authorization, cookie = '' } }: Pick<IncomingMessage, 'headers'>): string =>
    (authorization === undefined ? SESSION_PREFIX.exec(cookie) : BEARER_PREFIX.exec(authorization))?.[1] ?? '',
} as const

/** Throws if the token is malformed or is for another domain. Reads no store. */
const requireOurs = (token: string, domain: string): void => {
  const domainOf = domainOfToken(token)
  if (domainOf === undefined) throw malformed()
  if (domainOf !== domain)
    throw unauthorized('token-unknown', `The token is for ${domainOf}, not for ${domain}. Create one for ${domain}.`)
}

const malformed = () =>
  unauthorized('token-malformed', 'The credentials are not a valid token. Check that you copied the whole token.')

const unknownToken = async (confirm: ServingGeneration['confirm']): Promise<never> => {
  await confirm?.()
  throw unauthorized('token-unknown', 'The token is not known or was revoked. Create a new one.')
}

const endedToken = () =>
  unauthorized(
    'token-ended',
    'The token has ended, because its device or the person who created it lost their access. Create a new one.',
  )

type TokenCode = 'token-missing' | 'token-malformed' | 'token-unknown' | 'token-ended'

const unauthorized = (code: TokenCode, detail: string): Problem<TokenCode> =>
  new Problem(401, code, detail, { headers: { 'www-authenticate': `Bearer error="invalid_token"` } })

/** True if the hashes are equal. For hashes of the same length, the duration does not depend on their content. */
export const sameHash = (stored: string, presented: string): boolean => {
  const [a, b] = [Buffer.from(stored, 'latin1'), Buffer.from(presented, 'latin1')]
  return a.length === b.length && timingSafeEqual(a, b)
}

const DAY_MS = 86_400_000

let latest = { number: Number.NaN, day: '' }

/** The UTC day of an instant. The latest result is cached, because every request needs the day several times. */
export const utcDay = (now: number): string => {
  const number = Math.floor(now / DAY_MS)
  if (number !== latest.number) latest = { number, day: new Date(now).toISOString().slice(0, 10) }
  return latest.day
}

const enforceQuota = (
  quota: Quota,
  usage: Item | undefined,
  { kind, now }: Pick<RequiredAccess, 'kind' | 'now'>,
): void => {
  const [limit, used] = kind === 'read' ? [quota.reads, usage?.['reads']] : [quota.writes, usage?.['writes']]
  if (limit === null || typeof used !== 'number' || used < limit) return
  const detail = `The quota of ${limit} ${kind} requests per UTC day is used up. Wait for the next day, or request a larger quota.`
  throw new Problem(429, 'quota-exceeded', detail, { retryAfter: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000) })
}
