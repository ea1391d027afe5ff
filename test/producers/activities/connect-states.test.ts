import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createConnectStates, type ConnectStates, type NewState } from '../../../producers/activities/connect-states.ts'
import { memorySecrets } from './memory-secrets.ts'

const NOW = Date.parse('2026-11-16T10:00:00Z')
let states: ConnectStates
let made: NewState

beforeEach(async () => {
  states = createConnectStates({ secrets: memorySecrets(), randomBytes, subjectOf: (user) => `${user}~activities` })
  made = await states.create('ada', NOW)
})

describe('a state', () => {
  test('is accepted once, from the browser that has its cookie', async () => {
    const results = await Promise.all([states.redeem('ada', made, NOW), states.redeem('ada', made, NOW)])
    expect(results.sort()).toEqual([false, true])
    expect(await states.redeem('ada', made, NOW)).toBe(false)
  })

  test('is accepted without a cookie from a client with a token', async () => {
    expect(await states.redeem('ada', { state: made.state, cookie: undefined }, NOW)).toBe(true)
  })

  test('is refused with another cookie, for another person, changed, empty, after 10 minutes, and after a new attempt', async () => {
    expect(await states.redeem('ada', { ...made, cookie: 'x' }, NOW)).toBe(false)
    expect(await states.redeem('ada', { ...made, cookie: '' }, NOW)).toBe(false)
    expect(await states.redeem('bob', made, NOW)).toBe(false)
    expect(await states.redeem('ada', { ...made, state: `${made.state}x` }, NOW)).toBe(false)
    expect(await states.redeem('ada', { state: '', cookie: '' }, NOW)).toBe(false)
    expect(await states.redeem('ada', made, NOW + 600_000)).toBe(false)
    const later = await states.create('ada', NOW)
    expect(await states.redeem('ada', made, NOW)).toBe(false)
    expect(await states.redeem('ada', later, NOW + 599_999)).toBe(true)
    expect(await states.redeem('ada', { state: '', cookie: '' }, NOW)).toBe(false)
  })
})
