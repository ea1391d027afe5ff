import { describe, expect, test } from 'vitest'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { given } from './given.ts'
import {
  adopted,
  at,
  BREAKFAST,
  corrected,
  deleted,
  GONE,
  ID,
  idOf,
  logged,
  MEAL,
  nutrientChanged,
  reassigned,
  SUMMARY,
} from './events.ts'

const NOON = at('2026-11-16T12:30:00.000Z')
const AT_NOON = 'MEAL#2026-11-16T12:30:00.000Z#u1'
const words = { mealSummary: null, emoji: null, notes: null, reason: null }

describe('MealCorrected', () => {
  test('M-a: subtracts the old contribution from its day and adds the new one', () =>
    given(logged(), logged({ uid: 'u2' }))
      .when(corrected({ calories: 700_250, fat: 0 }))
      .then({
        [MEAL]: { calories: 700.25, fat: 0, protein: 30, revision: 2, updatedAt: '2026-11-16T12:00:00.000Z' },
        [SUMMARY]: { totalCalories: 1200.25, totalFat: 20.1, mealCount: 2 },
      }))

  test('M-a: a null field changes nothing', () => {
    const { items, before } = given(logged()).when(corrected())
    expect(items[MEAL]).toMatchObject({ ...before[MEAL], revision: 2 })
    expect(items[SUMMARY]).toEqual(before[SUMMARY])
  })

  test('a change of texts only writes one item', () =>
    given(logged())
      .when(corrected({ personal: { ...words, mealSummary: 'Chili sin carne' } }))
      .thenWrites(MEAL))

  test('an empty emoji or note removes the attribute', () => {
    const { items } = given(logged()).when(corrected({ personal: { ...words, emoji: '', notes: '' } }))
    expect(items[MEAL]).toMatchObject({ mealSummary: 'Bowl of Chili' })
    expect(Object.keys(items[MEAL] ?? {})).not.toEqual(expect.arrayContaining(['emoji']))
    expect(Object.keys(items[MEAL] ?? {})).not.toEqual(expect.arrayContaining(['notes']))
  })

  test('a forgotten correction leaves no text', () =>
    given(logged())
      .when(corrected({ calories: 1000, personal: FORGOTTEN }))
      .then({ [MEAL]: { mealSummary: null, calories: 1 } }))

  test('a new instant moves the meal and leaves a redirect under its id', () => {
    const when = given(logged()).when(corrected({ eatenAt: NOON }))
    when.thenWrites(MEAL, AT_NOON, GONE)
    when.then({
      [MEAL]: null,
      [AT_NOON]: { mealId: ID, userDate: '2026-11-16' },
      [GONE]: { state: 'moved', to: AT_NOON },
      [SUMMARY]: { mealCount: 1 },
    })
  })

  test('a meal that moves back to its first key leaves no redirect', () =>
    given(logged(), corrected({ eatenAt: NOON }))
      .when(corrected({ eatenAt: BREAKFAST }))
      .then({ [MEAL]: { revision: 3 }, [AT_NOON]: null, [GONE]: null }))

  test('a moved meal is corrected, and found, under its first id', () =>
    given(logged(), corrected({ eatenAt: NOON }))
      .when(corrected({ calories: 1000 }))
      .then({ [AT_NOON]: { calories: 1 }, [SUMMARY]: { totalCalories: 1 } }))

  test('a meal that moves to another day moves its contribution', () =>
    given(logged(), logged({ uid: 'u2' }))
      .when(corrected({ eatenAt: at('2026-11-14T20:00:00.000Z') }))
      .then({
        [SUMMARY]: { mealCount: 1, totalCalories: 500 },
        'SUMMARY#2026-11-14': { mealCount: 1, totalCalories: 500 },
        'MEAL#2026-11-14T20:00:00.000Z#u1': { userDate: '2026-11-14' },
      }))

  test('M-e: a day without meals has exact zeros', () =>
    given(logged({ extended: [{ name: 'fiber', amount: 1 }], registryVersion: 1 }))
      .when(corrected({ userDate: '2026-11-15', dayOverridden: true }))
      .then({
        [SUMMARY]: {
          mealCount: 0,
          totalCalories: 0,
          totalProtein: 0,
          totalCarbs: 0,
          totalFat: 0,
          extendedNutrients: {},
        },
        'SUMMARY#2026-11-15': { mealCount: 1, extendedNutrients: { fiber: 0.001 } },
      }))

  test('M-k: the pointer follows a chosen day through every correction', () => {
    const pointer = (day: string, eaten: string) => `DAY#${day}#${eaten}#${ID}`
    const chosen = corrected({ userDate: '2026-11-15', dayOverridden: true })
    given(logged())
      .when(chosen)
      .then({ [pointer('2026-11-15', '2026-11-16T08:00:00.000Z')]: { to: MEAL } })
    given(logged(), chosen)
      .when(corrected({ eatenAt: NOON }))
      .then({
        [pointer('2026-11-15', '2026-11-16T08:00:00.000Z')]: null,
        [pointer('2026-11-15', '2026-11-16T12:30:00.000Z')]: { to: AT_NOON },
        [AT_NOON]: { userDate: '2026-11-15', dayOverridden: true },
      })
    const back = given(logged(), chosen).when(corrected({ userDate: '2026-11-16', dayOverridden: false }))
    back.then({ [pointer('2026-11-15', '2026-11-16T08:00:00.000Z')]: null })
    expect(back.items[MEAL]).not.toHaveProperty('dayOverridden')
  })

  test('M-d: the day of an older rule is computed again', () =>
    given(logged())
      .when(corrected({ userDate: '2026-11-11', dayOverridden: false, dayRuleVersion: 0 }))
      .then({ [MEAL]: { userDate: '2026-11-16' } }))

  test('M-b: a new zone moves the meal to the day of that wall clock', () =>
    given(logged({ eatenAt: at('2026-11-16T05:00:00.000Z') }))
      .when(corrected({ mealId: idOf(at('2026-11-16T05:00:00.000Z')), tz: 'America/New_York', utcOffsetMinutes: -300 }))
      .then({
        'MEAL#2026-11-16T05:00:00.000Z#u1': { tz: 'America/New_York', userDate: '2026-11-15' },
        'SUMMARY#2026-11-15': { mealCount: 1 },
      }))

  test('nutrients are replaced as a whole, and filtered like those of a new meal', () =>
    given(nutrientChanged(), logged({ extended: [{ name: 'salt', amount: 5 }], registryVersion: 1 }))
      .when(
        corrected({
          extended: [
            { name: 'fiber', amount: 5200 },
            { name: 'gold', amount: 1 },
          ],
        }),
      )
      .then({
        [MEAL]: { extendedNutrients: { fiber: 5.2 }, droppedNutrients: { gold: 0.001 } },
        [SUMMARY]: { extendedNutrients: { fiber: 5.2 } },
      }))

  test('a repeated event changes nothing, also after another correction', () => {
    const first = corrected({ calories: 100_000 })
    given(logged(), first).when(first).thenDuplicate()
    given(logged(), first, corrected({ calories: 200_000 }))
      .when(first)
      .thenDuplicate()
  })

  test('a meal remembers the last 64 of its corrections, so its item stays small', () => {
    const many = Array.from({ length: 70 }, (_, n) => corrected({ calories: n * 1000 }))
    const { items } = given(logged(), ...many).when(corrected())
    expect(items[MEAL]?.['_heard']).toHaveLength(64)
    given(logged(), ...many)
      .when(many[10] ?? corrected())
      .thenDuplicate()
  })

  test('a late event is refused if the revision is unexpected, and the refusal names the current one', () => {
    const stale = corrected({ expectedRevision: 1, calories: 1 })
    given(logged(), corrected({ calories: 2000 }))
      .when(stale)
      .thenRefused('revision-conflict', /at revision 2, not 1/)
    given(logged())
      .when(stale)
      .then({ [MEAL]: { calories: 0.001, revision: 2 } })
  })

  test('refused when the meal is unknown or deleted', () => {
    given().when(corrected()).thenRefused('meal-not-found')
    given(logged())
      .when(corrected({ mealId: 'chili' }))
      .thenRefused('meal-not-found')
    given(logged(), deleted()).when(corrected()).thenRefused('meal-deleted')
  })

  test('refused if another meal has the new instant and the same uid', () => {
    const other = logged({ eatenAt: NOON })
    given(logged(), other)
      .when(corrected({ eatenAt: NOON }))
      .thenRefused('meal-key-taken')
    given(logged(), corrected({ eatenAt: NOON }))
      .when(other)
      .thenRefused('meal-key-taken')
  })

  test.each([
    ['an instant that no key can hold', { eatenAt: -9e15 }, 'eaten-at-out-of-range'],
    ['an offset no wall clock has', { utcOffsetMinutes: -721 }, 'utc-offset-out-of-range'],
    ['a day that is none', { userDate: 'today' }, 'user-date-invalid'],
    ['a negative amount', { fat: -1 }, 'nutrient-out-of-range'],
  ])('refuses %s', (_, said, code) => given(logged()).when(corrected(said)).thenRefused(code))
})

describe('MealDayReassigned', () => {
  test('M-k: moves the contribution to the chosen day and points from it to the meal', () =>
    given(logged())
      .when(reassigned({ to: '2026-11-14' }))
      .then({
        [MEAL]: { userDate: '2026-11-14', dayOverridden: true, revision: 2 },
        [`DAY#2026-11-14#2026-11-16T08:00:00.000Z#${ID}`]: { to: MEAL },
        'SUMMARY#2026-11-14': { mealCount: 1, totalCalories: 500 },
        [SUMMARY]: { mealCount: 0, totalCalories: 0 },
      }))

  test('back to the day that the instant implies needs no pointer', () => {
    const { items } = given(logged(), reassigned()).when(reassigned({ to: '2026-11-16' }))
    expect(Object.keys(items).filter((sk) => sk.startsWith('DAY#'))).toEqual([])
    expect(items[MEAL]).not.toHaveProperty('dayOverridden')
  })

  test('a legacy meal without a zone gets a pointer only from a day outside its window', () => {
    given(adopted())
      .when(reassigned({ to: '2026-11-15' }))
      .then({ [MEAL]: { userDate: '2026-11-15' }, 'SUMMARY#2026-11-15': { mealCount: 1 } })
    expect(
      Object.keys(given(adopted()).when(reassigned({ to: '2026-11-15' })).items).some((sk) => sk.startsWith('DAY#')),
    ).toBe(false)
    expect(
      Object.keys(given(adopted()).when(reassigned({ to: '2026-11-12' })).items).some((sk) => sk.startsWith('DAY#')),
    ).toBe(true)
  })

  test('a repeated event changes nothing', () => {
    const once = reassigned()
    given(logged(), once, reassigned({ to: '2026-11-16' }))
      .when(once)
      .thenDuplicate()
  })

  test('refused for a deleted meal, an unknown meal, and an invalid day', () => {
    given(logged(), corrected())
      .when(reassigned({ expectedRevision: 1 }))
      .thenRefused('revision-conflict', /at revision 2/)
    given().when(reassigned()).thenRefused('meal-not-found')
    given(logged(), deleted()).when(reassigned()).thenRefused('meal-deleted')
    given(logged())
      .when(reassigned({ to: '2026-13-01' }))
      .thenRefused('user-date-invalid')
  })
})
