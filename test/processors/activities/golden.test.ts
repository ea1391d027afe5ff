import { describe, expect, test } from 'vitest'
import { activities, activitiesWith } from '../../../processors/activities/domain.ts'
import type { MilestoneItem } from '../../../projections/activities/items.ts'
import { thresholdsOf } from '../../../projections/activities/milestones.ts'
import { SPORT_MAP } from '../../../projections/activities/sports.ts'
import type { Item } from '../../../projections/item.ts'
import type { Event } from '../../../schemas/event.ts'
import { checked, claimed, created, deauthorised, fetched, MORNING, webhook } from './events.ts'
import { createWorld, exact, type World } from './world.ts'
import { tableOf } from './given.ts'

const milestone = (world: World, id = 'm1'): MilestoneItem => world.items()[`MILESTONE#${id}`] as MilestoneItem
const awards = (world: World, id = 'm1'): readonly Item[] =>
  Object.entries(world.items()).flatMap(([name, item]) => (name.startsWith(`MILESTONE#${id}#AWARD#`) ? [item] : []))

/** A person with a connection and a milestone, whose list of activities is empty. */
const connected = (...events: readonly Event[]): World => {
  const world = createWorld()
  world.append(claimed(), ...events)
  return world
}

let rides = 0
const ride = (metres: number, more: Parameters<typeof fetched>[0] = {}) => {
  rides += 1
  return fetched({ ref: `ride-${rides}`, distanceDm: Math.round(metres * 10), ...more })
}

describe('the golden cases', () => {
  test('1: A-b thresholds', () => {
    expect(thresholdsOf({ totalTarget: 100_000, partsTotal: 12 })).toEqual([
      8334, 16667, 25000, 33334, 41667, 50000, 58334, 66667, 75000, 83334, 91667, 100000,
    ])
    expect(thresholdsOf({ totalTarget: 8_848, partsTotal: 12 })).toEqual([
      738, 1475, 2212, 2950, 3687, 4424, 5162, 5899, 6636, 7374, 8111, 8848,
    ])
  })

  test('2: A5 A6 A18 one ride can earn several parts', () => {
    const world = connected(created())
    world.append(ride(8_333.4))
    expect(milestone(world)).toMatchObject({ partsAwardedCount: 0, percentComplete: 8.33 })
    world.append(ride(0.6))
    expect(milestone(world)).toMatchObject({ partsAwardedCount: 1, percentComplete: 8.33, progressValue: 8334 })
    world.append(ride(41_666))
    expect(milestone(world)).toMatchObject({
      partsAwardedCount: 6,
      percentComplete: 50,
      progressValue: 50_000,
      version: 4,
    })
    expect(awards(world).map(({ partIndex, progressValueAtAward }) => [partIndex, progressValueAtAward])).toEqual([
      [1, 8334],
      ...[2, 3, 4, 5, 6].map((part) => [part, 50_000]),
    ])
    world.expectRebuilt()
  })

  test('3 and 4: A-a progress can fall, and completion and awards stay', () => {
    const world = connected(created())
    const long = ride(30_000)
    world.append(long, ride(69_999.9))
    expect(milestone(world)).toMatchObject({ partsAwardedCount: 11, status: 'ACTIVE', percentComplete: 99.99 })
    world.append(ride(0.1))
    expect(milestone(world)).toMatchObject({ partsAwardedCount: 12, status: 'COMPLETED', percentComplete: 100 })
    world.append(webhook({ ref: long.data.ref, aspect: 'delete', time: 900 }))
    const fallen = { partsAwardedCount: 12, status: 'COMPLETED', highWaterProgress: 100_000 }
    expect(milestone(world)).toMatchObject({ ...fallen, progressValue: 70_000, percentComplete: 70 })
    expect(world.append(ride(10_000)).derived).toBeUndefined()
    expect(milestone(world)).toMatchObject({ ...fallen, progressValue: 80_000 })
    world.expectRebuilt()
  })

  test('5: A-d elevation counts, and a missing elevation is 0', () => {
    const world = connected(created({ sport: 'RUN', targetType: 'ELEVATION_METERS', total: 8_848 }))
    for (const elevationDm of [5_160, 12_037, 0]) world.append(ride(5_000, { sportType: 'Run', elevationDm }))
    expect(milestone(world)).toMatchObject({ progressValue: 1_719.7, partsAwardedCount: 2, percentComplete: 19.43 })
  })

  test('6: A-e the sport map has a version, and a rebuild with another map calls nobody', () => {
    const world = connected(
      created({ total: 50_000 }),
      created({ id: 'm2', sport: 'RUN' }),
      created({ id: 'm3', sport: 'SWIM' }),
    )
    const all = {
      Ride: 10_000,
      GravelRide: 20_000,
      VirtualRide: 5_000,
      EBikeRide: 7_000,
      TrailRun: 8_000,
      Walk: 3_000,
      Swim: 1_500,
    }
    for (const [sportType, metres] of Object.entries(all)) world.append(ride(metres, { sportType }))
    expect(['m1', 'm2', 'm3'].map((id) => milestone(world, id).progressValue)).toEqual([42_000, 8_000, 1_500])
    expect(milestone(world).partsAwardedCount).toBe(10)
    const { RIDE } = SPORT_MAP.sports
    const withoutElectric = RIDE.filter((type) => !type.startsWith('E'))
    const narrow = activitiesWith({ version: 2, sports: { ...SPORT_MAP.sports, RIDE: withoutElectric } })
    expect(narrow.foldVersion).toBeGreaterThan(activities.foldVersion)
    const rebuilt = tableOf(world.log, narrow)
    const item = [...rebuilt.values()].find(({ SK }) => SK === 'MILESTONE#m1')
    expect(item).toMatchObject({ progressValue: 35_000, partsEarned: 8, partsAwardedCount: 10 })
    expect([...rebuilt.values()].filter(({ SK }) => SK.startsWith('MILESTONE#m1#AWARD#'))).toHaveLength(10)
  })

  test('8: A-f a hidden start counts by its local day', () => {
    const from = '2026-05-01T06:30:00.000Z'
    const counted = (more: Parameters<typeof fetched>[0]): number => {
      const world = connected(created({ from }), ride(5_000, more))
      return milestone(world).progressValue
    }
    const hiddenOn = (day: string) => ({
      hidden: true,
      start: `${day}T00:00:01.000Z`,
      local: `${day}T00:00:01.000Z`,
      utcOffsetS: 7_200,
    })
    expect(counted(hiddenOn('2026-05-01'))).toBe(5_000)
    expect(counted(hiddenOn('2026-04-30'))).toBe(0)
    expect(counted({ start: '2026-05-01T06:29:59.000Z' })).toBe(0)
    expect(counted({ start: '2026-05-01T06:30:00.000Z' })).toBe(5_000)
  })

  test('12: A-l A20 awards survive the erasure, and are not minted again', () => {
    const world = createWorld((ask) => (ask.kind === 'check' ? [checked({ at: ask.at })] : []))
    world.append(claimed(), created(), ...[10_000, 20_000, 15_000].map((metres) => ride(metres)))
    expect(milestone(world)).toMatchObject({ partsAwardedCount: 5, progressValue: 45_000 })
    world.append(deauthorised())
    world.runUntil(MORNING + 3_600_000)
    const names = Object.keys(world.items())
    expect(names.filter((name) => /^(WORKOUT|SYNC|LEDGER)/.test(name) || name.endsWith('OWNER'))).toEqual([])
    expect(milestone(world)).toMatchObject({
      progressValue: 0,
      highWaterProgress: 0,
      partsAwardedCount: 5,
      status: 'ACTIVE',
    })
    expect(awards(world).map(({ progressValueAtAward }) => progressValueAtAward)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKED', athleteId: null })
    world.expectRebuilt()
    const length = world.log.length
    world.append(claimed({ epoch: 2, at: world.now() }))
    for (const metres of [10_000, 20_000, 15_000]) world.append(ride(metres, { epoch: 2, at: world.now() }))
    expect(milestone(world)).toMatchObject({ progressValue: 45_000, partsAwardedCount: 5 })
    expect(awards(world)).toHaveLength(5)
    expect(world.log.slice(length).map(({ type }) => type)).not.toContain('AwardsTold')
    expect(exact(tableOf(world.log))).toEqual(exact(world.table))
  })
})
