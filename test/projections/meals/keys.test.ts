import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isoOf } from '../../../projections/instant.ts'
import * as access from '../../../projections/access/keys.ts'
import * as keys from '../../../projections/meals/keys.ts'
import { mealsTable } from '../../../projections/meals/table.ts'

const instant = fc.integer({ min: 0, max: 253_370_764_799_999 }).map(isoOf)
const uid = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
const day = instant.map((iso) => iso.slice(0, 10))

describe('keys', () => {
  test('M1 M2: are those of the source document', () => {
    expect(keys.meals.key('ada', '2026-11-16T08:00:00.000Z', 'u1')).toEqual({
      PK: 'USER#ada',
      SK: 'MEAL#2026-11-16T08:00:00.000Z#u1',
    })
    expect(keys.targets.key('ada').SK).toBe('CONFIG#TARGETS')
    expect(access.tokens.key('ada', 'p1').SK).toBe('PAT#p1')
    expect(access.usages.key('ada', '2026-11-16').SK).toBe('USAGE#2026-11-16')
    expect(keys.summaries.key('ada', '2026-11-16').SK).toBe('SUMMARY#2026-11-16')
    expect(access.tokenHash('ab')).toBe('PATHASH#ab')
  })

  test('M8: the index has the hash of a token as key and contains its scopes and last use', () =>
    expect(mealsTable).toMatchObject({
      name: 'chatkcal',
      ttl: 'ttl',
      indexes: [{ name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] }],
    }))

  test('M3: an id contains an instant and a uid, and both can be read from it', () =>
    fc.assert(
      fc.property(instant, uid, (eaten, name) => {
        const id = keys.mealIdOf(eaten, name)
        expect(keys.mealNameOf(id)).toEqual({ eaten, uid: name })
        expect(keys.uidOf(id)).toBe(name)
        expect(keys.isMealIdOf(id, eaten)).toBe(true)
        expect(keys.eatenOf(keys.meals.key('a', eaten, name).SK)).toBe(eaten)
      }),
    ))

  test.each([
    '',
    'chili',
    '20261116T080000000Z-',
    '20261116T080000000Z-a#b',
    `20261116T080000000Z-${'x'.repeat(65)}`,
    '20261116T08000000Z-u1',
  ])('%j is not a meal id', (id) => expect(keys.mealNameOf(id)).toBeUndefined())

  test('an id does not match another instant or an invalid uid', () => {
    fc.assert(
      fc.property(instant, instant, uid, (one, other, name) => {
        expect(keys.isMealIdOf(keys.mealIdOf(one, name), other)).toBe(one === other)
      }),
    )
    expect(keys.isMealIdOf('20261116T080000000Z-', '2026-11-16T08:00:00.000Z')).toBe(false)
    expect(keys.isMealIdOf('20261116T080000000Z_u1', '2026-11-16T08:00:00.000Z')).toBe(false)
  })

  test('two different items never share a key', () => {
    const thing = fc.oneof(
      fc
        .tuple(instant, uid)
        .map(([eaten, name]) => ({ what: `meal ${eaten} ${name}`, sk: keys.meals.key('a', eaten, name).SK })),
      fc
        .tuple(instant, uid)
        .map(([eaten, name]) => ({
          what: `gone ${eaten} ${name}`,
          sk: keys.goneMeals.key('a', keys.mealIdOf(eaten, name)).SK,
        })),
      fc
        .tuple(day, instant, uid)
        .map(([of, eaten, name]) => ({
          what: `pointer ${of} ${eaten} ${name}`,
          sk: keys.dayPointers.key('a', of, eaten, keys.mealIdOf(eaten, name)).SK,
        })),
      day.map((of) => ({ what: `summary ${of}`, sk: keys.summaries.key('a', of).SK })),
      day.map((of) => ({ what: `usage ${of}`, sk: access.usages.key('a', of).SK })),
      day.map((of) => ({ what: `targets ${of}`, sk: keys.dayTargets.key('a', of).SK })),
      uid.map((id) => ({ what: `token ${id}`, sk: access.tokens.key('a', id).SK })),
      uid.map((id) => ({ what: `gone token ${id}`, sk: access.goneTokens.key('a', id).SK })),
      uid.map((id) => ({ what: `import ${id}`, sk: keys.imports.key('a', id).SK })),
      fc.constant({ what: 'targets', sk: keys.targets.key('a').SK }),
    )
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 30 }), (things) => {
        expect(new Set(things.map(({ sk }) => sk)).size).toBe(new Set(things.map(({ what }) => what)).size)
      }),
    )
  })

  test('M9: the order of keys is the order of instants', () =>
    fc.assert(
      fc.property(instant, instant, uid, (one, other, name) => {
        expect(keys.meals.key('a', one, name).SK < keys.meals.key('a', other, name).SK).toBe(one < other)
      }),
    ))
})
