import { describe, expect, test } from 'vitest'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { given } from './given.ts'
import { adopted, at, deleted, ID, logged, MEAL, restored, SUMMARY } from './events.ts'

describe('LegacyMealAdopted', () => {
  test('M18 M21: an old meal becomes an item of version 4 like any other', () => {
    const { items } = given().when(adopted({ userDate: '2026-11-16', createdAt: at('2025-06-01T10:00:00.000Z') }))
    expect(items[MEAL]).toEqual({
      PK: 'USER#ada',
      SK: MEAL,
      mealId: ID,
      mealSummary: 'Bowl of Chili',
      emoji: '🥣',
      notes: 'hot',
      calories: 500,
      protein: 30,
      carbs: 40,
      fat: 20,
      extendedNutrients: {},
      userDate: '2026-11-16',
      createdAt: '2025-06-01T10:00:00.000Z',
      revision: 1,
      formatVersion: 4,
      importId: 'import-1',
      rowHash: 'row-1',
    })
    expect(items[SUMMARY]).toMatchObject({ totalCalories: 500, mealCount: 1 })
  })

  test('M29: its day is its userDate', () =>
    given()
      .when(adopted({ userDate: '2026-11-15' }))
      .then({ 'SUMMARY#2026-11-15': { mealCount: 1 } }))

  test('M28: without a userDate its day begins at 4:00 UTC', () =>
    given()
      .when(adopted({ eatenAt: at('2026-11-16T03:00:00.000Z') }))
      .then({ 'SUMMARY#2026-11-15': { mealCount: 1 } }))

  test('M-k: it gets a pointer only if no zone places it on its day', () => {
    given()
      .when(adopted({ userDate: '2026-11-15' }))
      .thenWrites(MEAL, 'SUMMARY#2026-11-15')
    given()
      .when(adopted({ userDate: '2026-11-13' }))
      .thenWrites(MEAL, 'SUMMARY#2026-11-13', `DAY#2026-11-13#2026-11-16T08:00:00.000Z#${ID}`)
  })

  test('it keeps its nutrients: no registry filters them', () =>
    given()
      .when(adopted({ extended: [{ name: 'fiber', amount: 5200 }] }))
      .then({ [SUMMARY]: { extendedNutrients: { fiber: 5.2 } } }))

  test('a repeated event and an existing meal change nothing', () => {
    given(adopted()).when(adopted()).thenDuplicate()
    given(logged()).when(adopted()).thenDuplicate()
  })

  test('ignored when late: a meal that was deleted meanwhile stays deleted, and can be restored', () => {
    given(adopted(), deleted()).when(adopted()).thenDuplicate()
    given(adopted(), deleted())
      .when(restored())
      .then({ [MEAL]: { calories: 500 } })
  })

  test('refuses an invalid id, day or amount', () => {
    given()
      .when(adopted({ mealId: 'x' }))
      .thenRefused('meal-id-invalid')
    given()
      .when(adopted({ userDate: '2026-00-01' }))
      .thenRefused('user-date-invalid')
    given()
      .when(adopted({ fat: -1 }))
      .thenRefused('nutrient-out-of-range')
  })

  test('the numbers of a forgotten person stay', () =>
    given()
      .when(adopted({ personal: FORGOTTEN }))
      .then({ [MEAL]: { mealSummary: null, calories: 500 } }))
})
