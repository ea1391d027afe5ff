import { describe, expect, test } from 'vitest'
import { createCallBudget } from '../../../../processors/engine/asks/budget.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const MINUTE = 60_000
const at = (time: string) => Date.parse(`2026-11-19T${time}Z`)
const WINDOWS = [
  { name: '15m', ms: 15 * MINUTE, limit: 200 },
  { name: 'day', ms: 24 * 60 * MINUTE, limit: 2_000 },
]

/** An outside service that counts the calls in its windows, and the budgets of two processes that share a ledger. */
const createScene = (limits = [100, 1_000], calls = [0, 0]) => {
  const [store, clock] = [memoryStore(), virtualClock(at('10:07:00'))]
  const used = new Map<string, number>()
  const keyOf = (index: number) => `${index}#${Math.floor(clock.now() / (WINDOWS[index]?.ms ?? 0))}`
  for (const [index, count] of calls.entries()) used.set(keyOf(index), count)
  const budgetOf = (processName: string) =>
    createCallBudget({ store, clock, processName, name: 'service', windows: WINDOWS })
  type Budget = ReturnType<typeof budgetOf>
  /** Makes a call if the budget allows it. Resolves to the time to wait for, or to undefined after the call. */
  const call = async (budget: Budget, share?: Readonly<Record<string, number>>) => {
    const later = await budget.take(share)
    if (later !== undefined) return later
    for (const index of WINDOWS.keys()) used.set(keyOf(index), (used.get(keyOf(index)) ?? 0) + 1)
    await budget.report(
      WINDOWS.map(({ name }, index) => ({
        window: name,
        limit: limits[index] ?? 0,
        used: used.get(keyOf(index)) ?? 0,
      })),
    )
    return undefined
  }
  /** Makes calls until the budget allows none. Resolves to their number and to the time to wait for. */
  const callAll = async (budgets: readonly Budget[], share?: Readonly<Record<string, number>>) => {
    let count = 0
    for (;;) {
      const laters = []
      for (const budget of budgets) {
        const later = await call(budget, share)
        if (later === undefined) count += 1
        else laters.push(later)
      }
      if (laters.length === budgets.length) return { count, laters }
    }
  }
  return { store, clock, budgetOf, call, callAll, used: (index = 0) => used.get(keyOf(index)) ?? 0, limits }
}

test('limits 100 and 1,000 with 97 and 412 used at 10:07: two processes make 3 more calls, none until 10:15, then on', async () => {
  const { clock, budgetOf, call, callAll, used } = createScene([100, 1_000], [96, 411])
  const budgets = [budgetOf('a'), budgetOf('b')]
  // Both processes have reservations from before the first response.
  await budgets[1]?.take()
  expect(await call(budgets[0] as (typeof budgets)[0])).toBe(undefined)
  expect(used()).toBe(97)
  const { count, laters } = await callAll(budgets)
  expect([count, used()]).toEqual([3, 100])
  for (const later of laters) {
    expect(later).toBeGreaterThanOrEqual(at('10:15:00'))
    expect(later).toBeLessThan(at('10:15:30'))
  }
  expect(laters[0]).not.toBe(laters[1])
  await clock.pass(at('10:14:59.999') - clock.now())
  expect((await callAll(budgets)).count).toBe(0)
  await clock.pass(at('10:15:30') - clock.now())
  const next = await callAll(budgets)
  expect([next.count, used()]).toEqual([100, 100])
})

test('two processes that begin at the same time share each window, and the limit of a response is used in the next window', async () => {
  const { clock, budgetOf, callAll, used, limits } = createScene()
  const budgets = [budgetOf('a'), budgetOf('b')]
  expect((await callAll(budgets)).count).toBe(100)
  limits[0] = 150
  await clock.pass(at('10:16:00') - clock.now())
  await callAll(budgets)
  expect(used()).toBe(150)
})

test('a process writes once per five calls', async () => {
  const { store, budgetOf } = createScene()
  const budget = budgetOf('a')
  for (let count = 0; count < 5; count += 1) expect(await budget.take()).toBe(undefined)
  expect(store.commits).toHaveLength(2)
  await budget.take()
  expect(store.commits).toHaveLength(4)
})

test('a response that reports more use than is known makes the reservations of other processes void', async () => {
  const { budgetOf, clock } = createScene()
  const [one, two] = [budgetOf('a'), budgetOf('b')]
  await one.take()
  await two.take()
  await one.report([{ window: '15m', limit: 100, used: 100 }])
  expect(await two.take()).toBeGreaterThan(clock.now())
  expect(await one.take()).toBeGreaterThan(clock.now())
})

test('a kind of calls with a share uses only this part of each window; other kinds use the rest', async () => {
  const { clock, budgetOf, callAll } = createScene([100, 130])
  const budgets = [budgetOf('a'), budgetOf('b')]
  const share = { '15m': 0.5, day: 0.6 }
  // Without a response, the limits are those of the configuration. The first response reports the real ones.
  expect((await callAll(budgets)).count).toBe(100)
  await clock.pass(at('10:16:00') - clock.now())
  expect((await callAll(budgets, share)).count).toBe(0)
  expect((await callAll(budgets)).count).toBe(30)

  const fresh = createScene([100, 1_000])
  const others = [fresh.budgetOf('a'), fresh.budgetOf('b')]
  await fresh.call(others[0] as (typeof others)[0])
  const shared = await fresh.callAll(others, share)
  expect(shared.count).toBeGreaterThanOrEqual(44)
  expect(shared.count).toBeLessThanOrEqual(49)
  expect(await others[0]?.heldUntil(share)).toBeGreaterThan(fresh.clock.now())
  expect(await others[0]?.heldUntil()).toBe(undefined)
  await fresh.callAll(others)
  expect(fresh.used()).toBe(100)
})

describe('a pause', () => {
  test('stops the calls of all processes until its end, and a shorter pause does not end it', async () => {
    const { clock, budgetOf } = createScene()
    const [one, two] = [budgetOf('a'), budgetOf('b')]
    await one.pause(at('11:00:00'), 'the application is inactive')
    await one.pause(at('10:30:00'), 'again')
    expect(await two.take()).toBe(at('11:00:00'))
    expect(await two.heldUntil()).toBe(at('11:00:00'))
    await clock.pass(at('11:00:00') - clock.now())
    expect(await two.take()).toBe(undefined)
  })
})

test('a reservation of a process that died counts as used until the end of the window', async () => {
  const { budgetOf, callAll, used } = createScene([20, 1_000], [0, 0])
  await budgetOf('dead').take()
  await callAll([budgetOf('a')])
  expect(used()).toBe(15)
})
