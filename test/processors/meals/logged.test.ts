import { describe, expect, test } from 'vitest'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { contents, given, tableOf } from './given.ts'
import {
  at,
  BREAKFAST,
  chili,
  corrected,
  deleted,
  GONE,
  ID,
  idOf,
  logged,
  MEAL,
  nutrientChanged,
  SUMMARY,
} from './events.ts'

describe('MealLogged', () => {
  test('M2 M18: a meal is one camelCase item of format version 4 under its instant and uid', () => {
    const { items } = given().when(logged())
    expect(items[MEAL]).toEqual({
      PK: 'USER#ada',
      SK: MEAL,
      mealId: ID,
      mealSummary: 'Bowl of Chili',
      emoji: '🥣',
      notes: 'hot',
      calories: 500,
      protein: 30,
      carbs: 40.5,
      fat: 20.1,
      extendedNutrients: {},
      userDate: '2026-11-16',
      tz: 'UTC',
      utcOffsetMinutes: 0,
      createdAt: '2026-11-16T12:00:00.000Z',
      revision: 1,
      formatVersion: 4,
    })
  })

  test('M7 M16: the meal and its day change in one result, and nothing else is written', () => {
    const when = given().when(logged())
    when.thenWrites(MEAL, SUMMARY)
    expect(when.items[SUMMARY]).toEqual({
      PK: 'USER#ada',
      SK: SUMMARY,
      type: 'DaySummary',
      totalCalories: 500,
      totalProtein: 30,
      totalCarbs: 40.5,
      totalFat: 20.1,
      extendedNutrients: {},
      mealCount: 1,
      updatedAt: '2026-11-16T12:00:00.000Z',
    })
  })

  test('M16: a second meal adds to its day', () =>
    given(logged())
      .when(logged({ uid: 'u2', calories: 250_500 }))
      .then({ [SUMMARY]: { totalCalories: 750.5, totalCarbs: 81, mealCount: 2 } }))

  test('M3: two meals of the same millisecond are two items', () =>
    given(logged())
      .when(logged({ uid: 'u2' }))
      .then({ [MEAL]: {}, 'MEAL#2026-11-16T08:00:00.000Z#u2': {}, [SUMMARY]: { mealCount: 2 } }))

  test('M1: all items of a user are in the partition of that user', () => {
    const items = Object.values(contents(tableOf([logged(), nutrientChanged(), deleted()])))
    expect(new Set(items.map(({ PK }) => PK))).toEqual(new Set(['USER#ada']))
  })

  test('a repeated event changes nothing, also with another content', () =>
    given(logged())
      .when(logged({ calories: 1_000 }))
      .thenDuplicate())

  test('M-l: ignored if it is repeated after the meal was deleted', () =>
    given(logged(), deleted()).when(logged()).thenDuplicate())

  test('M-l: ignored if it is repeated after the meal was moved', () =>
    given(logged(), corrected({ eatenAt: at('2026-11-16T12:30:00.000Z') }))
      .when(logged())
      .thenDuplicate())

  test('M-l: invisible to readers if its delete was folded first, and stored for a restore', () =>
    given(deleted())
      .when(logged())
      .then({ [MEAL]: null, [SUMMARY]: null, [GONE]: { state: 'deleted', meal: { mealId: ID, calories: 500 } } }))

  test('the numbers of a forgotten person stay, and no texts', () => {
    const { items } = given().when(logged({ personal: FORGOTTEN }))
    expect(items[MEAL]).toMatchObject({ mealSummary: null, calories: 500 })
    expect(items[MEAL]).not.toHaveProperty('notes')
  })

  test('absent texts leave no attributes', () => {
    const { items } = given().when(logged({ personal: { ...chili, emoji: null, notes: null } }))
    expect(Object.keys(items[MEAL] ?? {})).not.toEqual(expect.arrayContaining(['emoji']))
    expect(items[MEAL]).not.toHaveProperty('notes')
  })

  test.each([
    ['an id that names another instant', { mealId: idOf(BREAKFAST + 1) }, 'meal-id-invalid'],
    ['an id that is none', { mealId: 'chili' }, 'meal-id-invalid'],
    ['an instant that no key can hold', { eatenAt: 9e15, mealId: idOf(9e15) }, 'meal-id-invalid'],
    ['an offset no wall clock has', { utcOffsetMinutes: 15 * 60 }, 'utc-offset-out-of-range'],
    ['a day that is none', { userDate: '2026-02-30', dayOverridden: true }, 'user-date-invalid'],
    ['a negative amount', { protein: -1 }, 'nutrient-out-of-range'],
    ['an amount beyond exact sums', { calories: 1e10 + 1 }, 'nutrient-out-of-range'],
    ['a nutrient without a name', { extended: [{ name: '', amount: 1 }] }, 'nutrient-name-invalid'],
    ['a nutrient named __proto__', { extended: [{ name: '__proto__', amount: 1 }] }, 'nutrient-name-invalid'],
    [
      'too many nutrients',
      { extended: Array.from({ length: 65 }, (_, n) => ({ name: `n${n}`, amount: 1 })) },
      'too-many-nutrients',
    ],
  ])('refuses %s', (_, said, code) => given().when(logged(said)).thenRefused(code))

  test('M-d: a day by another version of the rule is computed again', () =>
    given()
      .when(logged({ userDate: '2026-11-12', dayRuleVersion: 0 }))
      .then({ [MEAL]: { userDate: '2026-11-16' }, [SUMMARY]: { mealCount: 1 } }))

  test('M-d: a day that the user chose stays under every rule', () =>
    given()
      .when(logged({ userDate: '2026-11-15', dayOverridden: true, dayRuleVersion: 0 }))
      .then({
        [MEAL]: { userDate: '2026-11-15', dayOverridden: true },
        'SUMMARY#2026-11-15': { mealCount: 1 },
        [SUMMARY]: null,
      }))

  test('M-k: a day pointer is written only where the day differs from what the instant implies', () => {
    const chosen = given().when(logged({ userDate: '2026-11-15', dayOverridden: true }))
    chosen.thenWrites(MEAL, 'SUMMARY#2026-11-15', `DAY#2026-11-15#2026-11-16T08:00:00.000Z#${ID}`)
    chosen.then({ [`DAY#2026-11-15#2026-11-16T08:00:00.000Z#${ID}`]: { to: MEAL } })
    given()
      .when(logged({ userDate: '2026-11-16', dayOverridden: true }))
      .thenWrites(MEAL, SUMMARY)
  })

  test('M28: a meal at 03:59 by the wall clock belongs to the day before, at 04:00 to the day', () => {
    given()
      .when(logged({ eatenAt: at('2026-11-16T03:59:59.999Z') }))
      .then({ 'SUMMARY#2026-11-15': { mealCount: 1 } })
    given()
      .when(logged({ eatenAt: at('2026-11-16T04:00:00.000Z') }))
      .then({ 'SUMMARY#2026-11-16': { mealCount: 1 } })
  })
})
