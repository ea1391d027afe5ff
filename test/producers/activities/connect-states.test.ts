import { beforeEach, describe, expect, test } from 'vitest'
import { createConnectStates, type ConnectStates, type NewState } from '../../../producers/activities/connect-states.ts'
import { NOON } from '../../../testing/event.ts'
import { memoryOutside } from '../../../testing/edge/outside.ts'

let now: number
let states: ConnectStates
let made: NewState

beforeEach(async () => {
  now = NOON
  states = createConnectStates(memoryOutside({ clock: { now: () => now, sleep: () => Promise.resolve() } }).sessions)
  made = await states.create('ada', now)
})

describe('a state', () => {
  test('is accepted once, from the browser that has its cookie', async () => {
    const results = await Promise.all([states.redeem('ada', made), states.redeem('ada', made)])
    expect(results.sort()).toEqual([false, true])
  })

  test('is accepted without a cookie from a client with a token of the person', async () => {
    expect(await states.redeem('ada', { state: made.state, cookie: undefined })).toBe(true)
  })

  test.each([
    ['with another cookie', 'ada', { cookie: 'x' }],
    ['with an empty cookie', 'ada', { cookie: '' }],
    ['by another person', 'bob', {}],
    ['if it was changed', 'ada', { state: 'x' }],
    ['if it is empty', 'ada', { state: '' }],
  ])('is refused %s', async (_, user, changes) => {
    expect(await states.redeem(user, { ...made, ...changes })).toBe(false)
  })

  test('ends after 10 minutes', async () => {
    now += 600_000
    expect(await states.redeem('ada', made)).toBe(false)
  })
})
