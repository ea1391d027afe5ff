import { expect, test } from 'vitest'
import { createPeers } from '../../../../processors/adapters/kafka/peers.ts'

function setup() {
  let now = 0
  const peers = createPeers({ now: () => now, sleep: async () => {} }, 1_000)
  return { peers, pass: (ms: number) => { now += ms } }
}

test('a broker that hangs is not asked for a while, and then again', () => {
  const { peers, pass } = setup()
  expect([peers.worthAsking('a'), peers.worthAsking('b')]).toEqual([true, true])
  peers.hung('a')
  expect([peers.worthAsking('a'), peers.worthAsking('b')]).toEqual([false, true])
  pass(1_000)
  expect(peers.worthAsking('a')).toBe(true)
})

test('when every broker hangs, each is asked: there is no better one', () => {
  const { peers } = setup()
  peers.worthAsking('a')
  peers.worthAsking('b')
  peers.hung('a')
  peers.hung('b')
  expect([peers.worthAsking('a'), peers.worthAsking('b')]).toEqual([true, true])
})

test('the only broker is always asked', () => {
  const { peers } = setup()
  peers.hung('a')
  expect(peers.worthAsking('a')).toBe(true)
})
