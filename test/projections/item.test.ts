import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical, sameItem, stamped, type Item } from '../../projections/item.ts'

const leaf = fc.oneof(
  fc.constantFrom('', 'a', 'b', 0, -0, 1, 1.5, true, false, null, undefined),
  fc.bigInt({ min: 0n, max: 3n }),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('some'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'constructor'), tie('any'), { maxKeys: 3 }),
  ),
  // A list has no holes: what is absent in one is null.
  some: tie('any').map((member) => member ?? null),
})).any
const anItem = fc
  .dictionary(fc.constantFrom('a', 'b', 'c'), value, { maxKeys: 3 })
  .map((rest) => ({ PK: 'p', SK: 's', ...rest }) as Item)

test('two items are the same exactly when their canonical forms are', () => {
  fc.assert(
    fc.property(anItem, anItem, (a, b) => {
      expect(sameItem(a, b)).toBe(canonical(a) === canonical(b))
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(anItem, (a) => {
      expect(sameItem(a, structuredClone(a) as Item)).toBe(true)
    }),
  )
})

test('a new item gets its position in place; an item that was read is copied', () => {
  const made = { PK: 'p', SK: 's' }
  expect(stamped(made, 3)).toBe(made)
  const read = Object.freeze({ PK: 'p', SK: 's', _pos: 1 })
  expect(stamped(read, 4)).toEqual({ PK: 'p', SK: 's', _pos: 4 })
  expect(read._pos).toBe(1)
})
