import {
  auditEntries,
  auditLinks,
  auditTable,
  correlationPartition,
  secondText,
  typePartition,
  type AuditItem,
  type AuditLinkItem,
} from '../../projections/activities/audit.ts'
import { scopeOf } from '../../projections/activities/personal.ts'
import { isName, USER_PARTITIONS, userPartition } from '../../projections/access/keys.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import {
  DUPLICATE,
  projection,
  removed,
  type Domain,
  type Get,
  type PersonalItems,
  type Result,
} from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type {
  ActivitiesEvent,
  AuditNoted,
  AwardsTold,
  DeauthorisationChecked,
  StravaAthleteLinked,
  StravaWebhookReceived,
} from '../../schemas/generated/activities.ts'
import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { startWork } from '../folding/work.ts'
import { activities } from './domain.ts'

const RETENTION_S = 90 * 86_400
const MAX_TEXT = 200

type Noted = Pick<AuditItem, 'eventType'> &
  Partial<Pick<AuditItem, 'result' | 'requestId' | 'method' | 'path' | 'ipHash' | 'subject'>> & {
    /** Distinguishes the entries of one event. */
    readonly number?: number
  }

const textOf = (text: string): string => text.slice(0, MAX_TEXT)

/** Parts of keys. Other texts are replaced, because an entry with a wrong id is better than none. */
const nameOf = (text: string): string => (isName(text) ? text : 'unknown')

/** One entry of the audit. Its key contains the time and the id of the request, or of the event if there was no request. */
const entryOf = ({ meta }: Event, noted: Noted): AuditItem => {
  const { key, eventId, occurredAt } = meta
  const { eventType, result = 'OK', requestId = eventId, number, ...details } = noted
  const second = secondText(occurredAt)
  const id = `${nameOf(requestId)}${number === undefined ? '' : `-${number}`}`
  const atUtc = isoOf(occurredAt)
  const correlationId = nameOf(meta.correlationId ?? eventId)
  const type = nameOf(eventType)
  return {
    ...auditEntries.key(key, second, id),
    eventType: type,
    result: textOf(result),
    atUtc,
    requestId: nameOf(requestId),
    correlationId,
    ...details,
    ttl: Number(second) + RETENTION_S,
    GSI1PK: correlationPartition(correlationId),
    GSI1SK: `${second}#${id}`,
    GSI2PK: typePartition(type, `${atUtc.slice(0, 4)}${atUtc.slice(5, 7)}`),
    GSI2SK: `${second}#${id}`,
  }
}

/** Stores the entry of an event. The first entry with a key stays, so that a repeated event changes nothing. */
const stored = (event: Event, get: Get, noted: Noted): Result => {
  const entry = entryOf(event, noted)
  return get<AuditItem>({ PK: entry.PK, SK: entry.SK }) === undefined ? { items: [entry] } : DUPLICATE
}

/** Stores an entry for each event of a type. */
const note =
  (eventType: string) =>
  (event: Event, get: Get): Result =>
    stored(event, get, { eventType })

const auditNoted = (event: AuditNoted, get: Get): Result => {
  const { eventType, result, requestId, method, path, ipHash } = event.data
  const details = { method: textOf(method), path: textOf(path), ...(ipHash !== null && { ipHash: textOf(ipHash) }) }
  return stored(event, get, { eventType, result, requestId, ...details })
}

const ACTIVITY_TYPES = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const

/** An event of a webhook. A revocation from before the link is ignored by the domain, and noted as ignored here. */
const stravaWebhookReceived = (event: StravaWebhookReceived, get: Get): Result => {
  const { data, meta } = event
  const subject = textOf(data.ref)
  if (data.objectType === 'activity')
    return stored(event, get, { eventType: `STRAVA_ACTIVITY_${ACTIVITY_TYPES[data.aspect]}`, subject })
  const link = get<AuditLinkItem>(auditLinks.key(meta.key))
  const isOld = link === undefined || data.eventTime < Math.floor(msOf(link.linkedAtUtc) / 1000)
  const eventType = isOld ? 'STRAVA_DEAUTHORISATION_IGNORED' : 'STRAVA_DEAUTHORISED'
  return stored(event, get, { eventType, subject })
}

const stravaAthleteLinked = (event: StravaAthleteLinked, get: Get): Result => {
  const { data, meta } = event
  const work = startWork(get)
  const before = get<AuditLinkItem>(auditLinks.key(meta.key))
  const linkedAtUtc = isoOf(meta.occurredAt)
  if (before === undefined || before.linkedAtUtc < linkedAtUtc)
    work.put({ ...auditLinks.key(meta.key), epoch: data.epoch, linkedAtUtc } satisfies AuditLinkItem)
  work.put(entryOf(event, { eventType: 'STRAVA_CONNECTED' }))
  return work.result()
}

const deauthorisationChecked = (event: DeauthorisationChecked, get: Get): Result =>
  stored(event, get, {
    eventType: event.data.verdict === 'gone' ? 'STRAVA_DEAUTHORISATION_CONFIRMED' : 'STRAVA_DEAUTHORISATION_REFUTED',
  })

/** The maximum number of awards of one event that are noted. It is the maximum number of parts of a model. */
const MAX_AWARDS = 90

const awardsTold = (event: AwardsTold): Result => {
  const { milestoneId, awards } = event.data
  const parts = [...new Set(awards.map(({ part }) => part))].slice(0, MAX_AWARDS)
  const eventType = 'MILESTONE_PART_MINTED'
  return {
    items: parts.map((part) => entryOf(event, { eventType, number: part, subject: textOf(`${milestoneId}#${part}`) })),
  }
}

/** Every entry of a person is removed when the person, or their account, is forgotten. Data from Strava is in no entry. */
const personalItems: PersonalItems = {
  partitions: (key, subject) => (scopeOf(subject).account && scopeOf(subject).user === key ? [userPartition(key)] : []),
  hasPersonalData: ({ SK }, subject) => scopeOf(subject).account && isAudit(SK),
}

const isAudit = (sk: string): boolean => sk.startsWith(auditEntries.prefix) || sk === auditLinks.prefix

const personForgotten = ({ data, meta }: PersonForgotten): Result => {
  const own = personalItems.partitions(meta.key, meta.subjectId ?? meta.key)
  const named = data.items.filter(({ pk, sk }) => own.includes(pk) && isAudit(sk))
  const keys = new Map(named.map(({ pk, sk }) => [sk, { PK: pk, SK: sk }]))
  return { items: [...keys.values()].map(removed) }
}

type AuditEvent =
  | Extract<
      ActivitiesEvent,
      {
        type:
          | 'AccountDeletionRequested'
          | 'AccountOpened'
          | 'AuditNoted'
          | 'AwardsTold'
          | 'DeauthorisationChecked'
          | 'DeauthPresumed'
          | 'StravaAthleteLinked'
          | 'StravaAthleteUnlinked'
          | 'StravaTokenLost'
          | 'StravaWebhookReceived'
      }
    >
  | PersonForgotten

/** The audit folds the log of the domain by a consumer group of its own. A failure of the audit never stops the domain. */
export const activitiesAudit: Domain = {
  name: 'activities-audit',
  topic: activities.topic,
  table: auditTable,
  partitions: USER_PARTITIONS,
  foldVersion: 1,
  ...(activities.keyedByPeople && { keyedByPeople: activities.keyedByPeople }),
  personal: personalItems,
  projections: [
    projection<AuditEvent>('activities-audit', {
      AccountOpened: note('ACCOUNT_OPENED'),
      AccountDeletionRequested: note('ACCOUNT_DELETION_REQUESTED'),
      AuditNoted: auditNoted,
      StravaWebhookReceived: stravaWebhookReceived,
      StravaAthleteLinked: stravaAthleteLinked,
      StravaAthleteUnlinked: note('STRAVA_DISCONNECTED'),
      StravaTokenLost: note('STRAVA_TOKEN_LOST'),
      DeauthorisationChecked: deauthorisationChecked,
      DeauthPresumed: note('STRAVA_DEAUTHORISATION_PRESUMED'),
      AwardsTold: awardsTold,
      PersonForgotten: personForgotten,
    }),
  ],
}
