import type { AskAnswer, AskCall } from '../../../projections/ask.ts'
import type { ConnectionItem } from '../../../projections/activities/items.ts'
import { connections, stravaSubject } from '../../../projections/activities/keys.ts'
import type { ActivityFetchedPersonal, ActivitiesEvent, FetchedVia } from '../../../schemas/generated/activities.ts'
import type { CallBudget } from '../../../projections/ask.ts'
import type { Event } from '../../../schemas/event.ts'
import type { Secrets } from '../../../processors/engine/ports/secrets.ts'
import { derivedId } from '../../ids.ts'
import type { Refs } from '../refs.ts'
import type { StravaCalls } from '../strava-calls.ts'
import type { StravaClient } from '../strava/client.ts'
import { secretRefOf } from '../secret-ref.ts'
import type { StoredTokens } from '../tokens.ts'

/** The functions that the handlers of asks use. */
export interface AskParts {
  readonly client: StravaClient
  readonly calls: StravaCalls
  readonly budget: CallBudget
  readonly secrets: Secrets
  readonly refs: () => Promise<Refs>
}

/** The link of an ask. All events of its answer have the same `epoch` and subject. */
export interface Link {
  readonly user: string
  readonly epoch: number
  /** The part of the person that seals the data of the link. */
  readonly subject: string
  readonly connection: ConnectionItem
}

/** The fields that the bodies of all asks have. */
export type LinkBody = { readonly epoch: number }

/** Returns the link of an ask. Undefined if the link has ended: then the handler calls nothing. */
export const openLink = async ({ reader, key: user }: AskCall, { epoch }: LinkBody): Promise<Link | undefined> => {
  const connection = await connections.get(reader, user)
  return connection === undefined || connection.epoch !== epoch || epoch <= connection.closedEpoch
    ? undefined
    : { user, epoch, subject: stravaSubject(user, epoch), connection }
}

const WAIT_MS = 5 * 60_000

/**
 * The time until which data of the link is not requested: its token was lost, or it is being revoked. Undefined: it can be requested now.
 */
export const pausedUntil = ({ connection: { status } }: Link, now: number): number | undefined =>
  status === 'CONNECTED' ? undefined : now + WAIT_MS

type DataOf<T extends ActivitiesEvent['type']> = Extract<ActivitiesEvent, Event<T>>['data']

export const answer = <T extends ActivitiesEvent['type']>(type: T, data: DataOf<T>): AskAnswer => ({ type, data })

/**
 * The event that records a refresh, if the connection does not show it yet. A crash can lose the event of an earlier refresh, so the versions are
 * compared. Two answers have the same event with the same id.
 */
export const refreshedBy = (link: Link, tokens: StoredTokens | undefined): readonly AskAnswer[] => {
  if (tokens === undefined || tokens.version <= link.connection.secretVersion) return []
  const { version, expiresAt } = tokens
  const secretRef = secretRefOf(link.subject)
  return [
    {
      ...answer('StravaTokenRefreshed', { epoch: link.epoch, secretRef, version, expiresAt }),
      eventId: derivedId('strava-token', secretRef, String(version)),
    },
  ]
}

export const tokenLost = ({ epoch, subject }: Link, version: number): AskAnswer => ({
  ...answer('StravaTokenLost', { epoch, version, reason: 'refused' }),
  eventId: derivedId('strava-token-lost', secretRefOf(subject), String(version)),
})

/** How an activity was requested. */
export interface Fetched {
  readonly ref: string
  /** Epoch seconds. */
  readonly asked: number
  readonly requestedAt: number
  readonly via: FetchedVia
}

export const fetched = (
  { epoch, subject }: Link,
  { ref, asked, requestedAt, via }: Fetched,
  activity: ActivityFetchedPersonal,
): AskAnswer => ({
  ...answer('ActivityFetched', { ref, epoch, asked, requestedAt, via }),
  personal: activity,
  subjectId: subject,
})
