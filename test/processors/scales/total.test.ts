import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scales } from '../../../processors/scales/domain.ts'
import { anyEventOf, expectFit, heardBy } from '../any-event.ts'
import { aHistory } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { metaOf, MINUTE, NOW } from './said.ts'

const anyEvent = anyEventOf(scales, {
  strings: ['loc-001', 'loc-001-A', 'loc-001-k1', '01', 'b1', 'low_keg', 'silent_device', 'TAP#01', 'DEVICE#loc-001-A', 'guinness', 'half_barrel', 'p1'],
  longs: [NOW, NOW + MINUTE], doubles: [50, 95.25, -5, 161.5], meta: metaOf,
})

test('every event that scales may say is folded', () => expect(heardBy(scales).length).toBe(34))

test('folding never throws, and never writes what is no number or no key, whatever the schemas allow', () =>
  fc.assert(
    fc.property(aHistory, fc.array(anyEvent, { minLength: 1, maxLength: 10, size: 'max' }), (history, wild) => {
      const table = tableOf(history)
      wild.forEach((event, position) => {
        for (const { items = [] } of foldInto(table, event, history.length + position)) items.forEach(expectFit)
      })
    }),
    { numRuns: 200 },
  ))
