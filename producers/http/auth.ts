import { timingSafeEqual } from 'node:crypto'
import type { ChangeFeed } from '../../projections/changes.ts'
import type { Item, Key } from '../../projections/item.ts'
import type { Reader } from '../../projections/table.ts'
import { domainOfToken, hashToken, type Scope } from '../pat.ts'
import { Problem } from './problem.ts'
import type { Caller, Draft, Hearing, Route, SeriesHeard } from './route.ts'
import { credentialsOf, type Scheme } from './scheme.ts'

/** A token as its base item tells it. */
export interface Pat {
  readonly id: string
  readonly user: string
  readonly hash: string
  readonly scopes: readonly Scope[]
  readonly lastUsedAt: string | undefined
}

/** What the edge needs to know of a domain's tokens and usage. */
export interface Access {
  /** Where the token with this hash lies; by an index, which may be late. */
  find(reader: Reader, hash: string): Promise<Key | undefined>
  /** The token at its base item; undefined when it is revoked. */
  pat(item: Item): Pat | undefined
  /** Whether the token no longer works although its item is still there. Absent: a token works as long as its item is there. */
  hasEnded?(reader: Reader, item: Item): Promise<boolean>
  userOf(key: Key): string
  /** Routes that every domain has on the same paths. The token of a request selects the domain. */
  readonly routes: readonly Route[]
  usageKey(user: string, day: string): Key
  used(patId: string, day: string): Draft
  sampled(sample: { readonly day: string; readonly reads: number; readonly writes: number; readonly weight: number }): Draft
}

/** Requests a person may make in a UTC day; null: as many as they like. */
export interface Quota {
  readonly reads: number | null
  readonly writes: number | null
}

export interface Answering {
  readonly reader: Reader
  /** What changes in it, where that can be watched. */
  readonly changes?: ChangeFeed | undefined
  readonly generation: number
  readonly outcomes: Hearing
  readonly series?: SeriesHeard | undefined
  /** Throws a retriable fault if the items are known to be incomplete: an absent item proves nothing then. */
  readonly confirm?: (() => Promise<void>) | undefined
}

export interface AuthenticationParts {
  readonly domain: string
  readonly access: Access
  readonly questions: () => Promise<Answering>
  readonly quota: Quota
  /** How people come in without a token. */
  readonly schemes?: readonly Scheme[] | undefined
}

export interface Admitted extends Caller {
  readonly lastUsedAt: string | undefined
}

export type Authenticate = (authorization: string | undefined, need: Need) => Promise<Admitted>

interface Need {
  readonly scope: 'read' | 'write'
  /** A scope that will do as well. */
  readonly or?: Scope | undefined
  readonly now: number
}

/** Keys by hash, so that most requests read base items only. They are never trusted: the base item is read each time. */
const REMEMBERED_KEYS = 10_000

export const createAuthentication = ({ domain, access, questions, quota, schemes = [] }: AuthenticationParts): Authenticate => {
  const keys = new Map<string, Key>()
  const metered = quota.reads !== null || quota.writes !== null

  const keyOf = async (reader: Reader, hash: string): Promise<Key | undefined> => {
    const known = keys.get(hash)
    if (known) return known
    const key = await access.find(reader, hash)
    if (!key) return undefined
    if (keys.size >= REMEMBERED_KEYS) keys.clear()
    keys.set(hash, key)
    return key
  }
  const items = async (reader: Reader, key: Key, day: string): Promise<readonly (Item | undefined)[]> =>
    metered ? reader.getMany([key, access.usageKey(access.userOf(key), day)]) : [await reader.get(key)]

  const byToken: Authenticate = async (authorization, { scope, or = scope, now }) => {
    const token = presentedToken(authorization)
    const hash = hashToken(token)
    // Whose key is known was looked at when it came first.
    if (!keys.has(hash)) demandOurs(token, domain)
    const { reader, generation, outcomes, series, confirm } = await questions()
    const key = await keyOf(reader, hash)
    if (!key) return unknownToken(confirm)
    const [item, usage] = await items(reader, key, utcDay(now))
    const pat = item && access.pat(item)
    if (!item || !pat || !sameHash(pat.hash, hash)) {
      keys.delete(hash)
      return unknownToken(confirm)
    }
    if (await access.hasEnded?.(reader, item)) throw endedToken()
    if (!pat.scopes.includes(scope) && !pat.scopes.includes(or)) throw new Problem(403, 'scope-missing', `The token may not ${scope}: make one with the scope "${scope}".`)
    enforce(quota, usage, { scope, now })
    return { user: pat.user, domain, patId: pat.id, scopes: pat.scopes, reader, generation, outcomes, series, lastUsedAt: pat.lastUsedAt }
  }
  const byScheme = async (scheme: Scheme, credentials: string, { scope, now }: Need): Promise<Admitted> => {
    const recognised = scheme.recognise(credentials, now)
    const { reader, generation, outcomes, series } = await questions()
    if (metered) enforce(quota, await reader.get(access.usageKey(recognised.user, utcDay(now))), { scope, now })
    return { ...recognised, domain, patId: null, scopes: OWN_SCOPES, reader, generation, outcomes, series, lastUsedAt: undefined }
  }
  return async (authorization, need) => {
    for (const scheme of schemes) {
      const credentials = credentialsOf(scheme.name, authorization ?? '')
      if (credentials !== undefined) return byScheme(scheme, credentials, need)
    }
    return byToken(authorization, need)
  }
}

/** Of who came in as themselves. */
const OWN_SCOPES: readonly Scope[] = ['read', 'write']

const BEARER = 'Bearer'

const presentedToken = (authorization: string | undefined): string => {
  if (authorization === undefined || authorization === '') throw unauthorized('token-missing', 'Send Authorization: Bearer <token>; `tributary token create` makes one.')
  const token = credentialsOf(BEARER, authorization)
  if (token === undefined) throw malformed()
  return token
}

/** Selects one of several routes by the domain in the token's prefix. `authenticate` of that domain then checks the whole token. */
export const byTokenDomain = {
  name: 'tokenDomain',
  storage: () => new Map(),
  deriveConstraint: ({ headers: { authorization = '' } }: { readonly headers: { readonly authorization?: string | undefined } }): string => /^bearer trib_([a-z]+)_/i.exec(authorization)?.[1] ?? '',
} as const

/** Told without asking any store. */
const demandOurs = (token: string, domain: string): void => {
  const domainOf = domainOfToken(token)
  if (domainOf === undefined) throw malformed()
  if (domainOf !== domain) throw unauthorized('token-unknown', `The token is for ${domainOf}, not for ${domain}: make one for ${domain}.`)
}

const malformed = () => unauthorized('token-malformed', 'What was sent is not a token of ours, or was cut or mistyped: check that it was copied whole.')

const unknownToken = async (confirm: Answering['confirm']): Promise<never> => {
  await confirm?.()
  throw unauthorized('token-unknown', 'The token is not known or was revoked: make a new one.')
}

const endedToken = () => unauthorized('token-ended', 'The token has ended: the device left the location, or the member who created the token did. Create a new one.')

const unauthorized = (code: string, detail: string) => new Problem(401, code, detail, { headers: { 'www-authenticate': `Bearer error="invalid_token"` } })

export const sameHash = (kept: string, presented: string): boolean => {
  const [a, b] = [Buffer.from(kept, 'latin1'), Buffer.from(presented, 'latin1')]
  return a.length === b.length && timingSafeEqual(a, b)
}

const MS_A_DAY = 86_400_000

let known = { number: Number.NaN, day: '' }

/** Asked several times a request, and the same for a day. */
export const utcDay = (now: number): string => {
  const number = Math.floor(now / MS_A_DAY)
  if (number !== known.number) known = { number, day: new Date(now).toISOString().slice(0, 10) }
  return known.day
}

const enforce = (quota: Quota, usage: Item | undefined, { scope, now }: Pick<Need, 'scope' | 'now'>): void => {
  const [limit, used] = scope === 'read' ? [quota.reads, usage?.['reads']] : [quota.writes, usage?.['writes']]
  if (limit === null || typeof used !== 'number' || used < limit) return
  const detail = `The quota of ${limit} ${scope}s in a UTC day is used up: wait for the next day, or ask for a larger one.`
  throw new Problem(429, 'quota-exceeded', detail, { retryAfter: Math.ceil((MS_A_DAY - (now % MS_A_DAY)) / 1000) })
}
