import { expect, test } from 'vitest'
import { parkedFrom } from '../../../../processors/engine/poison/parked-entry.ts'

test('the message and the stack of an entry contain no personal data of the event', () => {
  const personal = { mealSummary: 'Soup of Ottilie', emoji: null, notes: '', list: ['hidden note'] }
  const error = new TypeError('cannot fold "Soup of Ottilie" (hidden note) of meal 7')
  const { code, reason, stack } = parkedFrom(
    { projection: 'meals', key: 'ann', position: { partition: 0, offset: 1 }, error, personal },
    1,
  )
  expect(code).toBe('fold-threw')
  expect(reason).toBe('cannot fold "[personal]" ([personal]) of meal 7')
  expect(stack).toContain('parked-entry.test.ts')
  expect(stack).not.toMatch(/Ottilie|hidden/)
})
