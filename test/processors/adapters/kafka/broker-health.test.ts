import { expect, test } from 'vitest'
import { createBrokerHealth } from '../../../../processors/adapters/kafka/broker-health.ts'

function setup() {
  let now = 0
  const health = createBrokerHealth({ now: () => now, sleep: async () => {} }, 1_000)
  return {
    health,
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('the client does not connect to a broker that hangs until the pause is over', () => {
  const { health, pass } = setup()
  expect([health.canConnect('a'), health.canConnect('b')]).toEqual([true, true])
  health.reportHang('a')
  expect([health.canConnect('a'), health.canConnect('b')]).toEqual([false, true])
  pass(1_000)
  expect(health.canConnect('a')).toBe(true)
})

test('if every broker hangs, the client can connect to each of them', () => {
  const { health } = setup()
  health.canConnect('a')
  health.canConnect('b')
  health.reportHang('a')
  health.reportHang('b')
  expect([health.canConnect('a'), health.canConnect('b')]).toEqual([true, true])
})

test('the client can always connect to the only broker', () => {
  const { health } = setup()
  health.reportHang('a')
  expect(health.canConnect('a')).toBe(true)
})
