import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rowOf } from '../../../projections/rows.ts'
import { upcast, type Upcast } from '../../../projections/meals/upcast.ts'
import type { Event } from '../../../schemas/event.ts'
import { contents, given, tableOf } from '../../processors/meals/given.ts'
import {
  at,
  chili,
  logged,
  MEAL,
  metaOf,
  nutrientChanged,
  SUMMARY,
  targetsChanged,
} from '../../processors/meals/events.ts'

const origin = { importId: 'import-1', rowHash: 'row-1', at: at('2026-11-16T12:00:00.000Z') }
const v3 = {
  PK: 'USER#ada',
  SK: 'MEAL#2025-06-01T12:00:00Z#abc',
  MealSummary: 'Toast',
  Emoji: '🍞',
  Calories: 250,
  Protein: 8,
  Carbs: 45,
  Fat: 0,
  ExtendedNutrients: { Fiber: 3 },
  Notes: 'dry',
  UserDate: '2025-06-01',
  CreatedAt: '2025-06-01T12:01:00.123456',
  FormatVersion: 3,
}
const v4 = {
  PK: 'USER#ada',
  SK: 'MEAL#2026-02-01T12:00:00.500Z#abc',
  mealSummary: 'Toast',
  calories: 250.4,
  protein: 8.25,
  carbs: 45,
  fat: 0.30000000000000004,
  extendedNutrients: { fiber: 3.1 },
  userDate: '2026-02-01',
  createdAt: '2026-02-01T12:01:00Z',
  formatVersion: 4,
}
const asDynamoJson = (value: unknown): unknown => {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: String(value) }
  if (Array.isArray(value)) return { L: value.map(asDynamoJson) }
  return {
    M: Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, asDynamoJson(member)])),
  }
}
const typed = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asDynamoJson(value)]))

const eventsOf = (said: Upcast): Event[] => {
  if (said.kind !== 'events') throw new Error(`no events: ${JSON.stringify(said)}`)
  return said.events.map(({ type, user, occurredAt, data, personal }) => ({
    type,
    meta: metaOf({ key: user, occurredAt }),
    data,
    personal,
  }))
}

const first = ([event]: readonly Event[]): Event => {
  if (event === undefined) throw new Error('no event')
  return event
}

describe('rows of older tables', () => {
  test('M21: PascalCase and integers of version 3 become one event of a legacy meal', () =>
    expect(upcast(v3, origin)).toEqual({
      kind: 'events',
      events: [
        {
          type: 'LegacyMealAdopted',
          user: 'ada',
          occurredAt: at('2025-06-01T12:01:00.123Z'),
          personal: { mealSummary: 'Toast', emoji: '🍞', notes: 'dry' },
          data: {
            mealId: '20250601T120000000Z-abc',
            legacySk: v3.SK,
            formatVersion: 3,
            eatenAt: at('2025-06-01T12:00:00.000Z'),
            userDate: '2025-06-01',
            createdAt: at('2025-06-01T12:01:00.123Z'),
            calories: 250_000,
            protein: 8000,
            carbs: 45_000,
            fat: 0,
            extended: [{ name: 'Fiber', amount: 3000 }],
            importId: 'import-1',
            rowHash: 'row-1',
          },
        },
      ],
    }))

  test('M19: both casings are read, and one is stored', () => {
    const items = contents(tableOf([...eventsOf(upcast(v3, origin)), ...eventsOf(upcast(v4, origin))]))
    expect(items['MEAL#2025-06-01T12:00:00.000Z#abc']).toMatchObject({
      mealSummary: 'Toast',
      calories: 250,
      formatVersion: 4,
    })
    expect(items['MEAL#2026-02-01T12:00:00.500Z#abc']).toMatchObject({
      mealSummary: 'Toast',
      calories: 250.4,
      formatVersion: 4,
    })
    expect(items['SUMMARY#2026-02-01']).toMatchObject({
      totalCalories: 250.4,
      totalFat: 0.3,
      extendedNutrients: { fiber: 3.1 },
    })
  })

  test('M20: an import stores the same items as logging in the new format, without the old casing', () => {
    const items = contents(tableOf(eventsOf(upcast(v3, origin))))
    const names = Object.keys(items['MEAL#2025-06-01T12:00:00.000Z#abc'] ?? {}).filter(
      (name) => name !== 'PK' && name !== 'SK',
    )
    expect(names.filter((name) => /^[A-Z]/.test(name))).toEqual([])
  })

  test('M-g: a 0 in the new casing is a 0, whatever the old casing contains', () => {
    const [said] = eventsOf(upcast({ ...v4, calories: 0, Calories: 900, mealSummary: '', MealSummary: 'Old' }, origin))
    expect(said).toMatchObject({ data: { calories: 0 }, personal: { mealSummary: '' } })
    const [fallen] = eventsOf(upcast({ ...v4, calories: null, Calories: 900 }, origin))
    expect(fallen).toMatchObject({ data: { calories: 900_000 } })
  })

  test('M-e: old float sums are rounded to the nearest thousandth', () =>
    expect(eventsOf(upcast(v4, origin))[0]?.data).toMatchObject({ fat: 300 }))

  test('M20: NDJSON, DynamoDB JSON and export lines give the same events', () => {
    for (const row of [v3, v4]) {
      expect(upcast(typed(row), origin)).toEqual(upcast(row, origin))
      expect(upcast({ Item: typed(row) }, origin)).toEqual(upcast(row, origin))
      expect(upcast({ Item: row }, origin)).toEqual(upcast(row, origin))
    }
    expect(
      rowOf({
        PK: { S: 'a' },
        a: { SS: ['x'] },
        b: { NS: ['1'] },
        c: { NULL: true },
        d: { BOOL: false },
        e: { L: [{ N: '2' }] },
      }),
    ).toEqual({ PK: 'a', a: ['x'], b: [1], c: null, d: false, e: [2] })
  })

  test('M20: the same rows again change nothing', () => {
    const rows = [v3, v4].flatMap((row) => eventsOf(upcast(row, origin)))
    given(...rows)
      .when(first(rows))
      .thenDuplicate()
    given(...rows)
      .when(first(eventsOf(upcast(v4, { ...origin, importId: 'import-2' }))))
      .thenDuplicate()
  })

  test('a meal of our own table keeps its zone and its chosen day', () => {
    const before = given().when(
      logged({
        tz: 'Asia/Tokyo',
        utcOffsetMinutes: 540,
        userDate: '2026-11-15',
        dayOverridden: true,
        dropped: [{ name: 'x', amount: 1 }],
      }),
    ).items
    const said = first(eventsOf(upcast(before[MEAL], origin)))
    expect(said).toMatchObject({ type: 'MealLogged', personal: chili })
    const { [MEAL]: meal } = given().when(said).items
    expect(meal).toEqual({ ...before[MEAL], importId: 'import-1', rowHash: 'row-1' })
  })

  test('M4: targets and their registry become changes, with the same result', () => {
    const before = given(targetsChanged({ calories: 2_000_000, fat: 0, displayUnit: 'kj' })).when(
      nutrientChanged({ goal: 30_000 }),
    ).items['CONFIG#TARGETS']
    const after = contents(tableOf(eventsOf(upcast(before, origin))))['CONFIG#TARGETS']
    expect(after).toMatchObject({
      calories: 2000,
      fat: 0,
      displayUnit: 'kj',
      nutrientRegistry: { fiber: { unit: 'g', goal: 30 } },
      effectiveFromDate: '2026-11-16',
    })
    expect(Object.keys(after ?? {})).not.toEqual(expect.arrayContaining(['protein']))
  })

  test('M5: tokens are recognised by their hash', () => {
    const pat = {
      PK: 'USER#ada',
      SK: 'PAT#p9',
      Name: 'Shortcut',
      Scopes: ['read', 'admin'],
      LastUsedAt: '2026-01-02',
      CreatedAt: '2026-01-01T00:00:00Z',
      GSI1PK: `PATHASH#${'AB'.repeat(32)}`,
    }
    expect(contents(tableOf(eventsOf(upcast(pat, origin))))['PAT#p9']).toMatchObject({
      name: 'Shortcut',
      scopes: ['read'],
      lastUsedAt: '2026-01-02',
      createdAt: '2026-01-01T00:00:00.000Z',
      GSI1PK: `PATHASH#${'ab'.repeat(32)}`,
    })
  })

  test('M29: summaries, usage and pointers are not imported: they are derived again', () => {
    const derived = [
      SUMMARY,
      'USAGE#2026-11-16',
      'DAY#2026-11-16#x',
      'GONE#MEAL#x',
      'TARGETS#2026-11-16',
      'IMPORT#x',
      'SEEN#x',
    ]
    expect(derived.map((SK) => upcast({ PK: 'USER#ada', SK }, origin).kind)).toEqual(derived.map(() => 'derived'))
    expect(upcast({ PK: 'IDEM#ada#k', SK: 'x' }, origin)).toEqual({ kind: 'derived' })
  })

  test.each([
    [null, 'not an item'],
    [[], 'not an item'],
    ['row', 'not an item'],
    [{ Item: { PK: { S: 'USER#ada' }, SK: { B: 'eA==' } } }, 'not an item'],
    [{ PK: 'GROUP#1', SK: 'MEAL#x' }, 'PK'],
    [{ PK: 'USER#a b', SK: 'MEAL#x' }, 'PK'],
    [{ ...v4, SK: 'FOOD#1' }, 'SK'],
    [{ ...v4, SK: 'MEAL#yesterday#abc' }, 'SK'],
    [{ ...v4, SK: 'MEAL#2026-02-01T12:00:00Z#a b' }, 'SK'],
    [{ ...v4, userDate: '2026-02-31' }, 'userDate'],
    [{ ...v4, calories: '250' }, 'calories'],
    [{ ...v4, fat: -1 }, 'fat'],
    [{ ...v4, extendedNutrients: { fiber: 'much' } }, 'fiber'],
    [{ PK: 'USER#ada', SK: 'PAT#p1' }, 'GSI1PK'],
    [{ PK: 'USER#ada', SK: 'PAT#a b', GSI1PK: `PATHASH#${'ab'.repeat(32)}` }, 'SK'],
  ])('%j is unreadable, and the reason names why', (row, named) => {
    const said = upcast(row, origin)
    expect(said.kind).toBe('unreadable')
    expect(said).toHaveProperty('reason', expect.stringContaining(named))
  })

  test('any row is read or reported with a reason, and nothing is thrown', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc
            .dictionary(fc.constantFrom(...Object.keys(v4), ...Object.keys(v3)), fc.jsonValue())
            .map((odd) => ({ ...v4, ...odd })),
        ),
        (row) => {
          const said = upcast(row, origin)
          if (said.kind === 'events') tableOf(eventsOf(said))
        },
      ),
      { numRuns: 1000 },
    ))
})
