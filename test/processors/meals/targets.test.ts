import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import { at, GONE, logged, MEAL, nutrientChanged, SUMMARY, targetsChanged } from './events.ts'

const TARGETS = 'CONFIG#TARGETS'
const set = targetsChanged({ calories: 2_000_000, protein: 120_500, displayUnit: 'kj' })

describe('TargetsChanged', () => {
  test('M4: one item contains the targets, their unit, the registry, a version and a time', () => {
    const { items } = given().when(set)
    expect(items[TARGETS]).toEqual({
      PK: 'USER#ada',
      SK: TARGETS,
      calories: 2000,
      protein: 120.5,
      displayUnit: 'kj',
      nutrientRegistry: {},
      version: 1,
      updatedAt: '2026-11-16T12:00:00.000Z',
      effectiveFromDate: '2026-11-16',
      _heard: [set.meta.eventId.slice(-12)],
    })
  })

  test('M25 M27: null changes and deletes nothing', () =>
    given(set)
      .when(targetsChanged({ protein: 90_000 }))
      .then({ [TARGETS]: { calories: 2000, protein: 90, displayUnit: 'kj', version: 2 } }))

  test('M26: 0 is stored as 0 and disables the target', () =>
    given(set)
      .when(targetsChanged({ calories: 0 }))
      .then({ [TARGETS]: { calories: 0, protein: 120.5 } }))

  test('M-h: a target that was never set is absent, neither 0 nor null', () => {
    const { items } = given().when(targetsChanged({ fat: 0 }))
    expect(items[TARGETS]).toHaveProperty('fat', 0)
    expect(Object.keys(items[TARGETS] ?? {})).not.toEqual(expect.arrayContaining(['carbs']))
  })

  test('M4: an unexpected version is refused, and the refusal names the current one', () => {
    given(set)
      .when(targetsChanged({ expectedVersion: 0, fat: 1 }))
      .thenRefused('targets-version-conflict', /at version 1, not 0/)
    given(set)
      .when(targetsChanged({ expectedVersion: 1, fat: 1000 }))
      .then({ [TARGETS]: { version: 2, fat: 1 } })
    given()
      .when(targetsChanged({ expectedVersion: 0, fat: 1000 }))
      .then({ [TARGETS]: { version: 1 } })
  })

  test('past goals stay when goals change: each change is stored under its first day', () => {
    const later = targetsChanged({
      calories: 1_800_000,
      effectiveFromDate: '2026-12-01',
      meta: { occurredAt: at('2026-12-01T09:00:00.000Z') },
    })
    const when = given(set).when(later)
    when.thenWrites(TARGETS, 'TARGETS#2026-12-01')
    when.then({ 'TARGETS#2026-11-16': { calories: 2000 }, 'TARGETS#2026-12-01': { calories: 1800, protein: 120.5 } })
  })

  test('a change never applies before the first day of the previous one', () =>
    given(set)
      .when(targetsChanged({ calories: 1_000_000, effectiveFromDate: '2026-10-01' }))
      .then({
        [TARGETS]: { calories: 1000, effectiveFromDate: '2026-11-16' },
        'TARGETS#2026-11-16': { calories: 1000 },
        'TARGETS#2026-10-01': null,
      }))

  test('a repeated event changes nothing, also after another change', () => {
    given(set).when(set).thenDuplicate()
    given(set, targetsChanged({ calories: 1 }))
      .when(set)
      .thenDuplicate()
  })

  test('M-l: a repeated import changes nothing after any number of changes, and keeps the names of other changes', () => {
    const meta = { source: 'import' }
    const many = Array.from({ length: 70 }, (_, n) => targetsChanged({ calories: n * 1000 }))
    for (const row of [targetsChanged({ calories: 1_500_000, meta }), nutrientChanged({ unit: 'mg', meta })]) {
      given(row, nutrientChanged(), ...many)
        .when(row)
        .thenDuplicate()
      given(set).when(row).thenWrites(TARGETS, 'TARGETS#2026-11-16', `SEEN#${row.meta.eventId}`)
    }
    const registry = Array.from({ length: 70 }, (_, n) => nutrientChanged({ name: `n${n}`, meta }))
    given(set, ...registry)
      .when(set)
      .thenDuplicate()
  })

  test('a change that was not imported reads and writes no item of an imported event', () => {
    const when = given(set).when(targetsChanged({ fat: 1000 }))
    expect(when.reads).toEqual([TARGETS])
    when.thenWrites(TARGETS, 'TARGETS#2026-11-16')
  })

  test.each([
    ['a day after tomorrow', { effectiveFromDate: '2026-11-18' }, 'effective-date-out-of-range'],
    ['a day that is none', { effectiveFromDate: '2026-11-31' }, 'effective-date-out-of-range'],
    ['a negative target', { carbs: -1 }, 'nutrient-out-of-range'],
  ])('refuses %s', (_, fields, code) => given().when(targetsChanged(fields)).thenRefused(code))
})

describe('NutrientRegistryChanged', () => {
  test('M23: the targets are the registry of nutrients, with units and goals', () =>
    given(set)
      .when(nutrientChanged({ goal: 30_000 }))
      .then({ [TARGETS]: { calories: 2000, nutrientRegistry: { fiber: { unit: 'g', goal: 30 } }, version: 2 } }))

  test('M27: a unit or a goal that is null stays', () =>
    given(nutrientChanged({ goal: 30_000 }))
      .when(nutrientChanged({ unit: 'mg' }))
      .then({ [TARGETS]: { nutrientRegistry: { fiber: { unit: 'mg', goal: 30 } } } }))

  test('a nutrient that is removed leaves the registry and stays in the meals', () => {
    const meal = logged({ extended: [{ name: 'fiber', amount: 5200 }] })
    const { items } = given(nutrientChanged(), meal).when(nutrientChanged({ removed: true }))
    expect(items[TARGETS]).toMatchObject({ nutrientRegistry: {}, version: 2 })
    expect(items[MEAL]).toMatchObject({ extendedNutrients: { fiber: 5.2 } })
  })

  test('the name of an inherited property is a valid name', () => {
    given()
      .when(nutrientChanged({ name: 'constructor' }))
      .then({ [TARGETS]: { nutrientRegistry: { constructor: { unit: 'g' } } } })
    given()
      .when(nutrientChanged({ name: 'constructor', removed: true }))
      .thenRefused('nutrient-not-found')
    const eaten = logged({ extended: [{ name: 'constructor', amount: 1000 }], registryVersion: 1 })
    given(eaten)
      .when(logged({ uid: 'u2', extended: [{ name: 'constructor', amount: 500 }], registryVersion: 1 }))
      .then({ [SUMMARY]: { extendedNutrients: { constructor: 1.5 } } })
    given()
      .when(logged({ extended: [{ name: 'toString', amount: 1 }] }))
      .then({ [MEAL]: { extendedNutrients: {}, droppedNutrients: { toString: 0.001 } } })
  })

  test('a repeated event changes nothing', () => {
    const once = nutrientChanged()
    given(once, nutrientChanged({ removed: true }))
      .when(once)
      .thenDuplicate()
  })

  test('refused if it is late, unknown, without a name or negative, or if there are too many', () => {
    given(set)
      .when(nutrientChanged({ expectedVersion: 0 }))
      .thenRefused('targets-version-conflict')
    given(set)
      .when(nutrientChanged({ removed: true }))
      .thenRefused('nutrient-not-found')
    given()
      .when(nutrientChanged({ name: '__proto__' }))
      .thenRefused('nutrient-name-invalid')
    given()
      .when(nutrientChanged({ goal: -1 }))
      .thenRefused('nutrient-out-of-range')
    const full = Array.from({ length: 128 }, (_, n) => nutrientChanged({ name: `n${n}` }))
    given(...full)
      .when(nutrientChanged())
      .thenRefused('too-many-nutrients')
    given(...full)
      .when(nutrientChanged({ name: 'n5', unit: 'mg' }))
      .then({ [TARGETS]: { version: 129 } })
  })
})

describe('nutrients in addition to the main four', () => {
  const fiber = [{ name: 'fiber', amount: 5200 }]

  test('M22: they are on the meal and on its day', () =>
    given(nutrientChanged())
      .when(logged({ extended: fiber }))
      .then({ [MEAL]: { extendedNutrients: { fiber: 5.2 } }, [SUMMARY]: { extendedNutrients: { fiber: 5.2 } } }))

  test('M-f: the first nutrient of a day needs no existing map', () => {
    given(logged())
      .when(logged({ uid: 'u2', extended: fiber, registryVersion: 1 }))
      .then({ [SUMMARY]: { extendedNutrients: { fiber: 5.2 }, mealCount: 2 } })
    expect(given().when(logged()).items[SUMMARY]).toHaveProperty('extendedNutrients', {})
  })

  test('M24 M-i: nutrients that the client’s snapshot contains are accepted, whatever the current registry', () =>
    given(nutrientChanged(), nutrientChanged({ removed: true }))
      .when(logged({ extended: fiber, registryVersion: 1 }))
      .then({ [MEAL]: { extendedNutrients: { fiber: 5.2 } } }))

  test('M24: with a snapshot the registry is not read', () => {
    expect(given(nutrientChanged()).when(logged({ extended: fiber, registryVersion: 1 })).reads).toEqual([
      MEAL,
      GONE,
      SUMMARY,
    ])
    expect(given(nutrientChanged()).when(logged({ extended: fiber })).reads).toEqual([MEAL, GONE, TARGETS, SUMMARY])
  })

  test('M-i: nutrients that the edge dropped are stored as dropped, and not summed', () => {
    const { items } = given().when(logged({ dropped: fiber, registryVersion: 3 }))
    expect(items[MEAL]).toMatchObject({ extendedNutrients: {}, droppedNutrients: { fiber: 5.2 } })
    expect(items[SUMMARY]).toMatchObject({ extendedNutrients: {} })
  })

  test('M23: without a snapshot, nutrients that the registry does not define are stored as dropped', () =>
    given(nutrientChanged({ name: 'salt' }))
      .when(logged({ extended: [...fiber, { name: 'salt', amount: 10 }] }))
      .then({
        [MEAL]: { extendedNutrients: { salt: 0.01 }, droppedNutrients: { fiber: 5.2 } },
        [SUMMARY]: { extendedNutrients: { salt: 0.01 } },
      }))
})
