import { expect, test } from 'vitest'
import { createStalls } from '../../../../processors/engine/run/stalls.ts'

const broken = new Error('broken')
const failing = () => Promise.reject(broken)

test('a partition is stalled from a failure until the next success', async () => {
  const stalls = createStalls()
  await expect(stalls.during(0, failing)).rejects.toBe(broken)
  expect(stalls.any()).toBe(broken)
  await stalls.during(0, () => Promise.resolve())
  expect(stalls.any()).toBeUndefined()
})

test('a batch that fails after its partition was revoked stalls nothing', async () => {
  const stalls = createStalls()
  let fail = (_: Error): void => undefined
  const batch = stalls.during(0, () => new Promise<void>((_, reject) => (fail = reject)))
  const failed = stalls.noting(0, () => undefined)
  stalls.revoked(0)
  failed(broken)
  fail(broken)
  await expect(batch).rejects.toBe(broken)
  expect(stalls.any()).toBeUndefined()
})
