import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import { at, corrected, deleted, GONE, ID, logged, MEAL, reassigned, restored, SUMMARY } from './events.ts'

const AT_NOON = 'MEAL#2026-11-16T12:30:00.000Z#u1'
const moved = corrected({ eatenAt: at('2026-11-16T12:30:00.000Z') })

describe('MealDeleted', () => {
  test('M17: the meal is removed, and its day’s sums decrease by exactly its amounts', () =>
    given(logged(), logged({ uid: 'u2', calories: 100 }))
      .when(deleted())
      .then({
        [MEAL]: null,
        [SUMMARY]: { totalCalories: 0.1, totalProtein: 30, mealCount: 1 },
        [GONE]: {
          state: 'deleted',
          deletedAt: '2026-11-16T12:00:00.000Z',
          meal: { calories: 500, mealSummary: 'Bowl of Chili' },
        },
      }))

  test('M-e: the last meal of a day leaves exact zeros', () => {
    const tenth = (n: number) =>
      logged({ uid: `u${n}`, calories: 100, fat: 200, extended: [{ name: 'fiber', amount: 100 }], registryVersion: 1 })
    const gone = (n: number) => deleted({ mealId: `20261116T080000000Z-u${n}` })
    given(tenth(1), tenth(2), tenth(3), gone(2), gone(1))
      .when(gone(3))
      .then({
        [SUMMARY]: {
          totalCalories: 0,
          totalProtein: 0,
          totalCarbs: 0,
          totalFat: 0,
          extendedNutrients: {},
          mealCount: 0,
        },
      })
  })

  test('a chosen day loses its pointer', () => {
    const { items } = given(logged(), reassigned()).when(deleted())
    expect(Object.keys(items).sort()).toEqual([GONE, 'SUMMARY#2026-11-15', SUMMARY])
  })

  test('M-l: a repeated event changes nothing, also after a restore', () => {
    const once = deleted()
    given(logged(), once).when(deleted()).thenDuplicate()
    given(logged(), once, restored()).when(once).thenDuplicate()
  })

  test('M-l: before its create it leaves an item that a late create finds', () => {
    const when = given().when(deleted())
    when.thenWrites(GONE)
    when.then({ [GONE]: { state: 'deleted', meal: null } })
    given(deleted()).when(deleted()).thenDuplicate()
  })

  test('refused for an invalid meal id', () =>
    given()
      .when(deleted({ mealId: 'x' }))
      .thenRefused('meal-not-found'))
})

describe('MealRestored', () => {
  test('M-l: restores the meal unchanged under its key', () => {
    const { items, before } = given(logged(), logged({ uid: 'u2' }), deleted()).when(restored())
    const untouched = given(logged()).when(logged({ uid: 'u2' })).items
    expect(items[MEAL]).toMatchObject({ ...untouched[MEAL] })
    expect(items[SUMMARY]).toEqual(untouched[SUMMARY])
    expect(before[GONE]).toBeDefined()
    expect(items).not.toHaveProperty([GONE])
  })

  test('a moved meal is restored at its new instant, with its redirect', () =>
    given(logged(), moved, deleted())
      .when(restored())
      .then({ [MEAL]: null, [AT_NOON]: { mealId: ID }, [GONE]: { state: 'moved', to: AT_NOON } }))

  test('a chosen day gets its pointer back', () =>
    given(logged(), reassigned(), deleted())
      .when(restored())
      .then({ [`DAY#2026-11-15#2026-11-16T08:00:00.000Z#${ID}`]: { to: MEAL } }))

  test('M-l: a meal whose delete was folded before its create can be restored, too', () =>
    given(deleted(), logged())
      .when(restored())
      .then({ [MEAL]: { calories: 500 }, [SUMMARY]: { mealCount: 1 }, [GONE]: null }))

  test('a repeated event changes nothing, also after another delete', () => {
    const once = restored()
    given(logged(), deleted(), once).when(once).thenDuplicate()
    given(logged(), deleted(), once, deleted()).when(once).thenDuplicate()
  })

  test('refused for a meal that exists, or that never existed', () => {
    given(logged()).when(restored()).thenRefused('meal-not-deleted')
    given().when(restored()).thenRefused('meal-not-found')
    given(deleted()).when(restored()).thenRefused('meal-not-found')
  })

  test('refused when another meal has moved to its place', () => {
    const other = logged({ eatenAt: at('2026-11-16T12:30:00.000Z') })
    const toBreakfast = corrected({ mealId: other.data.mealId, eatenAt: at('2026-11-16T08:00:00.000Z') })
    given(logged(), deleted(), other, toBreakfast).when(restored()).thenRefused('meal-key-taken')
  })
})
