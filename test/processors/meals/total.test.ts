import fc from 'fast-check'
import { test } from 'vitest'
import { meals } from '../../../processors/meals/domain.ts'
import { anyEventOf, expectFit } from '../any-event.ts'
import { aHistory } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { BREAKFAST, ID, metaOf, NOW } from './said.ts'

const anyEvent = anyEventOf(meals, { strings: [ID, '2026-11-16', '2026-11-15', 'fiber', 'p1', 'i1'], longs: [BREAKFAST, NOW], meta: metaOf })

test('folding never throws, and never writes what is no number or no key, whatever the schemas allow', () =>
  fc.assert(
    fc.property(aHistory, fc.array(anyEvent, { minLength: 1, maxLength: 10, size: 'max' }), (history, wild) => {
      const table = tableOf(history)
      wild.forEach((event, position) => foldInto(table, event, history.length + position).items?.forEach(expectFit))
    }),
    { numRuns: 400 },
  ))
