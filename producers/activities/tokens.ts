import type { Secret, Secrets } from '../../processors/engine/ports/secrets.ts'
import { isFault } from '../../schemas/fault.ts'
import type { StravaClient, TokenPair } from './strava/client.ts'
import { isRefreshTokenInvalid, type StravaFailure } from './strava/failure.ts'

/** The name of the secret with the tokens of a link. Its subject is the link, such as `ada~strava~1`. */
export const TOKENS = 'strava'

/** The tokens of a link, as the secret stores them. */
export interface StoredTokens extends TokenPair {
  /** 1 for the tokens of the callback. Increases by 1 with each refresh. */
  readonly version: number
  /** The refresh token of the previous version. */
  readonly previous?: string
  /** A process refreshes the tokens. Until this time, other processes wait. Epoch milliseconds. */
  readonly refreshingUntil?: number
  /** The time at which the callback stored the tokens. Present until the claim of the athlete is accepted. Epoch milliseconds. */
  readonly pendingSince?: number
}

/** The result of a request for an access token. */
export type AccessToken =
  | { readonly kind: 'token'; readonly access: string; readonly tokens: StoredTokens }
  /** Another process refreshes the tokens. Try again at `at`. */
  | { readonly kind: 'later'; readonly at: number }
  /** Strava refused the refresh token, and the access token does not work either. */
  | { readonly kind: 'lost'; readonly version: number }
  /** Strava did not answer the refresh, or refused it for a reason that does not concern the tokens. */
  | { readonly kind: 'failed'; readonly failure: StravaFailure }
  /** The link has no tokens. */
  | { readonly kind: 'none' }

export interface TokenKeeper {
  /**
   * Returns an access token that is valid for more than 5 minutes. Refreshes the tokens if necessary, and stores the new tokens before it
   * returns one. `refused`: the version of the tokens whose access token Strava refused. Then the result has a later version.
   */
  accessToken(
    subject: string,
    options?: { readonly refused?: number; readonly signal?: AbortSignal },
  ): Promise<AccessToken>
}

const REFRESH_BEFORE_MS = 5 * 60_000
/** Longer than the timeout of the request to Strava and the writes around it. */
const REFRESH_MS = 60_000
const WAIT_MS = 2_000

export const createTokenKeeper = ({
  secrets,
  strava,
  clock,
}: {
  readonly secrets: Secrets
  readonly strava: Pick<StravaClient, 'refresh'>
  readonly clock: { now(): number }
}): TokenKeeper => {
  /** Tokens that Strava gave to this process, until the key store has them. Strava may not give them a second time. */
  const unsaved = new Map<string, StoredTokens>()

  const save = async (subject: string, next: StoredTokens): Promise<StoredTokens | undefined> => {
    unsaved.set(subject, next)
    const saved = await replaceOlder(secrets, subject, next)
    unsaved.delete(subject)
    return saved
  }

  const refresh = async (subject: string, secret: Secret, refused: number | undefined, signal?: AbortSignal) => {
    const held = tokensIn(secret)
    const mine = { ...held, refreshingUntil: clock.now() + REFRESH_MS }
    const conflict = await secrets.write(subject, TOKENS, { expect: secret.version, value: JSON.stringify(mine) })
    if (conflict !== undefined) return { kind: 'later', at: clock.now() + WAIT_MS } as const
    let answer = await strava.refresh(held.refresh, { signal })
    if ('failure' in answer && isRefreshTokenInvalid(answer.failure) && held.previous !== undefined)
      answer = await strava.refresh(held.previous, { signal })
    if ('failure' in answer) return unrefreshed({ subject, held, version: secret.version + 1, refused }, answer.failure)
    const { access, refresh: next, expiresAt } = answer.result
    return valid(
      await save(subject, { access, refresh: next, expiresAt, version: held.version + 1, previous: held.refresh }),
    )
  }

  /** Removes the mark, so that the next attempt does not wait. `version`: the version of the secret with the mark. */
  const unrefreshed = async (
    {
      subject,
      held,
      version,
      refused,
    }: { subject: string; held: StoredTokens; version: number; refused?: number | undefined },
    failure: StravaFailure,
  ): Promise<AccessToken> => {
    const { refreshingUntil: _, ...unmarked } = held
    const newer = await secrets.write(subject, TOKENS, { expect: version, value: JSON.stringify(unmarked) })
    if (!isRefreshTokenInvalid(failure)) return { kind: 'failed', failure }
    const stored = newer === undefined || newer.version === 0 ? held : tokensIn(newer)
    if (stored.version > held.version) return valid(stored)
    return refused === undefined && held.expiresAt > clock.now() ? valid(held) : { kind: 'lost', version: held.version }
  }

  return {
    async accessToken(subject, { refused, signal } = {}) {
      const kept = unsaved.get(subject)
      if (kept !== undefined) await save(subject, kept)
      const secret = await secrets.read(subject, TOKENS)
      if (secret === undefined) return { kind: 'none' }
      const held = tokensIn(secret)
      const isUsable = refused === undefined || held.version > refused
      if (isUsable && held.expiresAt - clock.now() > REFRESH_BEFORE_MS) return valid(held)
      if (held.refreshingUntil !== undefined && held.refreshingUntil > clock.now())
        return { kind: 'later', at: Math.min(held.refreshingUntil, clock.now() + WAIT_MS) }
      return refresh(subject, secret, isUsable ? undefined : refused, signal).catch(noneIfForgotten)
    },
  }
}

const valid = (tokens: StoredTokens | undefined): AccessToken =>
  tokens === undefined ? { kind: 'none' } : { kind: 'token', access: tokens.access, tokens }

const noneIfForgotten = (error: unknown): AccessToken => {
  if (isFault(error, 'part-forgotten')) return { kind: 'none' }
  throw error
}

/** The tokens in a secret that this program has written. */
export const tokensIn = ({ value }: Secret): StoredTokens => JSON.parse(value) as StoredTokens

/**
 * Stores the tokens if the secret has tokens of an earlier version. Resolves to the tokens that the secret has then, or to undefined if the
 * secret was dropped.
 */
const replaceOlder = async (
  secrets: Secrets,
  subject: string,
  next: StoredTokens,
): Promise<StoredTokens | undefined> => {
  let secret = await secrets.read(subject, TOKENS)
  while (secret !== undefined && secret.version > 0) {
    const stored = tokensIn(secret)
    if (stored.version >= next.version) return stored
    const conflict: Secret | undefined = await secrets.write(subject, TOKENS, {
      expect: secret.version,
      value: JSON.stringify(next),
    })
    if (conflict === undefined) return next
    secret = conflict
  }
  return undefined
}
