import fc from 'fast-check'
import type { Event } from '../../../schemas/event.ts'
import {
  accountDeletionRequested,
  accountOpened,
  archived,
  ATHLETE,
  awardsDue,
  backfillPage,
  backfillRequested,
  checked,
  claimed,
  created,
  deauthorised,
  deauthPresumed,
  failed,
  fetched,
  linked,
  modelPartDefined,
  modelPublished,
  modelRetired,
  MORNING,
  recomputed,
  REF,
  resyncDue,
  resyncPage,
  sagaDue,
  START_S,
  stepDone,
  told,
  tokenLost,
  tokenRefreshed,
  unlinked,
  webhook,
} from './events.ts'

// There are few people, activities, times and milestones, so that events affect each other. Every event has its own id.

const PEOPLE = { ada: { ref: REF, athleteId: ATHLETE }, bob: { ref: 'bobs-athlete', athleteId: '424242' } } as const

const key = fc.constantFrom('ada', 'bob')
const ref = fc.constantFrom('r1', 'r2', 'r3')
const time = fc.constantFrom(100, 200, 300, 400)
const id = fc.constantFrom('m1', 'm2')
const epoch = fc.constantFrom(1, 1, 1, 1, 0, 2)
const run = fc.constantFrom(1, 2)
const page = fc.constantFrom(1, 2)
const data = <D>(values: fc.Arbitrary<D>) => fc.record({ key, data: values })

const aLink = fc
  .record({ key, epoch: fc.constantFrom(1, 1, 1, 2), version: fc.constantFrom(1, 2) })
  .map((parts) => ({ ...parts, user: parts.key, ...PEOPLE[parts.key as 'ada' | 'bob'] }))
const aBody = fc.record({
  key,
  ref,
  asked: time,
  epoch,
  via: fc.constantFrom('webhook', 'backfill', 'resync'),
  sportType: fc.constantFrom('Ride', 'Run', 'Walk'),
  distanceDm: fc.constantFrom(0, 1, 83_334, 300_000, 1_000_000),
  elevationDm: fc.constantFrom(0, 5_000),
  start: fc.constantFrom('2026-05-20T06:00:00.000Z', '2026-04-30T22:30:00.000Z', '2025-01-01T00:00:00.000Z'),
  hidden: fc.boolean(),
})
const aMilestone = fc.record({
  key,
  id,
  sport: fc.constantFrom('RIDE', 'RUN'),
  targetType: fc.constantFrom('DISTANCE_METERS', 'ELEVATION_METERS'),
  total: fc.constantFrom(1, 1_000, 100_000),
  partsTotal: fc.constantFrom(1, 12, 60),
} as const)

const of = (weight: number, arbitrary: fc.Arbitrary<Event>) => ({ weight, arbitrary })
const step = fc.constantFrom('revoke', 'tell', 'forget', 'account', 'remove')

/** Generates the events that can be in the log, in any order. */
const anEvent: fc.Arbitrary<Event> = fc.oneof(
  of(4, aLink.map(linked)),
  of(1, aLink.map(claimed)),
  of(4, aMilestone.map(created)),
  of(10, aBody.map(fetched)),
  of(6, fc.record({ key, ref, time, epoch, aspect: fc.constantFrom('create', 'update', 'delete') }).map(webhook)),
  of(
    3,
    fc
      .record({
        key,
        ref,
        asked: time,
        epoch,
        status: fc.constantFrom(404, 500, 401, 403),
        attempt: fc.constantFrom(1, 2, 7),
      })
      .map(failed),
  ),
  of(1, fc.record({ key, time: fc.constantFrom(-10, 500) }).map(deauthorised)),
  of(1, data(fc.record({ verdict: fc.constantFrom('gone', 'valid') } as const)).map(checked)),
  of(
    1,
    data(fc.record({ asked: fc.constantFrom(null, START_S + 500), version: fc.constantFrom(null, 1) })).map(
      deauthPresumed,
    ),
  ),
  of(1, fc.record({ key }).map(unlinked)),
  of(
    2,
    data(
      fc.record({ milestoneId: id, version: fc.constantFrom(1, 2, 5), completedAt: fc.constantFrom(null, MORNING) }),
    ).map(told),
  ),
  of(1, fc.record({ key }).map(awardsDue)),
  of(1, fc.record({ key }).map(recomputed)),
  of(1, data(fc.record({ milestoneId: id })).map(archived)),
  of(1, data(fc.record({ version: fc.constantFrom(1, 2) })).map(tokenLost)),
  of(1, data(fc.record({ version: fc.constantFrom(2, 3) })).map(tokenRefreshed)),
  of(1, data(fc.record({ run })).map(backfillRequested)),
  of(1, data(fc.record({ run, page, count: page, done: fc.boolean() })).map(backfillPage)),
  of(1, data(fc.record({ run, cursor: fc.constantFrom(0, 1) })).map(resyncDue)),
  of(1, data(fc.record({ run, page, done: fc.boolean(), missing: fc.constantFrom([], ['r1', 'r2']) })).map(resyncPage)),
  of(2, data(fc.record({ step, cursor: fc.constantFrom(0, 1) })).map(sagaDue)),
  of(2, data(fc.record({ step, epoch: fc.constantFrom(0, 1) })).map(stepDone)),
  of(1, fc.record({ key }).map(accountOpened)),
  of(1, fc.record({ key }).map(accountDeletionRequested)),
  of(1, fc.constantFrom(modelPublished(), modelPartDefined(), modelRetired())),
)

/** In these histories, the subject of each personal field is the whole person, so that forgetting the person forgets every field. */
export const aHistory: fc.Arbitrary<readonly Event[]> = fc
  .array(anEvent, { maxLength: 40, size: 'max' })
  .map((events) =>
    events.map((event) => ({
      ...event,
      meta: {
        ...event.meta,
        subjectId: event.personal === null ? null : event.meta.key.startsWith('athlete:') ? null : event.meta.key,
      },
      ...(event.meta.key.startsWith('athlete:') && { personal: null }),
    })),
  )
