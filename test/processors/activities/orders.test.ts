import { describe, expect, test } from 'vitest'
import type { MilestoneItem } from '../../../projections/activities/items.ts'
import type { Item } from '../../../projections/item.ts'
import type { Event } from '../../../schemas/event.ts'
import type { Table } from '../../../testing/folds.ts'
import { checked, claimed, created, deauthorised, fetched, idOf, MORNING, START_S, webhook } from './events.ts'
import { contents, foldInto } from './given.ts'
import { createWorld, type World } from './world.ts'

/** Every order of the members. Equal orders occur once. */
const ordersOf = <T>(members: readonly T[]): readonly (readonly T[])[] =>
  members.length === 0
    ? [[]]
    : [...new Set(members)].flatMap((first) => {
        const rest = [...members]
        rest.splice(rest.indexOf(first), 1)
        return ordersOf(rest).map((order) => [first, ...order])
      })

/** Every multiset with each member once or twice. */
const repetitionsOf = <T>(members: readonly T[]): readonly (readonly T[])[] =>
  members.reduce<readonly (readonly T[])[]>(
    (sets, member) =>
      sets.flatMap((set) => [
        [...set, member],
        [...set, member, member],
      ]),
    [[]],
  )

const STUB = { activityId: idOf('r1'), isDeleted: true }
const HOUR = MORNING + 3_600_000

const startWorld = (): World => {
  const world = createWorld((ask) => (ask.kind === 'check' ? [checked({ at: ask.at })] : []))
  world.append(claimed(), created())
  return world
}

type Items = Readonly<Record<string, Item>>
const milestone = (items: Items): MilestoneItem => items['MILESTONE#m1'] as MilestoneItem
const workout = (items: Items): Item | undefined => items[`WORKOUT#STRAVA#${idOf('r1')}`]
const ledger = (items: Items) =>
  Object.keys(items)
    .filter((name) => name.startsWith('LEDGER'))
    .sort()
/** The items of the activity. The webhooks for people and the milestone also depend on the order. */
const ofActivity = (items: Items) =>
  Object.entries(items).filter(([name]) => /^(WORKOUT|SYNC|LEDGER|STRAVA#CONNECTION)/.test(name))

const create = webhook({ aspect: 'create', time: 100 })
const update = webhook({ aspect: 'update', time: 200, hash: 'first' })
const secondUpdate = webhook({ aspect: 'update', time: 250, hash: 'second' })
const remove = webhook({ aspect: 'delete', time: 300 })
const body = fetched({ asked: 200, distanceDm: 100_000 })
const gone = deauthorised({ time: 500 })

/** Folds every order and repetition of the events after the same beginning. Returns the number of orders. */
const runAll = (members: readonly Event[], check: (items: Items, order: readonly Event[]) => void): number => {
  const { table, log } = startWorld()
  const orders = repetitionsOf(members).flatMap(ordersOf)
  for (const order of orders) {
    const copy: Table = new Map(table)
    for (const [index, event] of order.entries()) foldInto(copy, event, log.length + index)
    check(contents(copy), order)
  }
  return orders.length
}

describe('every order and repetition of webhooks and answers', () => {
  test('golden case 7, A-k A19: a deleted activity is a stub, and only the high water shows a body from before', () => {
    const states = new Set<string>()
    const orders = runAll([create, update, remove, body], (items, order) => {
      expect(workout(items)).toMatchObject(STUB)
      expect(ledger(items)).toEqual([])
      const high = order.indexOf(body) < order.indexOf(remove) ? 10_000 : 0
      expect(milestone(items)).toMatchObject({ progressValue: 0, highWaterProgress: high })
      states.add(JSON.stringify(ofActivity(items)))
    })
    expect(orders).toBeGreaterThan(1_000)
    expect(states.size).toBe(1)
  })

  test('golden case 7: an activity that is created again is fetched again', () => {
    const world = startWorld()
    world.append(create, update, remove, body, webhook({ aspect: 'create', time: 400 }))
    const [ask] = [...world.asks.values()].filter(({ name }) => name === 'fetch:r1')
    expect(ask).toMatchObject({
      at: MORNING + 402_000,
      body: { ref: 'r1', epoch: 1, asked: START_S + 400, attempt: 1 },
    })
    world.append(fetched({ asked: 400, distanceDm: 100_000 }))
    expect(workout(world.items())).toMatchObject({ isDeleted: false, distanceMeters: 10_000, eventTime: START_S + 400 })
    expect(milestone(world.items())).toMatchObject({ progressValue: 10_000 })
  })

  test('A-k without a delete there is one activity, with the body of the newest request', () => {
    const older = fetched({ asked: 100, distanceDm: 50_000 })
    const states = new Set<string>()
    runAll([create, update, older, body], (items) => {
      expect(workout(items)).toMatchObject({ distanceMeters: 10_000 })
      expect(ledger(items)).toEqual(['LEDGER', 'LEDGER#2026-05'])
      expect(milestone(items)).toMatchObject({ progressValue: 10_000 })
      states.add(JSON.stringify(ofActivity(items)))
    })
    expect(states.size).toBe(1)
  })

  test('A-l a revocation anywhere erases everything, and later events change nothing', () => {
    const states = new Set<string>()
    for (const order of ordersOf([create, update, secondUpdate, remove, gone, body])) {
      const world = startWorld()
      const at = order.indexOf(gone)
      world.append(...order.slice(0, at + 1))
      world.runUntil(HOUR)
      world.append(...order.slice(at + 1))
      world.runUntil(HOUR * 2)
      expect(ofActivity(world.items()).map(([name]) => name)).toEqual(['STRAVA#CONNECTION'])
      expect(milestone(world.items())).toMatchObject({ progressValue: 0, highWaterProgress: 0 })
      world.expectRebuilt()
      states.add(JSON.stringify(ofActivity(world.items())))
    }
    expect(states.size).toBe(1)
  })

  test('A-l while a revocation is checked, every order of the other events gives the same end', () => {
    for (const order of ordersOf([create, gone, remove, body])) {
      const world = startWorld()
      world.append(...order, gone)
      world.runUntil(HOUR)
      expect(ofActivity(world.items()).map(([name]) => name)).toEqual(['STRAVA#CONNECTION'])
      expect(world.calls.filter((name) => name === 'check')).toHaveLength(1)
      world.expectRebuilt()
    }
  })

  test('A-k delete only, delete and create at the same time, and delete before create', () => {
    const alone = startWorld()
    alone.append(remove)
    expect(workout(alone.items())).toMatchObject(STUB)
    expect([...alone.asks.keys()]).not.toContain('ada fetch:r1')
    const tie = startWorld()
    tie.append(remove, webhook({ aspect: 'create', time: 300 }), fetched({ asked: 300 }))
    expect(workout(tie.items())).toMatchObject(STUB)
    const shown = startWorld()
    shown.append(remove, webhook({ aspect: 'create', time: 400 }), fetched({ asked: 400 }))
    expect(workout(shown.items())).toMatchObject({ isDeleted: false })
  })

  test('a revocation from before the link is ignored', () => {
    const world = startWorld()
    world.append(deauthorised({ time: -10 }))
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'CONNECTED' })
    expect([...world.asks.keys()]).not.toContain('ada check')
  })

  test('a revocation that the token refutes is ignored, also if it is repeated', () => {
    const world = createWorld((ask) =>
      ask.kind === 'check' ? [checked({ at: ask.at, data: { verdict: 'valid' } })] : [],
    )
    world.append(claimed(), create, body, gone)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKING' })
    world.runUntil(HOUR)
    world.append(gone)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'CONNECTED' })
    expect(workout(world.items())).toMatchObject({ isDeleted: false })
    expect(world.calls.filter((name) => name === 'check')).toHaveLength(1)
  })

  test('a revocation without an answer counts as true after two days', () => {
    const world = createWorld()
    world.append(claimed(), create, body, gone)
    world.runUntil(MORNING + 47 * 3_600_000)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKING' })
    world.runUntil(MORNING + 50 * 3_600_000)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKED' })
    world.expectRebuilt()
  })

  test('a time that is more than an hour ahead is replaced by the time of receipt', () => {
    const world = startWorld()
    world.append(webhook({ time: 10_000_000, at: MORNING + 60_000 }))
    expect(world.items()['SYNC#r1']).toMatchObject({ received: START_S + 60 })
  })
})
