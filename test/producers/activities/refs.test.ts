import { describe, expect, test } from 'vitest'
import { createRefs } from '../../../producers/activities/refs.ts'
import { memorySecrets } from './memory-secrets.ts'

describe('the name that stands for an id of Strava', () => {
  test('is the same in every process, and another one for another kind, id or program', async () => {
    const secrets = memorySecrets()
    const [first, second] = await Promise.all([createRefs(secrets)(), createRefs(secrets)()])
    const ref = first.of('activity', '12345678901234567')
    expect(ref).toMatch(/^[a-z2-7]{26}$/)
    expect(second.of('activity', '12345678901234567')).toBe(ref)
    const others = [
      first.of('athlete', '12345678901234567'),
      first.of('activity', '12345678901234568'),
      (await createRefs(memorySecrets())()).of('activity', '12345678901234567'),
    ]
    expect(new Set([ref, ...others]).size).toBe(4)
  })

  test('can be computed after a failure of the key store', async () => {
    const secrets = memorySecrets()
    const refs = createRefs(secrets)
    secrets.dieAt(1)
    await expect(refs()).rejects.toThrow('killed')
    expect((await refs()).of('athlete', '5')).toHaveLength(26)
  })
})
