import { describe, expect, test } from 'vitest'
import { sizeOf } from '../../../../processors/engine/rows/size.ts'
import {
  isStorableKey,
  MAX_ITEM_BYTES,
  MAX_KEY_BYTES,
  requireStorable,
} from '../../../../processors/engine/rows/storable.ts'
import { codeOf } from '../../../code-of.ts'
import { fits, unstorable, STORABLE_SPEC } from '../../../contracts/store-limits.ts'

describe('the limits that every store has', () => {
  test.each(unstorable)('%s is rejected', (_, item, code) =>
    expect(codeOf(() => requireStorable(STORABLE_SPEC, item))).toBe(code),
  )

  test.each(fits)('%s is accepted', (_, item) => expect(requireStorable(STORABLE_SPEC, item)).toBeGreaterThan(0))

  test('the size of the position does not count', () => {
    const bare = sizeOf({ PK: 'p', SK: 's', pad: '', _pos: Number.MAX_SAFE_INTEGER })
    const largest = { PK: 'p', SK: 's', pad: 'x'.repeat(MAX_ITEM_BYTES - bare) }
    for (const position of [{}, { _pos: 0 }, { _pos: Number.MAX_SAFE_INTEGER }]) {
      expect(requireStorable(STORABLE_SPEC, { ...largest, ...position })).toBe(MAX_ITEM_BYTES)
      expect(codeOf(() => requireStorable(STORABLE_SPEC, { ...largest, pad: `${largest.pad}x`, ...position }))).toBe(
        'item-too-large',
      )
    }
  })

  test('a removal is measured by its key', () => {
    expect(requireStorable(STORABLE_SPEC, { PK: 'p', SK: 's', _removed: true })).toBeLessThan(100)
    expect(
      codeOf(() => requireStorable(STORABLE_SPEC, { PK: 'p', SK: 's'.repeat(MAX_KEY_BYTES), _removed: true })),
    ).toBe('key-too-large')
  })

  test('an unstorable key is reported without a fault', () => {
    expect(isStorableKey({ PK: 'p', SK: 's' })).toBe(true)
    for (const key of [
      { PK: '', SK: 's' },
      { PK: 'p', SK: '' },
      { PK: 'p'.repeat(3_000), SK: 's' },
      { PK: 'p\u0000', SK: 's' },
    ])
      expect(isStorableKey(key)).toBe(false)
  })
})
