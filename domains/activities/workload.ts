import { activitiesAudit } from '../../processors/activities/audit.ts'
import { activities } from '../../processors/activities/domain.ts'
import { accountSubject, athleteKey, stravaSubject } from '../../projections/activities/keys.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Random } from '../../simulation/random.ts'
import {
  assignToClients,
  createEventFactory,
  EPOCH,
  type EventDraft,
  type Workload,
} from '../../simulation/workload.ts'
import { checkActivities } from './checkers.ts'
import { ACTIVITIES, drawActivity, stravaAnswers } from './simulated-strava.ts'

const USERS = ['ada', 'bob', 'cleo']
const ATHLETES = ['a1', 'a2']
const MILESTONES = ['m1', 'm2', 'm3']

const codec = openCodec()

interface DrawContext {
  readonly random: Random
  readonly user: string
  readonly now: number
  /** The number of the event. No other personal text contains it. */
  readonly count: number
}

/** An event, and the person or the part of a person whom its personal data describes. */
interface Draft extends EventDraft {
  readonly subject?: string
}

/**
 * Generates random events for one to three people and two athletes, with few activities and milestones, so that many events are about the same
 * item. Webhooks, answers and links arrive in any order. Strava answers the asks at random.
 */
export const activitiesWorkload = (random: Random, length: number): Workload => {
  const factory = createEventFactory(random, { from: EPOCH - 3_600_000, stepMs: 90_000, leapChance: 0 })
  const users = USERS.slice(0, random.between(1, USERS.length))
  const events: Event[] = []
  const add = ({ subject, ...draft }: Draft) => {
    const { meta, ...event } = factory.create(draft)
    const subjectId = draft.personal === undefined ? null : (subject ?? null)
    events.push({ ...event, meta: { ...meta, actorId: draft.by ?? meta.key, subjectId } })
  }
  const context = (user: string): DrawContext => ({ random, user, now: factory.now(), count: events.length })
  for (const [index, user] of users.entries()) {
    add(claim(context(user), { athlete: ATHLETES[index] ?? 'a1', epoch: 1 }))
    add(createMilestone(context(user)))
  }
  while (events.length < length + users.length * 2) add(drawEvent(context(random.pick(users))))
  const isSealed = random.chance(0.5)
  const subjectsToForget = isSealed && random.chance(0.6) ? drawSubjects(random, users) : []
  const keys = [...users, ...ATHLETES.map(athleteKey)]
  return {
    domain: activities,
    codec,
    // While a key is parked, its PersonForgotten waits. So if this run forgets people, no key gets an unreadable record.
    clients:
      subjectsToForget.length > 0
        ? assignToClients(random, { events: events.filter(isOfFirstLink), keys, poisoned: [] })
        : assignToClients(random, { events, keys }),
    hasOutgoingEvents: true,
    answers: stravaAnswers,
    users: [],
    subjectsToForget,
    check: checkActivities,
    // The forgetting of a run removes data from the tables of one domain only.
    sameLogDomains: subjectsToForget.length === 0 && random.chance(0.3) ? [activitiesAudit] : [],
    ...(isSealed ? { isSealed } : {}),
  }
}

/** The second link of a person begins only after the data of the first link is erased. */
const isOfFirstLink = ({ data }: Event): boolean => (data as { readonly epoch?: number }).epoch !== 2

/** One or two people. Instead of a person, sometimes the parts that the end of the first link erases. */
const drawSubjects = (random: Random, users: readonly string[]): readonly string[] =>
  users
    .slice(0, random.between(1, 2))
    .flatMap((user) => (random.chance(0.5) ? [user] : [stravaSubject(user, 0), stravaSubject(user, 1)]))

const drawEvent = (context: DrawContext): Draft => {
  const { random, user: key } = context
  const draw = random.next()
  const epoch = random.pick([1, 1, 1, 2])
  if (draw < 0.08) return claim(context, { athlete: random.pick(ATHLETES), epoch })
  if (draw < 0.18) return createMilestone(context)
  if (draw < 0.48) return fetchedEvent(context)
  if (draw < 0.74) return webhook(context, epoch)
  if (draw < 0.79) return fetchFailed(context, epoch)
  if (draw < 0.82) return deauthorised(context, epoch)
  if (draw < 0.84) return { type: 'StravaAthleteUnlinked', key, data: { epoch } }
  if (draw < 0.88)
    return { type: 'MilestonesRecomputed', key, data: { milestoneIds: MILESTONES.filter(() => random.chance(0.5)) } }
  if (draw < 0.9) return { type: 'MilestoneArchived', key, data: { milestoneId: random.pick(MILESTONES) } }
  if (draw < 0.92) return drawTokenEvent(context, epoch)
  if (draw < 0.95) return { type: 'BackfillRequested', key, data: { run: random.between(1, 3) } }
  if (draw < 0.98) return openAccount(context)
  return { type: 'AccountDeletionRequested', key, data: {} }
}

const tagged = (text: string, { count }: DrawContext): string => `${text} ¤${count}`

const linkOf = ({ user, now }: DrawContext, epoch: number, version: number) => ({
  epoch,
  secretRef: `${stravaSubject(user, epoch)}/strava`,
  expiresAt: now + 21_600_000,
  version,
})

const claim = (
  context: DrawContext,
  { athlete, epoch }: { readonly athlete: string; readonly epoch: number },
): Draft => {
  const { random, user } = context
  const { version: secretVersion, ...link } = linkOf(context, epoch, random.between(1, 2))
  return {
    type: 'StravaAthleteClaimed',
    key: athleteKey(athlete),
    by: user,
    data: { userId: user, scopes: ['activity:read_all'], ...link, secretVersion },
    personal: { athleteId: `700${ATHLETES.indexOf(athlete)}`, name: tagged('athlete', context) },
    subject: stravaSubject(user, epoch),
  }
}

const createMilestone = ({ random, user: key, now }: DrawContext): Draft => {
  const partsTotal = random.pick([1, 12, 60])
  const part = (_: unknown, index: number) => ({
    partName: `Part ${index + 1}`,
    meshFile: `${index + 1}.glb`,
    attachPoint: 'a',
  })
  return {
    type: 'MilestoneCreated',
    key,
    data: {
      milestoneId: random.pick(MILESTONES),
      modelId: 'rocket',
      sport: random.pick(['RIDE', 'RIDE', 'RUN']),
      targetType: random.pick(['DISTANCE_METERS', 'DISTANCE_METERS', 'ELEVATION_METERS']),
      totalTarget: random.pick([1, 1_000, 100_000]),
      partsTotal,
      parts: Array.from({ length: partsTotal }, part),
      periodStart: now - random.pick([0, 20, 90]) * 86_400_000,
    },
  }
}

/** Seconds. Few different times, so that webhooks and requests have equal times. */
const eventTime = ({ random, now }: DrawContext): number =>
  Math.floor(now / 600_000) * 600 - random.pick([0, 0, 600, 1_200])

/** The answer to a request, or an imported activity. */
const fetchedEvent = (context: DrawContext): Draft => {
  const { random, user: key, now } = context
  const ref = random.pick(ACTIVITIES)
  const epoch = random.pick([0, 0, 1, 1, 2])
  const via = epoch === 0 ? 'import' : random.pick(['webhook', 'backfill', 'resync'])
  return {
    type: 'ActivityFetched',
    key,
    data: { ref, epoch, asked: eventTime(context), requestedAt: now, via },
    personal: drawActivity(random, { ref, name: tagged('ride', context), now }),
    subject: stravaSubject(key, epoch),
  }
}

const webhook = (context: DrawContext, epoch: number): Draft => {
  const { random, user: key } = context
  const ref = random.pick(ACTIVITIES)
  return {
    type: 'StravaWebhookReceived',
    key,
    data: {
      objectType: 'activity',
      aspect: random.pick(['create', 'update', 'delete']),
      ref,
      eventTime: eventTime(context),
      epoch,
      updatesHash: 'b1c2d3e4',
    },
    personal: { objectId: `9000${ACTIVITIES.indexOf(ref)}`, ownerId: '7000', updates: [] },
    subject: stravaSubject(key, epoch),
  }
}

const deauthorised = (context: DrawContext, epoch: number): Draft => {
  const { random, user: key } = context
  const data = {
    objectType: 'athlete',
    aspect: 'update',
    ref: random.pick(ATHLETES),
    eventTime: eventTime(context) + 1_200,
    epoch,
    updatesHash: 'e5f6a7b8',
  }
  return {
    type: 'StravaWebhookReceived',
    key,
    data,
    personal: { objectId: '7000', ownerId: '7000', updates: [{ name: 'authorized', value: 'false' }] },
    subject: stravaSubject(key, epoch),
  }
}

const fetchFailed = (context: DrawContext, epoch: number): Draft => {
  const { random, user: key } = context
  const failure = { status: random.pick([0, 401, 403, 404, 500]), attempt: random.between(1, 2), scope: null }
  return {
    type: 'ActivityFetchFailed',
    key,
    data: { ref: random.pick(ACTIVITIES), epoch, asked: eventTime(context), ...failure },
  }
}

const drawTokenEvent = (context: DrawContext, epoch: number): Draft => {
  const { random, user: key } = context
  const version = random.between(1, 3)
  return random.chance(0.5)
    ? { type: 'StravaTokenLost', key, data: { epoch, version, reason: 'invalid' } }
    : { type: 'StravaTokenRefreshed', key, data: linkOf(context, epoch, version) }
}

const openAccount = (context: DrawContext): Draft => {
  const { random, user: key } = context
  return {
    type: 'AccountOpened',
    key,
    data: { number: random.between(1, 2) },
    personal: { email: tagged(`${key}@example.org`, context) },
    subject: accountSubject(key),
  }
}
