import { expect, test } from 'vitest'
import { startPolling } from '../../../../processors/engine/timing/polling.ts'
import { virtualClock } from '../virtual-clock.ts'

/** Polls once per minute. Each round waits until the test ends it. */
const opened = () => {
  const clock = virtualClock()
  const ends: (() => void)[] = []
  const polling = startPolling(
    { clock, pollMs: 60_000, failed: () => undefined },
    () => new Promise((resolve) => void ends.push(resolve)),
  )
  /** Lets the loop run without any time passing, and returns the number of rounds that have begun. */
  const begun = async () => {
    await clock.pass(0)
    return ends.length
  }
  return { clock, polling, begun, end: () => ends.at(-1)?.() }
}

test('a wake between two rounds starts a round at once', async () => {
  const { polling, begun, end } = opened()
  expect(await begun()).toBe(1)
  end()
  expect(await begun()).toBe(1)
  polling.wake()
  expect(await begun()).toBe(2)
})

test('wakes during a round start one more round when it ends, although no time passes', async () => {
  const { polling, begun, end, clock } = opened()
  expect(await begun()).toBe(1)
  polling.wake()
  polling.wake()
  expect(await begun()).toBe(1)
  end()
  expect(await begun()).toBe(2)
  end()
  expect(await begun()).toBe(2)
  await clock.pass(60_000)
  expect(await begun()).toBe(3)
})
