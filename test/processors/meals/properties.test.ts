import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../projections/item.ts'
import { dayOf, windowOf } from '../../../projections/meals/day.ts'
import type { DaySummaryItem, GoneMealItem, MealItem } from '../../../projections/meals/items.ts'
import { eatenOf, mealNameOf, meals as mealItems } from '../../../projections/meals/keys.ts'
import { milliOf } from '../../../projections/meals/nutrients.ts'
import { aHistory } from './arbitrary.ts'
import { contents, foldInto, tableOf, type Table } from './given.ts'
import { deleted, restored } from './events.ts'

const of = <I extends Item>(table: Table, prefix: string): I[] =>
  Object.entries([...table.values()])
    .map(([, item]) => item as Item as I)
    .filter(({ SK }) => SK.startsWith(prefix))

describe('any history', () => {
  test('M17 M29 M-e: a summary is exactly the sum of the meals of its day', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        const meals = of<MealItem>(table, 'MEAL#')
        const summaries = of<DaySummaryItem>(table, 'SUMMARY#')
        for (const summary of summaries) {
          const eaten = meals.filter(({ PK, userDate }) => PK === summary.PK && `SUMMARY#${userDate}` === summary.SK)
          const sum = (amount: (meal: MealItem) => number) =>
            eaten.reduce((total, meal) => total + milliOf(amount(meal)), 0) / 1000
          const names = new Set(eaten.flatMap(({ extendedNutrients }) => Object.keys(extendedNutrients)))
          const amounts = [...names].map(
            (name) =>
              [name, sum(({ extendedNutrients: map }) => (Object.hasOwn(map, name) ? (map[name] ?? 0) : 0))] as const,
          )
          expect(summary).toMatchObject({
            totalCalories: sum(({ calories }) => calories),
            totalProtein: sum(({ protein }) => protein),
            totalCarbs: sum(({ carbs }) => carbs),
            totalFat: sum(({ fat }) => fat),
            mealCount: eaten.length,
          })
          expect(summary.extendedNutrients).toEqual(Object.fromEntries(amounts.filter(([, amount]) => amount !== 0)))
        }
        const days = new Set(summaries.map(({ PK, SK }) => `${PK} ${SK}`))
        expect(meals.every(({ PK, userDate }) => days.has(`${PK} SUMMARY#${userDate}`))).toBe(true)
      }),
    ))

  test('M-k: every meal is found from its day, by the window or by exactly one pointer', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        const pointers = new Map(of(table, 'DAY#').map((pointer) => [`${pointer.PK} ${pointer.SK}`, pointer['to']]))
        for (const { PK, SK, mealId, userDate, utcOffsetMinutes } of of<MealItem>(table, 'MEAL#')) {
          const eaten = Date.parse(eatenOf(SK))
          const { from, to } = windowOf(userDate)
          const implied =
            utcOffsetMinutes === undefined ? eaten >= from && eaten < to : dayOf(eaten, utcOffsetMinutes) === userDate
          const pointer = `${PK} DAY#${userDate}#${eatenOf(SK)}#${mealId}`
          expect(pointers.get(pointer)).toBe(implied ? undefined : SK)
          pointers.delete(pointer)
        }
        expect([...pointers.keys()], 'no pointer leads nowhere').toEqual([])
      }),
    ))

  test('a meal id leads to one meal, one redirect or one tombstone', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        const meals = of<MealItem>(table, 'MEAL#')
        const ids = meals.map(({ PK, mealId }) => `${PK} ${mealId}`)
        expect(new Set(ids).size).toBe(ids.length)
        for (const gone of of<GoneMealItem>(table, 'GONE#MEAL#')) {
          const mealId = gone.SK.slice('GONE#MEAL#'.length)
          const there = meals.filter((meal) => meal.PK === gone.PK && meal.mealId === mealId).map(({ SK }) => SK)
          expect(there).toEqual(gone.state === 'moved' ? [gone.to] : [])
        }
        for (const { PK, SK, mealId } of meals) {
          const name = mealNameOf(mealId)
          const atHome = name !== undefined && mealItems.key('', name.eaten, name.uid).SK === SK
          expect(table.has(`${PK}\u0000GONE#MEAL#${mealId}`)).toBe(!atHome)
        }
      }),
    ))

  test('M-l: a delete and a restore leave every item as it was, except for the names of the two events and the time of the summary', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        for (const meal of of<MealItem>(table, 'MEAL#')) {
          const meta = { key: meal.PK.slice('USER#'.length) }
          const copy: Table = new Map(table)
          foldInto(copy, deleted({ mealId: meal.mealId, meta }), events.length)
          expect(copy.has(`${meal.PK}\u0000${meal.SK}`)).toBe(false)
          foldInto(copy, restored({ mealId: meal.mealId, meta }), events.length + 1)
          expect(withoutNames(copy)).toEqual(withoutNames(table))
        }
      }),
    ))
})

const withoutNames = (table: Table) =>
  [...table.values()]
    .map(({ _pos, _heard, ...item }) => ({
      ...item,
      updatedAt: item.SK.startsWith('SUMMARY#') ? '' : item['updatedAt'],
    }))
    .sort((x, y) => (x.PK + x.SK < y.PK + y.SK ? -1 : 1))

test('the histories of the properties contain days with meals', () => {
  const histories = fc.sample(aHistory, { numRuns: 50, seed: 7 })
  const counts = histories.flatMap((events) =>
    of<DaySummaryItem>(tableOf(events), 'SUMMARY#').map(({ mealCount }) => mealCount),
  )
  expect(counts.filter((count) => count > 1).length).toBeGreaterThan(20)
  expect(counts.filter((count) => count === 0).length).toBeGreaterThan(5)
  expect(
    histories.flatMap((events) => Object.keys(contents(tableOf(events)))).filter((sk) => sk.startsWith('DAY#')).length,
  ).toBeGreaterThan(5)
})
