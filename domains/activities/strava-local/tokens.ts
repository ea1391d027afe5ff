import { createHash } from 'node:crypto'
import type { LocalClock } from './clock.ts'
import type { Settings } from './settings.ts'

/** Access tokens expire six hours after they are created. */
const ACCESS_SECONDS = 21_600
/** A refresh returns the existing access token if it expires later than in this time. */
const REUSE_SECONDS = 3_600
/** Codes are short lived. Strava documents no number. */
const CODE_SECONDS = 600

/** The grant of one athlete to the application, with its tokens. */
export interface Grant {
  readonly athlete: string
  scopes: ReadonlySet<string>
  /** The access tokens that have not expired, with their expiry in epoch seconds, oldest first. */
  readonly access: Map<string, number>
  /** The refresh token that is returned by refreshes. */
  refresh: string
  /** Every refresh token that works. */
  readonly refreshes: Set<string>
}

export interface TokenPair {
  readonly grant: Grant
  readonly access: string
  readonly refresh: string
  readonly expiresAt: number
}

/** The OAuth state of the application. Tokens depend on the seed and on the number of tokens that were made before. */
export interface Tokens {
  /** Creates an authorization code for the scopes that the athlete has granted. */
  authorize(athlete: string, scopes: readonly string[]): string
  exchange(code: string): TokenPair | 'invalid' | 'expired'
  refresh(token: string): TokenPair | undefined
  /** The grant of an access token that works now. */
  grantOf(access: string): Grant | undefined
  /** The grant of any token that works now. */
  grantOfAny(token: string): Grant | undefined
  grantOfAthlete(athlete: string): Grant | undefined
  /** The number of athletes that have linked the application. */
  linked(): number
  /** Creates tokens for an athlete without an authorization code. */
  grant(athlete: string, scopes: readonly string[]): TokenPair
  /** Ends every token of the grant. */
  end(grant: Grant): void
}

const isExpired = (expiresAt: number, clock: LocalClock): boolean => expiresAt <= clock.seconds()

const newest = (grant: Grant): readonly [string, number] | undefined => [...grant.access].at(-1)

const pair = (grant: Grant): TokenPair => {
  const [access, expiresAt] = newest(grant) ?? ['', 0]
  return { grant, access, refresh: grant.refresh, expiresAt }
}

const emptyGrant = (athlete: string): Grant => ({
  athlete,
  scopes: new Set(),
  access: new Map(),
  refresh: '',
  refreshes: new Set(),
})

export const createTokens = (seed: number, clock: LocalClock, settings: Settings): Tokens => {
  const codes = new Map<string, { athlete: string; scopes: readonly string[]; expiresAt: number; isUsed: boolean }>()
  const grants = new Map<string, Grant>()
  const byAccess = new Map<string, Grant>()
  const byRefresh = new Map<string, Grant>()
  let made = 0
  const make = (kind: string): string => createHash('sha1').update(`${seed}/${kind}/${made++}`).digest('hex')

  const addRefresh = (grant: Grant): void => {
    grant.refresh = make('refresh')
    grant.refreshes.add(grant.refresh)
    byRefresh.set(grant.refresh, grant)
  }
  const addAccess = (grant: Grant): void => {
    for (const [token, expiresAt] of grant.access)
      if (isExpired(expiresAt, clock)) {
        grant.access.delete(token)
        byAccess.delete(token)
      }
    const token = make('access')
    grant.access.set(token, clock.seconds() + ACCESS_SECONDS)
    byAccess.set(token, grant)
  }
  /** A second consent replaces the scopes of the first one. The tokens of the first one keep working. */
  const grantScopes = (athlete: string, scopes: readonly string[]): TokenPair => {
    const grant = grants.get(athlete) ?? emptyGrant(athlete)
    grants.set(athlete, grant)
    grant.scopes = new Set(scopes)
    if (grant.refresh === '') addRefresh(grant)
    addAccess(grant)
    return pair(grant)
  }

  const grantOf = (access: string): Grant | undefined => {
    const grant = byAccess.get(access)
    const expiresAt = grant?.access.get(access)
    return grant === undefined || expiresAt === undefined || isExpired(expiresAt, clock) ? undefined : grant
  }
  return {
    grant: grantScopes,
    grantOf,
    grantOfAny: (token) => grantOf(token) ?? byRefresh.get(token),
    grantOfAthlete: (athlete) => grants.get(athlete),
    linked: () => grants.size,
    authorize: (athlete, scopes) => {
      const code = make('code')
      codes.set(code, { athlete, scopes, expiresAt: clock.seconds() + CODE_SECONDS, isUsed: false })
      return code
    },
    exchange: (code) => {
      const known = codes.get(code)
      if (known === undefined) return 'invalid'
      if (known.isUsed || isExpired(known.expiresAt, clock)) return 'expired'
      known.isUsed = true
      return grantScopes(known.athlete, known.scopes)
    },
    refresh: (token) => {
      const grant = byRefresh.get(token)
      if (grant === undefined) return undefined
      const left = (newest(grant)?.[1] ?? 0) - clock.seconds()
      if (left > REUSE_SECONDS) return pair(grant)
      addAccess(grant)
      if (settings.rotation === 'same') return pair(grant)
      if (settings.rotation === 'strict') {
        for (const old of grant.refreshes) byRefresh.delete(old)
        grant.refreshes.clear()
      }
      addRefresh(grant)
      return pair(grant)
    },
    end: (grant) => {
      for (const token of grant.access.keys()) byAccess.delete(token)
      for (const token of grant.refreshes) byRefresh.delete(token)
      grants.delete(grant.athlete)
    },
  }
}
