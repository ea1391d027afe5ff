import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toAttributes, toItem } from '../../../../processors/adapters/dynamodb/codec.ts'
import { canonical, type Item, type Value } from '../../../../projections/item.ts'
import { arbitraryValue } from './values.ts'

const roundTrip = (value: Value): Value | undefined => toItem(toAttributes({ PK: 'p', SK: 's', value }))['value']

/** The value that the store returns for a written one: a bigint up to 2^53 - 1 becomes a number, everything else is unchanged. */
const normal = (value: Value | undefined): Value | undefined => {
  if (typeof value === 'bigint')
    return BigInt.asIntN(54, value) === value && Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((member) => normal(member) as Value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normal(member)]))
}

describe('values on the wire', () => {
  test('any value is read as it was written', () => {
    fc.assert(
      fc.property(arbitraryValue, (value) => {
        const item: Item = { PK: 'p', SK: 's', value }
        expect(canonical(toItem(toAttributes(item)))).toBe(canonical(normal(item) as Item))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each<[string, Value, string, Value]>([
    ['a fraction', 0.1, '0.1', 0.1],
    ['a tiny fraction', 1.5e-9, '1.5e-9', 1.5e-9],
    ['minus zero', -0, '0', 0],
    ['the largest safe integer', 2 ** 53 - 1, '9007199254740991', 2 ** 53 - 1],
    ['a bigint within 2^53', 7n, '7', 7],
    ['a bigint beyond 2^53', 2n ** 53n + 1n, '9007199254740993', 2n ** 53n + 1n],
    ['a whole number beyond 2^53', 1e21, '1e+21', 10n ** 21n],
    ['38 digits', 10n ** 38n - 1n, '9'.repeat(38), 10n ** 38n - 1n],
  ])('%s is exact', (_, value, wire, back) => {
    expect(toAttributes({ PK: 'p', SK: 's', value })['value']).toEqual({ N: wire })
    expect(roundTrip(value)).toBe(back)
  })

  test.each([
    ['1.5E+3', 1500],
    ['100000000000000000000', 10n ** 20n],
    ['1E20', 10n ** 20n],
    ['12.5E17', 125n * 10n ** 16n],
    ['0.50', 0.5],
  ])('the number %s is read in any notation', (N, value) =>
    expect(toItem({ PK: { S: 'p' }, SK: { S: 's' }, value: { N } })['value']).toBe(value),
  )

  test('an undefined attribute is omitted at any depth', () =>
    expect(toAttributes({ PK: 'p', SK: 's', a: undefined, b: { c: undefined } })).toEqual({
      PK: { S: 'p' },
      SK: { S: 's' },
      b: { M: {} },
    }))
})
