import { expect, test } from 'vitest'
import { createAbsence } from '../../../../processors/adapters/lmdb/absence.ts'

const meal = (index: number): string => `USER#user-${index % 1000}\u0000MEAL#2026-01-01T00:00:${String(index % 60).padStart(2, '0')}.000Z#${index}`

test('a key that was added is never said to be absent, and few others are missed', () => {
  const absence = createAbsence()
  expect(absence.lacks(meal(0))).toBe(true)
  for (let index = 0; index < 200_000; index++) absence.add(meal(index))
  let wrong = 0
  let missed = 0
  for (let index = 0; index < 200_000; index++) {
    if (absence.lacks(meal(index))) wrong++
    if (!absence.lacks(meal(1_000_000 + index))) missed++
  }
  expect(wrong).toBe(0)
  expect(missed).toBeLessThan(2_000)
})
