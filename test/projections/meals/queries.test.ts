import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tokens, usages } from '../../../projections/access/keys.ts'
import { tokenByHash } from '../../../projections/access/queries.ts'
import { goalsBetween } from '../../../projections/meals/goals.ts'
import { targets } from '../../../projections/meals/keys.ts'
import { mealsQueries } from '../../../projections/meals/queries.ts'
import type { Query } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { aHistory } from '../../processors/meals/arbitrary.ts'
import { tableOf } from '../../processors/meals/given.ts'
import {
  at,
  BREAKFAST,
  corrected,
  deleted,
  ID,
  idOf,
  logged,
  MEAL,
  nutrientChanged,
  patIssued,
  patRevoked,
  reassigned,
  targetsChanged,
  usageSampled,
} from '../../processors/meals/events.ts'
import { readerOf } from '../reader.ts'

const after = (...events: readonly Event[]) => {
  const reader = readerOf(tableOf(events), at('2026-11-20T00:00:00.000Z'))
  return { reader, ...mealsQueries(reader) }
}
const mealAt = (time: string, uid = 'u1') => logged({ eatenAt: at(`${time}:00.000Z`), uid })
const all = { limit: 100 }
const sks = ({ items }: { items: readonly { SK: string }[] }) => items.map(({ SK }) => SK)

describe('meals', () => {
  test('M9: by a range of instants, in order, both ways, page by page', async () => {
    const queries = after(
      mealAt('2026-11-16T12:00'),
      mealAt('2026-11-16T08:00'),
      mealAt('2026-11-15T20:00'),
      mealAt('2026-11-17T08:00'),
      logged({ meta: { key: 'bob' } }),
    )
    const span = { from: at('2026-11-15T20:00:00.000Z'), to: at('2026-11-17T08:00:00.000Z') }
    const inOrder = [
      'MEAL#2026-11-15T20:00:00.000Z#u1',
      'MEAL#2026-11-16T08:00:00.000Z#u1',
      'MEAL#2026-11-16T12:00:00.000Z#u1',
    ]
    expect(sks(await queries.mealsBetween('ada', span, all))).toEqual(inOrder)
    expect(sks(await queries.mealsBetween('ada', span, { ...all, reverse: true }))).toEqual(inOrder.toReversed())
    const { cursor, ...first } = await queries.mealsBetween('ada', span, { limit: 2 })
    expect([
      ...sks(first),
      ...sks(await queries.mealsBetween('ada', span, { limit: 2, ...(cursor !== undefined && { cursor }) })),
    ]).toEqual(inOrder)
    expect(await queries.mealsBetween('ada', { from: span.to, to: span.from }, all)).toEqual({ items: [] })
  })

  test('by id, also after a move, and not after a deletion', async () => {
    const queries = after(
      logged(),
      mealAt('2026-11-16T09:00'),
      corrected({ eatenAt: BREAKFAST + 1000 }),
      deleted({ mealId: idOf(at('2026-11-16T09:00:00.000Z')) }),
    )
    expect(await queries.meal('ada', ID)).toMatchObject({ mealId: ID, SK: 'MEAL#2026-11-16T08:00:01.000Z#u1' })
    expect(await queries.mealState('ada', idOf(at('2026-11-16T09:00:00.000Z')))).toMatchObject({
      state: 'deleted',
      meal: { calories: 500 },
    })
    expect(await queries.meal('ada', idOf(at('2026-11-16T09:00:00.000Z')))).toBeUndefined()
    expect(await queries.mealState('ada', idOf(0))).toEqual({ state: 'unknown' })
    expect(await queries.mealState('ada', 'chili')).toEqual({ state: 'unknown' })
    expect(await queries.meal('bob', ID)).toBeUndefined()
  })

  test('M-k: the meals of a day are those with its label: in the window, or with a pointer', async () => {
    const late = logged({ eatenAt: at('2026-11-17T07:30:00.000Z'), tz: 'America/New_York', utcOffsetMinutes: -300 })
    const chosen = logged({
      uid: 'u2',
      eatenAt: at('2026-11-18T20:00:00.000Z'),
      userDate: '2026-11-16',
      dayOverridden: true,
    })
    const queries = after(logged(), late, chosen, mealAt('2026-11-17T08:00'), mealAt('2026-11-15T20:00'))
    expect(sks(await queries.mealsOfDay('ada', '2026-11-16', all))).toEqual([
      MEAL,
      'MEAL#2026-11-17T07:30:00.000Z#u1',
      'MEAL#2026-11-18T20:00:00.000Z#u2',
    ])
  })

  test('M-k: in any history, in pages of any size, the meals of a day are listed once and in order', () =>
    fc.assert(
      fc.asyncProperty(aHistory, fc.integer({ min: 1, max: 3 }), async (events, limit) => {
        const table = tableOf(events)
        const queries = mealsQueries(readerOf(table))
        for (const day of ['2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17']) {
          const expected = [...table.values()]
            .filter(({ PK, SK, userDate }) => PK === 'USER#ada' && SK.startsWith('MEAL#') && userDate === day)
            .map(({ SK }) => SK)
            .sort()
          const found: string[] = []
          let cursor: string | undefined
          do {
            const page = await queries.mealsOfDay('ada', day, { limit, ...(cursor !== undefined && { cursor }) })
            found.push(...sks(page))
            cursor = page.cursor
          } while (cursor !== undefined)
          expect(found).toEqual(expected)
        }
      }),
    ))

  test('M-k: more meals of one instant with a chosen day than a page contains are listed once and in order', async () => {
    const chosen = { userDate: '2026-11-14', dayOverridden: true }
    const uids = Array.from({ length: 130 }, (_, n) => `u${n}`)
    // Half of the meals were first logged at an earlier time and then moved to BREAKFAST. An id begins with the first time of its meal and does not
    // change, so the order of the ids differs from the order of the uids.
    const events = uids.flatMap((uid, n) => {
      const meal = logged({ uid, eatenAt: BREAKFAST - (n % 2) * 1000 * (n + 1), ...chosen })
      return [meal, corrected({ mealId: meal.data.mealId, eatenAt: BREAKFAST })]
    })
    expect(sks(await after(...events).mealsOfDay('ada', '2026-11-14', { limit: 1000 }))).toEqual(
      uids.map((uid) => `MEAL#2026-11-16T08:00:00.000Z#${uid}`).sort(),
    )
  })

  test('M-k: a cursor stays valid while meals before it are added and removed', async () => {
    const events = [mealAt('2026-11-16T08:00'), mealAt('2026-11-16T09:00'), mealAt('2026-11-16T10:00')]
    const { cursor = '' } = await after(...events).mealsOfDay('ada', '2026-11-16', { limit: 1 })
    const changed = after(...events, deleted(), mealAt('2026-11-16T07:00'))
    expect(sks(await changed.mealsOfDay('ada', '2026-11-16', { limit: 5, cursor }))).toEqual([
      'MEAL#2026-11-16T09:00:00.000Z#u1',
      'MEAL#2026-11-16T10:00:00.000Z#u1',
    ])
  })

  test('a cursor of another day and an invalid cursor are rejected', async () => {
    const queries = after(logged(), logged({ uid: 'u2' }))
    const { cursor = '' } = await queries.mealsOfDay('ada', '2026-11-16', { limit: 1 })
    await expect(queries.mealsOfDay('ada', '2026-11-15', { limit: 1, cursor })).rejects.toMatchObject({
      code: 'bad-cursor',
    })
    await expect(queries.mealsOfDay('ada', '2026-11-16', { limit: 1, cursor: 'x' })).rejects.toMatchObject({
      code: 'bad-cursor',
    })
  })

  test('M-k: a day without pointers is read by two queries', async () => {
    const reads: Query[] = []
    await mealsQueries(readerOf(tableOf([logged()]), 0, (query) => reads.push(query))).mealsOfDay(
      'ada',
      '2026-11-16',
      all,
    )
    expect(reads.map(({ from }) => from)).toEqual(['MEAL#2026-11-15T14:00:00.000Z', 'DAY#2026-11-16#'])
  })
})

describe('days', () => {
  const december = { occurredAt: at('2026-12-01T09:00:00.000Z') }
  const set = targetsChanged({ calories: 2_000_000, fat: 0, effectiveFromDate: '2026-11-15' })
  const changed = targetsChanged({ calories: 1_800_000, effectiveFromDate: '2026-12-01', meta: december })
  const year = { from: '2026-01-01', to: '2026-12-31' }

  test('M13: summaries over a range contain the goals of each day', async () => {
    const queries = after(
      set,
      mealAt('2026-11-14T12:00'),
      mealAt('2026-11-16T12:00'),
      changed,
      mealAt('2026-12-02T12:00'),
    )
    const { items } = await queries.summariesBetween('ada', year, all)
    expect(items.map(({ day, goals }) => [day, goals?.calories, goals?.version])).toEqual([
      ['2026-11-14', undefined, undefined],
      ['2026-11-16', 2000, 1],
      ['2026-12-02', 1800, 2],
    ])
    expect(items[1]?.summary).toMatchObject({ type: 'DaySummary', totalCalories: 500 })
    const { items: latest } = await queries.summariesBetween('ada', year, { limit: 1, reverse: true })
    expect(latest.map(({ day, goals }) => [day, goals?.calories])).toEqual([['2026-12-02', 1800]])
    expect(await queries.summariesBetween('ada', { from: '2026-12-31', to: '2026-01-01' }, all)).toEqual({ items: [] })
  })

  test('M26 M-h: a target of 0 is not a goal', async () => {
    const queries = after(
      set,
      nutrientChanged({ goal: 30_000, meta: december }),
      nutrientChanged({ name: 'salt', goal: 0, meta: december }),
    )
    const goals = await goalsBetween(queries.reader, 'ada', { from: '2026-11-14', to: '2026-12-02' })
    expect(goals('2026-11-20')).toEqual({ calories: 2000, extendedNutrients: {}, version: 1 })
    expect(goals('2026-12-02')).toEqual({ calories: 2000, extendedNutrients: { fiber: 30 }, version: 3 })
    expect(goals('2026-11-14')).toBeUndefined()
    expect(await targets.get(queries.reader, 'ada')).toMatchObject({ fat: 0 })
  })

  test('M14: days logged are the days with meals; a day whose meals were deleted is not one', async () => {
    const queries = after(
      mealAt('2026-11-14T12:00'),
      logged(),
      deleted(),
      mealAt('2026-11-17T12:00'),
      mealAt('2026-11-17T13:00'),
    )
    expect(await queries.daysLogged('ada', year, all)).toEqual({ items: ['2026-11-14', '2026-11-17'] })
    const { items, cursor = '' } = await queries.daysLogged('ada', year, { limit: 1 })
    expect(items).toEqual(['2026-11-14'])
    expect(await queries.daysLogged('ada', year, { limit: 1, cursor })).toEqual({ items: ['2026-11-17'] })
    expect(await queries.daysLogged('ada', year, { limit: 5, reverse: true })).toEqual({
      items: ['2026-11-17', '2026-11-14'],
    })
  })

  test('M29: a meal that was reassigned counts for its new day', async () =>
    expect(await after(logged(), reassigned({ to: '2026-11-12' })).daysLogged('ada', year, all)).toEqual({
      items: ['2026-11-12'],
    }))
})

describe('settings, tokens and usage', () => {
  test('M10: the targets of a user', async () => {
    const queries = after(targetsChanged({ protein: 1000 }))
    expect(await targets.get(queries.reader, 'ada')).toMatchObject({ protein: 1, version: 1 })
    expect(await targets.get(queries.reader, 'bob')).toBeUndefined()
  })

  test('M11: the user and the scopes of a token, by its hash', async () => {
    const queries = after(patIssued({ scopes: ['read'] }))
    const key = await tokenByHash(queries.reader, 'ab'.repeat(32))
    expect(key).toEqual({ PK: 'USER#ada', SK: 'PAT#p1' })
    expect(await queries.reader.get(key ?? { PK: '', SK: '' })).toMatchObject({ scopes: ['read'] })
    expect(await tokenByHash(queries.reader, 'cd'.repeat(32))).toBeUndefined()
  })

  test('M11: a revoked token is not found', async () => {
    const queries = after(patIssued(), patRevoked())
    expect(await tokenByHash(queries.reader, 'ab'.repeat(32))).toBeUndefined()
    expect(await tokens.get(queries.reader, 'ada', 'p1')).toBeUndefined()
  })

  test('M12: the tokens of a user, without revoked ones', async () => {
    const queries = after(
      patIssued(),
      patIssued({ patId: 'p2' }),
      patIssued({ patId: 'p3' }),
      patRevoked(),
      patIssued({ patId: 'p4', meta: { key: 'bob' } }),
    )
    expect(sks(await tokens.page(queries.reader, 'ada', all))).toEqual(['PAT#p2', 'PAT#p3'])
  })

  test('M15: the usage of a UTC day, until it expires', async () => {
    const table = tableOf([usageSampled({ reads: 2 })])
    expect(await usages.get(readerOf(table, at('2026-12-21T23:59:59.999Z')), 'ada', '2026-11-16')).toMatchObject({
      reads: 20,
      writes: 0,
    })
    expect(await usages.get(readerOf(table, at('2026-12-22T00:00:00.000Z')), 'ada', '2026-11-16')).toBeUndefined()
  })
})
