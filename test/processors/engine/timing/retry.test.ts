import { expect, test } from 'vitest'
import { after, doubling, every, retrying } from '../../../../processors/engine/timing/retry.ts'
import { virtualClock } from '../virtual-clock.ts'
import { Fault, isRetriable } from '../../../../schemas/fault.ts'

const away = () => new Fault('store-unavailable', 'Away.', { retriable: true })

/** An attempt that fails `times` times and then returns `done`. `at` contains the time of each attempt. */
const failing = (times: number, error: () => unknown = away) => {
  const clock = virtualClock(0)
  const at: number[] = []
  const attempt = async (): Promise<string> => {
    at.push(clock.now())
    if (at.length <= times) throw error()
    return 'done'
  }
  return { clock, at, attempt }
}

test('errors that `when` names are tried again with doubling pauses, and each is reported', async () => {
  const { clock, at, attempt } = failing(3)
  const failures: unknown[] = []
  const result = retrying(attempt, {
    clock,
    when: { error: isRetriable },
    pause: doubling(100, 200),
    failed: (error) => failures.push(error),
  })
  await clock.pass(1_000)
  expect(await result).toBe('done')
  expect(at).toEqual([0, 100, 300, 500])
  expect(failures).toHaveLength(3)
})

test('any other error is thrown at once', async () => {
  const { clock, at, attempt } = failing(1, () => new Error('broken'))
  await expect(retrying(attempt, { clock, when: { error: isRetriable } })).rejects.toThrow('broken')
  expect(at).toEqual([0])
})

test('after `until` the last error is thrown, or the last result returned', async () => {
  const { clock, at, attempt } = failing(100)
  const thrown = retrying(attempt, {
    clock,
    when: { error: isRetriable },
    until: after(clock, 250),
    pause: every(100),
  }).catch((error: unknown) => error)
  await clock.pass(1_000)
  expect(await thrown).toMatchObject({ code: 'store-unavailable' })
  expect(at).toEqual([0, 100, 200, 300])
  let looks = 0
  const found = retrying(async () => (looks += 1), {
    clock,
    when: { result: () => true },
    until: (retries) => retries >= 2,
    pause: every(10),
  })
  await clock.pass(1_000)
  expect(await found).toBe(3)
})

test('a signal ends the pause and the attempts', async () => {
  const { clock, at, attempt } = failing(100)
  const stopping = new AbortController()
  const thrown = retrying(attempt, {
    clock,
    when: { error: isRetriable },
    signal: stopping.signal,
    pause: every(1_000),
  }).catch((error: unknown) => error)
  await clock.pass(1_500)
  stopping.abort()
  expect(await thrown).toMatchObject({ code: 'store-unavailable' })
  expect(at).toEqual([0, 1_000])
})
