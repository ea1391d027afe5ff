import { describe, expect, test } from 'vitest'
import { activities } from '../../../processors/activities/domain.ts'
import { accountOpened, claimed, created, fetched, idOf, linked, MORNING, START_S, told, webhook } from './events.ts'
import { contents, given, tableOf } from './given.ts'

describe('the items of activities', () => {
  test('A1 A15 A16 are in one table, and every one is in the partition of its owner', () => {
    expect(activities.table).toMatchObject({ name: 'CommitCollect', indexes: [{ name: 'GSI1' }] })
    const table = tableOf([claimed(), accountOpened(), linked(), webhook(), fetched()])
    for (const item of table.values())
      expect(['ada', 'athlete:mf2xi2dmmv2gk']).toContain(activities.partitions.keyIn(item.PK, item))
  })

  test('A2 the profile of a person', () => {
    given()
      .when(accountOpened({ personal: { email: 'ada@example.org' } }))
      .then({ PROFILE: { userId: 'ada', email: 'ada@example.org', status: 'ACTIVE' } })
  })

  test('A4 A-d a workout has its sport, start, distance and elevation, and a deleted one states it', () => {
    const key = `WORKOUT#STRAVA#${idOf('r1')}`
    given(linked())
      .when(fetched({ distanceDm: 83_334, elevationDm: 5_160 }))
      .then({
        [key]: {
          sportType: 'Ride',
          startDateUtc: '2026-05-20T06:00:00.000Z',
          distanceMeters: 8_333.4,
          totalElevationGain: 516,
          movingTimeS: 3_600,
          elapsedTimeS: 3_700,
          isDeleted: false,
        },
      })
    given(linked(), fetched())
      .when(webhook({ aspect: 'delete', time: 300 }))
      .then({ [key]: { isDeleted: true } })
  })

  test('A6 A20 a told award belongs to the link whose key seals its progress, also if the person has another link now', () => {
    const late = told({ personal: { progressDm: [2_354] }, meta: { subjectId: 'ada~strava~0' } })
    const award = contents(tableOf([created(), linked({ epoch: 2 }), late]))['MILESTONE#m1#AWARD#01']
    expect(award).toMatchObject({ told: true, progressValueAtAward: 235.4, epoch: 1 })
    expect(award && activities.personal?.hasPersonalData(award, 'ada~strava~0')).toBe(true)
  })

  test('A14 A-c A19 a webhook leaves a row for seven days, and a repeat after that still changes nothing', () => {
    const received = webhook()
    const late = webhook({ at: MORNING + 30 * 86_400_000 })
    const items = contents(tableOf([linked(), received, fetched()]))
    const row = 'IDEMPOTENCY#STRAVA#EVT#ada#activity#create#r1#1779264100#a1b2c3d4 META'
    expect(items[row]).toMatchObject({ userId: 'ada', ttl: START_S + 100 + 7 * 86_400 })
    const again = contents(tableOf([linked(), received, fetched(), late]))
    expect({ ...again, [row]: null }).toEqual({ ...items, [row]: null })
  })
})
