import { expect, test } from 'vitest'
import { activities, activitiesWith } from '../../../processors/activities/domain.ts'
import { diaryFormatter } from '../../../projections/activities/diary.ts'
import { SPORT_MAP } from '../../../projections/activities/sports.ts'
import { keyOf, type Stored } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Event } from '../../../schemas/event.ts'
import {
  archived,
  checked,
  claimed,
  created,
  deauthorised,
  fetched,
  MORNING,
  recomputed,
  webhook,
} from '../../processors/activities/events.ts'
import { foldInto } from '../../processors/activities/given.ts'
import { createWorld } from '../../processors/activities/world.ts'

/** The lines of `explain` for an item of ada, without positions, and the lines after the table. */
const diaryOf = (log: readonly Event[], SK = 'MILESTONE#m1', domain: Domain = activities) => {
  const table = new Map<string, Stored>()
  const format = diaryFormatter.begin({ PK: 'USER#ada', SK })
  const lines: string[] = []
  for (const [position, event] of log.entries()) {
    const before = new Map(table)
    const results = foldInto(table, event, position, domain)
    const changes = results
      .flatMap(({ items = [] }) => items)
      .map((item) => ({ PK: item.PK, SK: item.SK, before: before.get(keyOf(item)), after: table.get(keyOf(item)) }))
    lines.push(...format.lines(changes, event).map((line) => line.join(' | ')))
  }
  return { lines, end: format.end() }
}

const small = created({ partsTotal: 3, total: 30_000 })

test('the diary of a milestone has one line per event that changes its progress or its awards', () => {
  const world = createWorld()
  world.append(
    claimed(),
    small,
    fetched({ ref: 'r1', distanceDm: 83_334 }),
    fetched({ ref: 'r2', name: 'Evening walk', sportType: 'Walk', distanceDm: 50_000 }),
    fetched({
      ref: 'r3',
      name: 'Long ride',
      sportType: 'GravelRide',
      distanceDm: 160_000,
      start: '2026-05-21T22:30:00.000Z',
    }),
    fetched({ ref: 'r1', name: 'Short ride', distanceDm: 60_000, asked: 200 }),
    webhook({ ref: 'r3', aspect: 'delete', time: 900 }),
    fetched({ ref: 'r4', name: 'Tour', distanceDm: 300_000, asked: 1_000 }),
    recomputed(),
    archived({ at: MORNING + 86_400_000 }),
    fetched({ ref: 'r5', distanceDm: 10_000, asked: 1_100 }),
  )
  expect(diaryOf(world.log)).toEqual({
    lines: [
      '2026-05-20 | milestone created: ride 30.000 km in 3 parts, from 2026-05-01 |  |  | 0.000 km | ',
      '2026-05-20 | Morning ride (Ride) | 8.333 km | 0.000 km | 8.333 km | ',
      '2026-05-22 | Long ride (GravelRide) | 16.000 km | 8.333 km | 24.333 km | part 1 (Part 1), part 2 (Part 2)',
      '2026-05-20 | changed in Strava: Short ride (Ride) | 6.000 km | 24.333 km | 22.000 km | ',
      '2026-05-22 | deleted in Strava: Long ride (GravelRide) | -16.000 km | 22.000 km | 6.000 km | ',
      '2026-05-20 | Tour (Ride) | 30.000 km | 6.000 km | 36.000 km | part 3 (Part 3), milestone completed',
      '2026-05-21 | milestone archived |  | 36.000 km | 36.000 km | ',
    ],
    end: ['36.000 km of 30.000 km (100 %), 3 of 3 parts earned; completed on 2026-05-20.'],
  })
  expect(diaryOf(world.log, 'MILESTONE#m1#AWARD#02')).toEqual({
    lines: [
      '2026-05-22 | Long ride (GravelRide) | 16.000 km | 8.333 km | 24.333 km | part 1 (Part 1), part 2 (Part 2)',
    ],
    end: [],
  })
})

test('the diary of an elevation has metres', () => {
  const milestone = created({ sport: 'RUN', targetType: 'ELEVATION_METERS', total: 8_848, partsTotal: 1 })
  const run = fetched({ name: 'Hill', sportType: 'TrailRun', elevationDm: 12_037 })
  const world = createWorld()
  world.append(claimed(), milestone, run)
  expect(diaryOf(world.log)).toEqual({
    lines: [
      '2026-05-20 | milestone created: run 8848.0 m up in 1 part, from 2026-05-01 |  |  | 0.0 m | ',
      '2026-05-20 | Hill (TrailRun) | 1203.7 m | 0.0 m | 1203.7 m | ',
    ],
    end: ['1203.7 m of 8848.0 m (13.6 %), 0 of 1 parts earned.'],
  })
})

test('a milestone counts earlier activities from its creation, and many parts are listed without their names', () => {
  const world = createWorld()
  world.append(claimed(), fetched({ distanceDm: 416_670 }), created())
  expect(diaryOf(world.log)).toEqual({
    lines: [
      '2026-05-20 | milestone created: ride 100.000 km in 12 parts, from 2026-05-01, with the activities since then |  |  | 41.667 km | parts 1–5',
    ],
    end: ['41.667 km of 100.000 km (41.66 %), 5 of 12 parts earned.'],
  })
})

test('A-l the diary states that a link was erased, and then contains the awards without the activities', () => {
  const world = createWorld((ask) => (ask.kind === 'check' ? [checked({ at: ask.at })] : []))
  world.append(claimed(), small, fetched({ distanceDm: 120_000 }))
  const before = [...world.log]
  world.append(deauthorised())
  world.runUntil(MORNING + 3_600_000)
  const opening = '2026-05-20 | milestone created: ride 30.000 km in 3 parts, from 2026-05-01 |  |  | 0.000 km | '
  const erased = world.log.filter(({ type }) => type === 'PersonForgotten')
  expect(diaryOf([...before, ...erased]).lines).toEqual([
    opening,
    '2026-05-20 | Morning ride (Ride) | 12.000 km | 0.000 km | 12.000 km | part 1 (Part 1)',
    '2026-05-20 | link erased: numbers are gone, awards stay |  | 12.000 km | 0.000 km | ',
  ])
  expect(diaryOf(world.log, 'MILESTONE#m1#AWARD#01').lines).toEqual([
    '2026-05-20 | earned by an activity that was erased |  | 0.000 km | 0.000 km | part 1 (Part 1)',
    '2026-05-20 | link erased: the number is gone, the award stays |  |  |  | ',
  ])
  expect(diaryOf(world.log)).toEqual({
    lines: [
      opening,
      '2026-05-20 | earned by an activity that was erased |  | 0.000 km | 0.000 km | part 1 (Part 1)',
      '2026-05-20 | link erased: numbers are gone, awards stay |  | 0.000 km | 0.000 km | ',
    ],
    end: ['0.000 km of 30.000 km (0 %), 1 of 3 parts earned.'],
  })
})

test('an award stays in the diary if a new sport map does not count its activity', () => {
  const world = createWorld()
  world.append(claimed(), small, fetched({ sportType: 'EBikeRide', distanceDm: 120_000 }))
  const narrow = activitiesWith({ version: 2, sports: { ...SPORT_MAP.sports, RIDE: ['Ride'] } })
  expect(diaryOf(world.log, 'MILESTONE#m1', narrow).lines.slice(1)).toEqual([
    '2026-05-20 | earned by an activity that does not count any more |  | 0.000 km | 0.000 km | part 1 (Part 1)',
  ])
})
