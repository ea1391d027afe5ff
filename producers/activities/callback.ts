import type { ConnectionItem } from '../../projections/activities/items.ts'
import { athleteKey, connections, goneProfiles, stravaSubject } from '../../projections/activities/keys.ts'
import { isFault } from '../../schemas/fault.ts'
import { Problem } from '../http/problem.ts'
import type { ActionCall } from '../http/route.ts'
import { event, refused } from './params.ts'
import { secretRefOf } from './secret-ref.ts'
import type { StravaEdge } from './strava-edge.ts'
import type { GrantedTokens } from './strava/client.ts'
import { TOKENS, tokensIn, type StoredTokens } from './tokens.ts'

/** Another attempt of the same person within this time is refused, because both would store their tokens in the same place. */
const ATTEMPT_MS = 60_000
/** After this time, tokens without a claim are dropped. */
const PENDING_MS = 3_600_000
/** The maximum number of parts of a person that can have been forgotten although no item shows them. */
const MOST_FORGOTTEN = 100

export const requireNotConnected = (connection: ConnectionItem | undefined): void => {
  if (connection?.status === 'CONNECTED' || connection?.status === 'REVOKING')
    throw refused(
      'already-connected',
      connection.status === 'CONNECTED'
        ? 'You are connected with Strava already. Disconnect first: DELETE /strava/connection.'
        : 'The previous connection is being removed. Try again later.',
    )
}

/** The athlete whom the tokens of a callback belong to, with these tokens. */
export interface GrantedAthlete {
  readonly tokens: GrantedTokens
  readonly athleteId: string
  readonly name: string
  readonly scopes: readonly string[]
}

/** The link that a callback creates. */
interface NewLink {
  readonly epoch: number
  readonly subject: string
  readonly stored: StoredTokens
}

/**
 * Stores the tokens, claims the athlete and waits until the claim is visible. If another person owns the athlete, drops the tokens without
 * revoking them: a revocation would end the tokens of the owner.
 */
export const claimAthlete = async (strava: StravaEdge, call: ActionCall, granted: GrantedAthlete): Promise<void> => {
  const { user, reader } = call.caller
  const [connection, gone] = await Promise.all([connections.get(reader, user), goneProfiles.get(reader, user)])
  const isRelink = connection?.status === 'REAUTH_REQUIRED' && connection.athleteId === granted.athleteId
  const first = isRelink ? connection.epoch : Math.max(connection?.epoch ?? 0, gone?.epoch ?? 0) + 1
  const link = await storeTokens(
    strava,
    { user, first, known: isRelink ? connection.secretVersion : 0, now: call.now },
    granted,
  )
  const { epoch, subject, stored } = link
  const { of } = await strava.refs()
  const { athleteId, name, scopes } = granted
  try {
    await call.append({
      key: athleteKey(of('athlete', athleteId)),
      subject,
      awaitDerived: true,
      draft: event(
        'StravaAthleteClaimed',
        {
          userId: user,
          epoch,
          scopes,
          secretRef: secretRefOf(subject),
          secretVersion: stored.version,
          expiresAt: stored.expiresAt,
        },
        { athleteId, name },
      ),
    })
  } catch (error) {
    if (error instanceof Problem && error.code === 'athlete-owned') await dropTokens(strava, link)
    throw error
  }
  await confirmTokens(strava, link)
}

interface NewTokens {
  readonly user: string
  /** The epoch of the link, if this part of the person was not forgotten. */
  readonly first: number
  /** The version of the tokens that the connection knows. */
  readonly known: number
  readonly now: number
}

/** Stores the tokens as pending. A part of a person that was forgotten accepts no data, so the link gets the next epoch that does. */
const storeTokens = async (
  { secrets }: StravaEdge,
  { user, first, known, now }: NewTokens,
  { tokens: { access, refresh, expiresAt } }: GrantedAthlete,
): Promise<NewLink> => {
  for (let epoch = first; ; epoch += 1) {
    const subject = stravaSubject(user, epoch)
    try {
      const secret = await secrets.read(subject, TOKENS)
      const previous = secret && tokensIn(secret)
      if (previous?.pendingSince !== undefined && now - previous.pendingSince < ATTEMPT_MS) throw attemptRunning()
      const version = Math.max(previous?.version ?? 0, known) + 1
      const stored: StoredTokens = { access, refresh, expiresAt, version, pendingSince: now }
      const value = JSON.stringify(stored)
      const conflict = await secrets.write(subject, TOKENS, { expect: secret?.version ?? 0, value })
      if (conflict !== undefined) throw attemptRunning()
      return { epoch, subject, stored }
    } catch (error) {
      if (!isFault(error, 'part-forgotten') || epoch >= first + MOST_FORGOTTEN) throw error
    }
  }
}

const attemptRunning = (): Problem =>
  refused('already-connected', 'Another attempt to connect is running. Try again in a minute.')

const dropTokens = async ({ secrets }: StravaEdge, { subject, stored }: NewLink): Promise<void> => {
  const secret = await secrets.read(subject, TOKENS)
  if (secret !== undefined && tokensIn(secret).access === stored.access) await secrets.drop(subject, TOKENS)
}

/** Marks the tokens as claimed. If this fails, the first refresh of the tokens does it. */
const confirmTokens = async ({ secrets }: StravaEdge, { subject, stored }: NewLink): Promise<void> => {
  const secret = await secrets.read(subject, TOKENS)
  if (secret === undefined || tokensIn(secret).version !== stored.version) return
  const { pendingSince: _, ...claimed } = tokensIn(secret)
  await secrets.write(subject, TOKENS, { expect: secret.version, value: JSON.stringify(claimed) })
}

/** Drops the tokens of an attempt to connect that never claimed its athlete. */
export const dropAbandoned = async (
  { secrets }: StravaEdge,
  { caller: { reader, user }, now }: ActionCall,
): Promise<void> => {
  const connection = await connections.get(reader, user)
  const subject = stravaSubject(user, (connection?.epoch ?? 0) + 1)
  const secret = await secrets.read(subject, TOKENS).catch((error: unknown) => {
    if (isFault(error, 'part-forgotten')) return undefined
    throw error
  })
  const pendingSince = secret && tokensIn(secret).pendingSince
  if (pendingSince !== undefined && now - pendingSince >= PENDING_MS) await secrets.drop(subject, TOKENS)
}
