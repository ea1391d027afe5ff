import { describe, expect, test } from 'vitest'
import { activitiesWith } from '../../../processors/activities/domain.ts'
import type { AwardItem, MilestoneItem } from '../../../projections/activities/items.ts'
import { SPORT_MAP } from '../../../projections/activities/sports.ts'
import { eventOf } from '../../../testing/event.ts'
import {
  accountDeletionRequested,
  accountOpened,
  archived,
  ATHLETE,
  claimed,
  created,
  fetched,
  idOf,
  linked,
  modelPartDefined,
  modelPublished,
  modelRetired,
  MORNING,
  REF,
  stepDone,
  unlinked,
  webhook,
} from './events.ts'
import { given, tableOf } from './given.ts'
import { createWorld, exact, type World } from './world.ts'

/** Answers the revocation of the tokens. */
const revoking = (): World =>
  createWorld((ask) => (ask.kind === 'revoke' ? [stepDone({ at: ask.at, data: { step: 'revoke' } })] : []))

const OWNER = `STRAVA#ATHLETE#${ATHLETE} OWNER`
const DAY_MS = 86_400_000
const names = (world: World, pattern: RegExp): readonly string[] =>
  Object.keys(world.items()).filter((name) => pattern.test(name))

describe('a claim', () => {
  test('A9 A-h A10 one owner per athlete: OWNER is the lock, and GSI1 of the connection lists it', () => {
    const world = revoking()
    world.append(claimed())
    expect(world.items()[OWNER]).toMatchObject({ userId: 'ada', epoch: 1 })
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({
      GSI1PK: `STRAVA#ATHLETE#${ATHLETE}`,
      GSI1SK: 'USER#ada',
    })
    expect(world.append(claimed({ user: 'bob' })).refusal).toMatchObject({ code: 'athlete-owned' })
    expect(world.items()[OWNER]).toMatchObject({ userId: 'ada' })
  })

  test('A3 A-i a connection contains no token', () => {
    const world = revoking()
    world.append(claimed())
    expect(Object.keys(world.items()['STRAVA#CONNECTION'] ?? {}).filter((name) => /token/i.test(name))).toEqual([])
  })

  test('a second link while one is open is rejected, and its data is forgotten', () => {
    const world = revoking()
    world.append(claimed(), claimed({ epoch: 2, ref: 'other', athleteId: '99' }))
    world.runUntil(MORNING + 60_000)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ epoch: 1, lastEpoch: 2, athleteId: ATHLETE })
    expect(world.items()).not.toHaveProperty(['STRAVA#ATHLETE#99 OWNER'])
    expect(world.asks.has('ada forget:2')).toBe(false)
  })

  test('a second link of the same athlete leaves the first one as the owner', () => {
    const world = revoking()
    world.append(claimed(), claimed({ epoch: 2 }))
    expect(world.items()[OWNER]).toMatchObject({ userId: 'ada', epoch: 1 })
  })
})

describe('leaving', () => {
  test('A-l A20 a disconnection revokes first, and then erases; the claim is free', () => {
    const world = revoking()
    world.append(claimed(), created(), webhook(), fetched(), unlinked())
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKING' })
    world.append(fetched({ ref: 'late', asked: 300 }))
    world.runUntil(MORNING + 3_600_000)
    expect(world.calls.filter((name) => /revoke|forget/.test(name))).toEqual(['revoke', 'forget'])
    expect(names(world, /^(WORKOUT|SYNC|LEDGER|SAGA)|OWNER$/)).toEqual([])
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKED' })
    world.expectRebuilt()
    expect(world.append(claimed({ user: 'bob', at: world.now() })).refusal).toBeUndefined()
    expect(world.append(unlinked()).refusal).toMatchObject({ code: 'not-connected' })
  })

  test('a revocation that nobody answers ends after seven days, and the ask is withdrawn', () => {
    const world = createWorld()
    world.append(claimed(), fetched(), unlinked())
    world.runUntil(MORNING + 6 * DAY_MS)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKING' })
    world.runUntil(MORNING + 8 * DAY_MS)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKED' })
    expect(world.asks.has('ada revoke')).toBe(false)
  })

  test('A-l A20 A11 a deleted account leaves one item, in steps of at most 95 changes', () => {
    const world = revoking()
    world.append(
      accountOpened({ personal: { email: 'ada@example.org' }, meta: { subjectId: 'ada~activities' } }),
      claimed(),
    )
    for (let number = 0; number < 30; number += 1) {
      world.append(created({ id: `m${number}`, total: 1_000, at: MORNING + number }))
      world.append(archived({ data: { milestoneId: `m${number}` }, at: MORNING + number }))
      if (number === 5) world.append(fetched({ distanceDm: 100_000 }))
    }
    world.append(
      eventOf('PatIssued', {
        key: 'ada',
        data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['read'] },
        personal: { name: 'phone' },
        meta: { subjectId: 'ada~activities', occurredAt: MORNING },
      }),
    )
    world.runUntil(MORNING + 1_000)
    world.append(accountDeletionRequested({ at: MORNING + 2_000 }), accountDeletionRequested({ at: MORNING + 3_000 }))
    expect(world.append(created({ id: 'late' })).refusal).toMatchObject({ code: 'account-deleted' })
    world.runUntil(MORNING + 3_600_000)
    expect(names(world, /^(?!IDEMPOTENCY|STRAVA#CLAIM)/)).toEqual(['GONE#PAT#p1', 'GONE#PROFILE'])
    expect(world.items()['GONE#PROFILE']).toMatchObject({ number: 1, epoch: 1 })
    expect(world.log.filter(({ type }) => type === 'AccountDeleted')).toHaveLength(1)
    expect(exact(world.table).join()).not.toMatch(/ada@example|phone|134815/)
    expect(exact(world.table).join()).not.toContain(idOf('r1'))
    world.expectRebuilt()
    expect(world.append(created({ id: 'later' })).refusal).toMatchObject({ code: 'account-deleted' })
    world.append(accountOpened({ data: { number: 2 } }), created({ id: 'new' }))
    expect(world.items()).toHaveProperty(['MILESTONE#new'])
  })

  test('imported activities are erased with the first link, and later imports are refused', () => {
    const world = revoking()
    world.append(fetched({ epoch: 0, ref: 'imported', via: 'import' }), created())
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'NONE', imported: true })
    expect(world.items()['MILESTONE#m1']).toMatchObject({ progressValue: 10_000 })
    world.append(claimed(), fetched({ ref: 'r2' }), unlinked())
    world.runUntil(MORNING + 3_600_000)
    expect(world.calls.filter((name) => name === 'forget')).toHaveLength(2)
    expect(names(world, /^(WORKOUT|SYNC|LEDGER)/)).toEqual([])
    expect(world.append(fetched({ epoch: 0, ref: 'again', via: 'import' })).refusal).toMatchObject({
      code: 'activities-erased',
    })
    world.expectRebuilt()
  })
})

describe('awards', () => {
  test('A18 A24 20 milestones of 12 parts by one ride: 240 awards in six events, each with at most 40', () => {
    const world = revoking()
    world.append(claimed(), ...Array.from({ length: 20 }, (_, n) => created({ id: `m${n}`, total: 1_000 })))
    const length = world.log.length
    world.append(fetched({ distanceDm: 100_000 }))
    world.runUntil(MORNING + 200_000)
    const awards = [...world.table.values()].filter(({ SK }) => SK.includes('#AWARD#')) as unknown[] as AwardItem[]
    expect(awards).toHaveLength(240)
    expect(awards.every(({ told, progressValueAtAward }) => told === true && progressValueAtAward === 10_000)).toBe(
      true,
    )
    expect(
      world.log
        .slice(length)
        .filter(({ type }) => type !== 'AwardsTold')
        .map(({ type }) => type),
    ).toEqual(['ActivityFetched', ...Array.from({ length: 5 }, () => 'AwardsDue')])
    expect(world.append(created({ id: 'm20' })).refusal).toMatchObject({ code: 'too-many-active-milestones' })
    world.expectRebuilt()
  })

  test('A-e the erasure first tells the awards that a wider sport map has minted in a rebuild', () => {
    const narrow = activitiesWith({ version: 9, sports: { ...SPORT_MAP.sports, RIDE: [] } })
    const history = [linked(), created(), fetched({ distanceDm: 300_000 })]
    const [before, after] = [tableOf(history, narrow), tableOf(history)]
    const milestone = (table: typeof before) =>
      [...table.values()].find(({ SK }) => SK === 'MILESTONE#m1') as MilestoneItem | undefined
    expect(milestone(before)?.partsAwardedCount).toBe(0)
    expect(milestone(after)).toMatchObject({ partsAwardedCount: 3, _awards: 'mmm.........' })
    const { result } = given(...history, unlinked(), stepDone()).when(
      eventOf('SagaDue', { key: 'ada', data: { step: 'tell', cursor: 0 }, meta: { occurredAt: MORNING } }),
    )
    expect(result.derived).toMatchObject([
      {
        event: {
          type: 'AwardsTold',
          subjectId: 'ada~strava~1',
          data: { awards: [{ part: 1 }, { part: 2 }, { part: 3 }] },
        },
      },
      { event: { type: 'StravaAthleteReleased', key: `athlete:${REF}` } },
    ])
  })

  test('A5 A-b a milestone of an archived list stays as it is', () => {
    const world = revoking()
    world.append(claimed(), created(), archived(), fetched())
    expect(world.items()['MILESTONE#m1']).toMatchObject({ progressValue: 0, version: 2 })
    expect(world.items()['MILESTONES']).toMatchObject({ active: [], all: ['m1'] })
  })
})

describe('models', () => {
  test('A7 A8 a model has its parts, and can be changed and retired', () => {
    given(modelPublished())
      .when(modelPartDefined(), modelRetired())
      .then({
        'MODEL#rocket META': { partsTotal: 12, status: 'RETIRED', isActive: false },
        'MODEL#rocket PART#01': { partName: 'Part 1', meshFile: '1.glb', attachPoint: 'p1' },
        'MODEL#rocket PART#03': { partName: 'Fin', meshFile: 'fin.glb', attachPoint: 'p3' },
      })
    given(modelPublished()).when(modelPublished()).thenRefused('model-exists')
    given().when(modelRetired()).thenRefused('model-not-found')
  })
})
