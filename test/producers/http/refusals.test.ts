import { describe, expect, test } from 'vitest'
import { refusedEarly, refusedStatus } from '../../../producers/http/problem.ts'
import type { Refusals } from '../../../projections/refusal.ts'
import { ourEdges } from '../our-edges.ts'

const codesIn = (lists: readonly Refusals[]): readonly string[] =>
  lists.flatMap(({ pointers: _pointers, ...kinds }) => Object.values(kinds).flat())

/** The status that a refusal must have by the form of its code. Clients rely on the status, so it must not change. */
const statusOf = (code: string): number => (code.endsWith('-not-found') ? 404 : code.endsWith('-only') ? 403 : 409)

describe.each(ourEdges())('the refusals of $name', ({ refusals, routes }) => {
  test('have one kind each', () => expect(new Set(codesIn(refusals)).size).toBe(codesIn(refusals).length))

  test('keep their status', () => {
    for (const code of codesIn(refusals)) expect([code, refusedStatus(code, refusals)]).toEqual([code, statusOf(code)])
  })

  test('name fields that a request has', () => {
    const fields = new Set(
      routes.flatMap((route) => ('body' in route ? Object.keys(route.body['properties'] ?? {}) : [])),
    )
    for (const [code, pointer] of refusals.flatMap(({ pointers = {} }) => Object.entries(pointers))) {
      expect(codesIn(refusals)).toContain(code)
      expect(
        [...fields].map((name) => `/${name}`),
        code,
      ).toContain(pointer)
    }
  })
})

test('a code of the engine is a conflict', () => expect(refusedStatus('too-many-changes', [])).toBe(409))

test('a request that is refused before an event is appended has the status of the kind, and names the place', () => {
  const refused = refusedEarly({
    missing: ['bill-not-found'],
    forbidden: ['payer-only'],
    conflict: ['bill-paid'],
    invalid: ['bill-invalid'],
  })
  const statusOf = (code: Parameters<typeof refused>[0]) => refused(code, 'No.').status
  expect([statusOf('bill-not-found'), statusOf('payer-only'), statusOf('bill-paid'), statusOf('bill-invalid')]).toEqual(
    [404, 403, 409, 400],
  )
  expect(refused('bill-invalid', '/sum: it is negative.', '/sum')).toMatchObject({
    code: 'bill-invalid',
    message: '/sum: it is negative.',
    errors: [{ pointer: '/sum', code: 'bill-invalid' }],
  })
})

test('a refusal that is about one field names it without being given the place', () => {
  const refused = refusedEarly({
    conflict: ['bill-paid'],
    invalid: ['sum-invalid'],
    pointers: { 'sum-invalid': '/sum' },
  })
  expect(refused('sum-invalid', 'It is negative.').errors).toEqual([
    { pointer: '/sum', code: 'sum-invalid', detail: 'It is negative.' },
  ])
  expect(refused('bill-paid', 'It is paid.').errors).toEqual([])
})
