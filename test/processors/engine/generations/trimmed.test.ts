import { expect, test } from 'vitest'
import type { Watermarks } from '../../../../processors/engine/ports/log.ts'
import { drawKeys } from '../../../../processors/engine/proof/sample.ts'
import { watchTrimming } from '../../../../processors/engine/generations/trimmed.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { virtualClock } from '../virtual-clock.ts'

const CHECK_MS = 5_000

const watched = (...lows: readonly number[]) => {
  const clock = virtualClock()
  const state = { lows, isDown: false }
  const reported: unknown[] = []
  const watermarks = async (): Promise<readonly Watermarks[]> => {
    if (state.isDown) throw new Fault('log-unavailable', 'Down.', { retriable: true })
    return state.lows.map((low, partition) => ({ partition, low, high: 50 }))
  }
  const watch = watchTrimming({
    log: { topic: 'ledger.events', watermarks },
    clock,
    checkMs: CHECK_MS,
    failed: (error) => void reported.push(error),
  })
  return { clock, state, reported, watch }
}

test('a log that is trimmed while it runs is reported at the next check, with partition and count, and once', async () => {
  const { clock, state, reported, watch } = watched(0, 0)
  await clock.pass(CHECK_MS * 3)
  expect(reported).toEqual([])
  state.lows = [0, 40]
  await clock.pass(CHECK_MS)
  expect(reported).toMatchObject([
    { code: 'log-trimmed', message: expect.stringContaining('the first 40 events of ledger.events partition 1') },
  ])
  state.lows = [3, 45]
  await clock.pass(CHECK_MS * 3)
  expect(reported).toHaveLength(1)
  await watch.stop()
})

test('a log that was trimmed before the start is reported at once', async () => {
  const { clock, reported, watch } = watched(1, 0)
  await clock.pass(0)
  expect(reported).toMatchObject([{ code: 'log-trimmed', message: expect.stringContaining('the first 1 event of') }])
  await watch.stop()
})

test('a log that does not answer is not reported as trimmed, and the check continues', async () => {
  const { clock, state, reported, watch } = watched(0, 0)
  state.isDown = true
  await clock.pass(CHECK_MS * 2)
  expect(reported).toEqual([])
  Object.assign(state, { isDown: false, lows: [0, 2] })
  await clock.pass(CHECK_MS)
  expect(reported).toMatchObject([{ code: 'log-trimmed' }])
  await watch.stop()
})

test('keys are drawn from offset 0, so that the draw fails on a trimmed log instead of returning the remaining keys', async () => {
  const read = async function* (_partition: number, from: number) {
    if (from < 4) throw new Fault('log-trimmed', 'Gone.')
    yield []
  }
  await expect(
    drawKeys({ watermarks: async () => [{ partition: 0, low: 4, high: 9 }], read }, 3, () => 1),
  ).rejects.toMatchObject({ code: 'log-trimmed' })
})
