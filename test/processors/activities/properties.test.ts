import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { activities } from '../../../processors/activities/domain.ts'
import type {
  LedgerEntry,
  LedgerItem,
  LedgerPageItem,
  MilestoneItem,
  PresentWorkout,
  WorkoutItem,
} from '../../../projections/activities/items.ts'
import { contributionsTo, dmOf, entryOf, partsEarnedAt, percentOf } from '../../../projections/activities/milestones.ts'
import { ledgerPages, ledgers } from '../../../projections/activities/keys.ts'
import { SPORT_MAP, sportsOf } from '../../../projections/activities/sports.ts'
import { keyOf, type Item, type Key } from '../../../projections/item.ts'
import type { Get } from '../../../projections/projection.ts'
import { compareText } from '../../../projections/order.ts'
import type { Event } from '../../../schemas/event.ts'
import type { Table } from '../../../testing/folds.ts'
import { inputCount } from '../../../testing/property-runs.ts'
import { aHistory } from './arbitrary.ts'
import { at, claimed, created, idOf, recomputed } from './events.ts'
import { foldInto, tableOf } from './given.ts'
import { createWorld, exact } from './world.ts'

const of = <I extends Item>(table: Table, sk: string): readonly I[] =>
  [...table.values()].map((item) => item as Item as I).filter(({ SK }) => SK.startsWith(sk))

/** Runs the check after every event of any history. */
const always = (check: (table: Table, before: Table) => void) =>
  fc.assert(
    fc.property(aHistory, (events) => {
      const table: Table = new Map()
      for (const [position, event] of events.entries()) {
        const before: Table = new Map(table)
        foldInto(table, event, position)
        check(table, before)
      }
    }),
    { numRuns: inputCount(150) },
  )

const presentOf = (table: Table, pk: string): readonly PresentWorkout[] =>
  of<WorkoutItem>(table, 'WORKOUT#').flatMap((workout) => (workout.PK === pk && !workout.isDeleted ? [workout] : []))

const isMilestone = ({ SK }: Item): boolean => !SK.includes('#AWARD#')
const milestonesOf = (table: Table) => of<MilestoneItem>(table, 'MILESTONE#').filter(isMilestone)

describe('after any history', () => {
  test('A4 A24 the ledger contains exactly the workouts that are present, in order', () =>
    always((table) => {
      for (const pk of ['USER#ada', 'USER#bob']) {
        const pages = of<LedgerPageItem>(table, 'LEDGER#').filter(({ PK }) => PK === pk)
        const byId = ([a]: readonly unknown[], [b]: readonly unknown[]) => compareText(String(a), String(b))
        expect(pages.flatMap(({ entries }) => entries).sort(byId)).toEqual(presentOf(table, pk).map(entryOf).sort(byId))
      }
    }))

  test('A-g A21 the progress of an active milestone is the sum over all workouts', () =>
    always((table) => {
      const sportOf = sportsOf(SPORT_MAP)
      for (const milestone of milestonesOf(table)) {
        const { PK, progressValue, archivedAtUtc } = milestone
        if (archivedAtUtc !== undefined) continue
        const contribution = contributionsTo(milestone, sportOf)
        const sum = presentOf(table, PK).reduce((total, workout) => total + contribution(entryOf(workout)), 0)
        expect(dmOf(progressValue)).toBe(sum)
        expect(milestone.partsEarned).toBe(partsEarnedAt(sum, milestone))
        expect(milestone.percentComplete).toBe(percentOf(sum, milestone))
      }
    }))

  test('A26 A-a awards, high water and completion never fall, except by an erasure', () =>
    always((table, before) => {
      for (const milestone of milestonesOf(table)) {
        const was = before.get(keyOf(milestone)) as MilestoneItem | undefined
        if (was === undefined) continue
        expect(milestone.version).toBeGreaterThanOrEqual(was.version)
        expect(milestone.highWaterProgress).toBeGreaterThanOrEqual(was.highWaterProgress)
        expect(milestone.partsAwardedCount).toBeGreaterThanOrEqual(was.partsAwardedCount)
        if (was.status === 'COMPLETED') expect(milestone.status).toBe('COMPLETED')
      }
    }))

  test('A17 the version of a milestone grows by at most 1 with the events that progress it', () =>
    always((table, before) => {
      for (const milestone of milestonesOf(table)) {
        const was = before.get(keyOf(milestone)) as MilestoneItem | undefined
        if (was !== undefined && was.progressValue !== milestone.progressValue)
          expect(milestone.version).toBe(was.version + 1)
      }
    }))

  test('A6 A-j the awards of a milestone are the parts that it counts, and their keys have two digits', () =>
    always((table) => {
      for (const { PK, SK, partsAwardedCount, _awards } of milestonesOf(table)) {
        const awards = of<Item>(table, `${SK}#AWARD#`).filter((award) => award.PK === PK)
        expect(awards).toHaveLength(partsAwardedCount)
        for (const award of awards) {
          expect(award.SK).toMatch(/#AWARD#\d\d$/)
          expect(_awards[Number(award['partIndex']) - 1]).toBe(award['told'] === true ? 't' : 'm')
        }
      }
    }))
})

describe('a recompute', () => {
  test('A-g changes nothing, because the progress is always the sum', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        const ids = milestonesOf(table).flatMap(({ PK, milestoneId, archivedAtUtc }) =>
          PK === 'USER#ada' && archivedAtUtc === undefined ? [milestoneId] : [],
        )
        const [{ items = [] } = {}] = foldInto(table, recomputed({ data: { milestoneIds: ids } }), events.length)
        expect(items.map(({ SK }) => SK)).toEqual([])
      }),
      { numRuns: inputCount(100) },
    ))

  test('A21 A22 A-g reads the 20,000 workouts of 20 years by 240 gets in one batch, and inspects all of them', () => {
    const months = Array.from({ length: 240 }, (_, month) =>
      new Date(Date.UTC(2006, month, 10)).toISOString().slice(0, 7),
    )
    const pages = months.map((month, index): LedgerPageItem => ({
      ...ledgerPages.key('ada', month),
      epoch: 1,
      entries: Array.from({ length: index < 80 ? 84 : 83 }, (__, ride) => entry(`${index}${ride}`, `${month}-10`)),
    }))
    const index: LedgerItem = {
      ...ledgers.key('ada'),
      epoch: 1,
      first: months[0] ?? '',
      last: months.at(-1) ?? '',
      months: Object.fromEntries(months.map((month) => [month, 1])),
    }
    const stored = new Map<string, Item>([index, ...pages].map((item) => [keyOf(item), item]))
    const milestone = created({ from: '2006-01-01T00:00:00.000Z', total: 20_000 })
    const { result, batches } = foldInBatches(milestone, stored)
    expect(result.items?.find(({ SK }) => SK === 'MILESTONE#m1')).toMatchObject({ progressValue: 20_000, version: 1 })
    // The index, then all pages at once, then the items that the fold writes.
    expect(batches).toHaveLength(3)
    expect(batches[1]).toBe(240)
  })
})

const entry = (id: string, day: string): LedgerEntry => [
  id,
  at(`${day}T06:00:00.000Z`) / 1000,
  day,
  0,
  false,
  'Ride',
  10,
  0,
]

/** Folds an event as the engine does: the fold runs again after the items that it missed were loaded. Returns the number of items of each load. */
const foldInBatches = (event: Event, stored: ReadonlyMap<string, Item>) => {
  const loaded = new Set<string>()
  const batches: number[] = []
  for (;;) {
    const missed = new Set<string>()
    const get: Get = <I extends Item>(key: Key) => {
      if (!loaded.has(keyOf(key))) missed.add(keyOf(key))
      return loaded.has(keyOf(key)) ? (stored.get(keyOf(key)) as I | undefined) : undefined
    }
    const result = activities.projections[0]?.folds[event.type]?.(event, get) ?? {}
    if (missed.size === 0) return { result, batches }
    for (const key of missed) loaded.add(key)
    batches.push(missed.size)
  }
}

describe('the erasure of a link', () => {
  test('A-l A20 leaves the items that the same events give without the data from Strava', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const world = createWorld()
        const mine = events
          .filter(({ meta }) => meta.key === 'ada')
          .map((event): Event => ({
            ...event,
            meta: { ...event.meta, subjectId: event.personal === null ? null : 'ada~strava~1' },
          }))
        world.append(claimed(), ...mine)
        world.forget('ada~strava~1')
        expect(exact(tableOf(world.log))).toEqual(exact(world.table))
        const texts = exact(world.table).join('\n')
        for (const ref of ['r1', 'r2', 'r3']) expect(texts).not.toContain(idOf(ref))
      }),
      { numRuns: inputCount(150) },
    ))
})
