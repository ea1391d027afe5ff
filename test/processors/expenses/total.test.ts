import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import { anyEventOf, expectFit, heardBy } from '../any-event.ts'
import { aHistory } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { HASH, metaOf, NOW } from './said.ts'

const keys = ['g1', 'g1', 'g1', `tx:${HASH}`, 'chat:-1', 'ann', '', '__proto__']
let turn = 0
/** Of keys in turn, so that every kind of event meets its own. */
const meta: typeof metaOf = (more) => metaOf({ key: keys[turn++ % keys.length] ?? 'g1', subjectId: turn % 3 === 0 ? null : 'ann', actorId: turn % 5 === 0 ? 'bob' : 'ann', ...more })

const anyEvent = anyEventOf(expenses, { strings: ['g1', 'ann', 'bob', 'constructor', 'e1', 's1', 'EUR', 'TON', '-1', HASH, 'p1'], longs: [NOW, NOW + 1], meta })

test('every event that expenses may say is folded', () => expect(heardBy(expenses).length).toBe(31))

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
