import { describe, expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses.ts'
import { refusedEarly, refusedStatus } from '../../../producers/http/problem.ts'
import { mealsEdge } from '../../../producers/meals.ts'
import { scalesEdge } from '../../../producers/scales.ts'
import type { Refusals } from '../../../projections/refusal.ts'

const codesIn = (lists: readonly Refusals[]): readonly string[] => lists.flatMap((list) => Object.values(list).flat())

/** The status that every refusal had before codes had a kind: clients rely on it. */
const statusBefore = (code: string): number => (code.endsWith('-not-found') ? 404 : code.endsWith('-only') ? 403 : 409)

describe.each([mealsEdge, scalesEdge, expensesEdge])('the refusals of $name', ({ refusals }) => {
  test('have one kind each', () => expect(new Set(codesIn(refusals)).size).toBe(codesIn(refusals).length))

  test('keep their status', () => {
    for (const code of codesIn(refusals)) expect([code, refusedStatus(code, refusals)]).toEqual([code, statusBefore(code)])
  })
})

test('a code of the engine is a conflict', () => expect(refusedStatus('too-many-changes', [])).toBe(409))

test('a request that is refused before an event is appended has the status of the kind, and names the place', () => {
  const refused = refusedEarly({ missing: ['bill-not-found'], forbidden: ['payer-only'], conflict: ['bill-paid'], invalid: ['bill-invalid'] })
  const statusOf = (code: Parameters<typeof refused>[0]) => refused(code, 'No.').status
  expect([statusOf('bill-not-found'), statusOf('payer-only'), statusOf('bill-paid'), statusOf('bill-invalid')]).toEqual([404, 403, 409, 400])
  expect(refused('bill-invalid', '/sum: it is negative.', '/sum')).toMatchObject({ code: 'bill-invalid', message: '/sum: it is negative.', errors: [{ pointer: '/sum', code: 'bill-invalid' }] })
})
