import fc from 'fast-check'
import type { Value } from '../../../../projections/item.ts'

const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((value) => value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) < 1e126))
  .filter((value) => Number.isSafeInteger(value) || !Number.isInteger(value))
const name = fc.string({ unit: 'binary' }).filter((text) => text !== '' && text !== '__proto__')
export const arbitraryValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    number,
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
})).value
