import { describe, expect, test } from 'vitest'
import { BREAKFAST, openMealsEdge } from './edge.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { as } from '../person.ts'
import { send } from '../../../testing/edge/request.ts'

/** Functions that send requests about meals with a token of one person. */
const withMeals = async (edge: MemoryEdge, user: string) => {
  const { getPath, sendCommand } = await as(edge, user)
  const log = async (meal: object = {}) =>
    String((await sendCommand('POST', '/v1/meals', { ...BREAKFAST, ...meal })).body.id)
  const summary = async (day: string) => (await getPath(`/v1/summaries?from=${day}&to=${day}`)).body.items[0] as unknown
  return { getPath, sendCommand, log, summary }
}

const open = async () => {
  const edge = await openMealsEdge()
  return { edge, ...(await withMeals(edge, 'ann')) }
}

const typesOf = ({ events }: MemoryEdge) => events.map(({ type }) => type).filter((type) => !type.startsWith('Pat'))

describe('logging a meal', () => {
  test('M2 a logged meal is answered as stored, with its event, and read back the same', async () => {
    const { getPath, sendCommand } = await open()
    const created = await sendCommand('POST', '/v1/meals', BREAKFAST)
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      eatenAt: '2026-11-16T07:30:00.000Z',
      tz: 'Europe/Berlin',
      userDate: '2026-11-16',
      dayOverridden: false,
      mealSummary: 'Oats with berries',
      emoji: '🥣',
      calories: 412.5,
      protein: 14.2,
      carbs: 61.125,
      fat: 9,
      extendedNutrients: {},
      formatVersion: 4,
      revision: 1,
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(created.headers['tributary-event']).toMatch(/^0:\d+:[0-9a-f-]{36}$/)
    expect(await getPath(`/v1/meals/${created.body.id}`)).toMatchObject({ status: 200, body: created.body })
  })

  test('M2 a quick meal has only calories; the other three amounts are 0', async () => {
    const { sendCommand } = await open()
    const quick = { mealSummary: 'Apple', calories: 52, eatenAt: '2026-11-16T10:00:00Z', tz: 'UTC' }
    expect(await sendCommand('POST', '/v1/meals', quick)).toMatchObject({
      status: 201,
      body: { calories: 52, protein: 0, carbs: 0, fat: 0 },
    })
  })

  test('M3 two meals of the same instant are not merged', async () => {
    const { log } = await open()
    expect(await log()).not.toBe(await log())
  })

  test('M7 the day summary contains exact sums', async () => {
    const { log, summary } = await open()
    await log({ calories: 0.1 })
    await log({ calories: 0.2 })
    expect(await summary('2026-11-16')).toMatchObject({
      type: 'DaySummary',
      totalCalories: 0.3,
      totalProtein: 28.4,
      mealCount: 2,
    })
  })

  test('M24 with a registry snapshot the edge filters by it and stores the dropped nutrients', async () => {
    const { edge, sendCommand } = await open()
    const registrySnapshot = { version: 3, nutrients: ['fiber'] }
    const { body } = await sendCommand('POST', '/v1/meals', {
      ...BREAKFAST,
      extendedNutrients: { fiber: 5.2, sodium: 0.3 },
      registrySnapshot,
    })
    expect(body).toMatchObject({ extendedNutrients: { fiber: 5.2 }, droppedNutrients: { sodium: 0.3 } })
    expect(edge.events.find(({ type }) => type === 'MealLogged')?.data).toMatchObject({
      extended: [{ name: 'fiber', amount: 5200 }],
      dropped: [{ name: 'sodium', amount: 300 }],
      registryVersion: 3,
    })
  })

  test('M-i an old snapshot applies as of its version, whatever the registry contains now', async () => {
    const { sendCommand } = await open()
    await sendCommand('PUT', '/v1/nutrients/sodium', { unit: 'mg' })
    const stale = { version: 0, nutrients: ['fiber'] }
    const { body } = await sendCommand('POST', '/v1/meals', {
      ...BREAKFAST,
      extendedNutrients: { fiber: 1, sodium: 2 },
      registrySnapshot: stale,
    })
    expect(body).toMatchObject({ extendedNutrients: { fiber: 1 }, droppedNutrients: { sodium: 2 } })
  })

  test('M23 without a snapshot the current registry filters', async () => {
    const { sendCommand } = await open()
    await sendCommand('PUT', '/v1/nutrients/fiber', { unit: 'g', goal: 30 })
    const { body } = await sendCommand('POST', '/v1/meals', {
      ...BREAKFAST,
      extendedNutrients: { fiber: 5.2, sodium: 0.3 },
    })
    expect(body).toMatchObject({ extendedNutrients: { fiber: 5.2 }, droppedNutrients: { sodium: 0.3 } })
  })
})

describe('the day of a meal', () => {
  test.each([
    [
      'M-c New York 2026-03-08 04:30, after the clocks went forward',
      '2026-03-08T04:30:00-04:00',
      'America/New_York',
      '2026-03-08',
    ],
    [
      'M-c New York 2026-11-01 03:30, after the clocks went back',
      '2026-11-01T03:30:00-05:00',
      'America/New_York',
      '2026-10-31',
    ],
    ['M28 03:59 belongs to the day before', '2026-11-16T03:59:59.999+01:00', 'Europe/Berlin', '2026-11-15'],
    ['M28 04:00 begins the day', '2026-11-16T04:00:00+01:00', 'Europe/Berlin', '2026-11-16'],
    [
      'M-b the zone counts, not the offset it was written with',
      '2026-11-16T00:30:00Z',
      'Pacific/Kiritimati',
      '2026-11-16',
    ],
  ])('%s', async (_rule, eatenAt, tz, userDate) => {
    const { sendCommand } = await open()
    expect((await sendCommand('POST', '/v1/meals', { ...BREAKFAST, eatenAt, tz })).body).toMatchObject({
      userDate,
      dayOverridden: false,
    })
  })

  test("M-b the user's own day applies if it differs by one day at most, and is marked", async () => {
    const { sendCommand } = await open()
    for (const userDate of ['2026-11-15', '2026-11-17']) {
      expect((await sendCommand('POST', '/v1/meals', { ...BREAKFAST, userDate })).body).toMatchObject({
        userDate,
        dayOverridden: true,
      })
    }
    expect((await sendCommand('POST', '/v1/meals', { ...BREAKFAST, userDate: '2026-11-16' })).body).toMatchObject({
      dayOverridden: false,
    })
  })

  test('M-b a day further away is rejected', async () => {
    const { sendCommand } = await open()
    for (const userDate of ['2026-11-14', '2026-11-18']) {
      expect(await sendCommand('POST', '/v1/meals', { ...BREAKFAST, userDate })).toMatchObject({
        status: 400,
        body: { code: 'user-date-out-of-range', field: '/userDate' },
      })
    }
  })

  test('M-k the meals of a day include those that a user moved there', async () => {
    const { getPath, log } = await open()
    const here = await log()
    const moved = await log({ userDate: '2026-11-15' })
    expect((await getPath('/v1/meals?day=2026-11-16')).body.items).toMatchObject([{ id: here }])
    expect((await getPath('/v1/meals?day=2026-11-15')).body.items).toMatchObject([{ id: moved }])
  })
})

describe('correcting a meal', () => {
  test('M-a numbers, texts and nutrients change in one event, and the sums change too', async () => {
    const { edge, sendCommand, log, summary } = await open()
    const id = await log()
    const { status, body } = await sendCommand('PATCH', `/v1/meals/${id}`, {
      calories: 500,
      mealSummary: 'Oats',
      emoji: '',
      notes: 'with milk',
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id, calories: 500, protein: 14.2, mealSummary: 'Oats', notes: 'with milk', revision: 2 },
    })
    expect(body).not.toHaveProperty('emoji')
    expect(await summary('2026-11-16')).toMatchObject({ totalCalories: 500, mealCount: 1 })
    expect(typesOf(edge)).toEqual(['MealLogged', 'MealCorrected'])
  })

  test('M-a a corrected time moves the meal and its day, and the meal keeps its id', async () => {
    const { getPath, sendCommand, log, summary } = await open()
    const id = await log()
    await sendCommand('PATCH', `/v1/meals/${id}`, { eatenAt: '2026-11-14T19:00:00+01:00' })
    expect((await getPath(`/v1/meals/${id}`)).body).toMatchObject({
      id,
      eatenAt: '2026-11-14T18:00:00.000Z',
      tz: 'Europe/Berlin',
      userDate: '2026-11-14',
      dayOverridden: false,
    })
    expect(await summary('2026-11-14')).toMatchObject({ mealCount: 1 })
    expect(await summary('2026-11-16')).toMatchObject({ mealCount: 0, totalCalories: 0 })
  })

  test('a corrected zone computes the day again', async () => {
    const { sendCommand, log } = await open()
    const id = await log({ eatenAt: '2026-11-16T02:00:00Z', tz: 'UTC' })
    expect((await sendCommand('PATCH', `/v1/meals/${id}`, { tz: 'Asia/Tokyo' })).body).toMatchObject({
      userDate: '2026-11-16',
      tz: 'Asia/Tokyo',
    })
  })

  test('a day the user chose stays while the time moves within the same day, and not beyond', async () => {
    const { sendCommand, log } = await open()
    const id = await log({ userDate: '2026-11-15' })
    expect(
      (await sendCommand('PATCH', `/v1/meals/${id}`, { eatenAt: '2026-11-16T09:00:00+01:00' })).body,
    ).toMatchObject({ userDate: '2026-11-15', dayOverridden: true })
    expect(
      (await sendCommand('PATCH', `/v1/meals/${id}`, { eatenAt: '2026-11-20T09:00:00+01:00' })).body,
    ).toMatchObject({ userDate: '2026-11-20', dayOverridden: false })
  })

  test('a change of the day only is a reassignment', async () => {
    const { edge, sendCommand, log } = await open()
    const id = await log()
    expect((await sendCommand('PATCH', `/v1/meals/${id}`, { userDate: '2026-11-15', revision: 1 })).body).toMatchObject(
      { userDate: '2026-11-15', revision: 2 },
    )
    expect(typesOf(edge)).toEqual(['MealLogged', 'MealDayReassigned'])
  })

  test('a correction of another revision is refused with the code of the rule', async () => {
    const { sendCommand, log } = await open()
    const id = await log()
    expect(await sendCommand('PATCH', `/v1/meals/${id}`, { calories: 1, revision: 7 })).toMatchObject({
      status: 409,
      body: { code: 'revision-conflict', status: 409, field: '/revision' },
    })
  })

  test('a body that changes nothing is refused', async () => {
    const { sendCommand, log } = await open()
    const id = await log()
    for (const body of [{}, { revision: 1 }, { reason: 'x' }]) {
      expect(await sendCommand('PATCH', `/v1/meals/${id}`, body)).toMatchObject({
        status: 400,
        body: { code: 'nothing-to-change' },
      })
    }
  })
})

describe('deleting and restoring a meal', () => {
  test('M17 a deleted meal is in no list and no sum, and a restore adds it again', async () => {
    const { getPath, sendCommand, log, summary } = await open()
    const id = await log()
    expect(await sendCommand('DELETE', `/v1/meals/${id}`)).toMatchObject({ status: 200, body: { id, deleted: true } })
    expect(await getPath(`/v1/meals/${id}`)).toMatchObject({ status: 404, body: { code: 'meal-deleted' } })
    expect((await getPath('/v1/meals?day=2026-11-16')).body.items).toEqual([])
    expect(await summary('2026-11-16')).toMatchObject({ mealCount: 0, totalCalories: 0 })
    expect(await sendCommand('POST', `/v1/meals/${id}/restore`)).toMatchObject({
      status: 200,
      body: { id, calories: 412.5 },
    })
    expect(await summary('2026-11-16')).toMatchObject({ mealCount: 1, totalCalories: 412.5 })
  })

  test('M-l a repeated deletion changes nothing', async () => {
    const { sendCommand, log } = await open()
    const id = await log()
    await sendCommand('DELETE', `/v1/meals/${id}`)
    expect(await sendCommand('DELETE', `/v1/meals/${id}`)).toMatchObject({ status: 200, body: { id, deleted: true } })
  })

  test('an existing meal cannot be restored, and a deleted meal cannot be corrected', async () => {
    const { sendCommand, log } = await open()
    const id = await log()
    expect(await sendCommand('POST', `/v1/meals/${id}/restore`)).toMatchObject({
      status: 409,
      body: { code: 'meal-not-deleted' },
    })
    await sendCommand('DELETE', `/v1/meals/${id}`)
    expect(await sendCommand('PATCH', `/v1/meals/${id}`, { calories: 1 })).toMatchObject({
      status: 409,
      body: { code: 'meal-deleted' },
    })
  })
})

describe('lists', () => {
  const collect = async (getPath: (url: string) => ReturnType<typeof send>, url: string) => {
    const ids: unknown[] = []
    let cursor: string | undefined
    do {
      const { body } = await getPath(cursor === undefined ? url : `${url}&cursor=${cursor}`)
      ids.push(...body.items.map((item) => item.id ?? item))
      cursor = body.cursor
    } while (cursor !== undefined)
    return ids
  }

  test('M9 meals between two instants come in order, page by page', async () => {
    const { getPath, log } = await open()
    const ids: string[] = []
    for (const hour of ['05', '06', '07', '08', '09']) ids.push(await log({ eatenAt: `2026-11-16T${hour}:00:00Z` }))
    const url = '/v1/meals?from=2026-11-16T06:00:00Z&to=2026-11-16T09:00:00Z'
    expect(await collect(getPath, `${url}&limit=2`)).toEqual(ids.slice(1, 4))
  })

  test('M9 meals of a span of days are those of its logical days, page by page', async () => {
    const { getPath, log } = await open()
    await log({ eatenAt: '2026-11-10T12:00:00Z' })
    const early = await log({ eatenAt: '2026-11-12T02:00:00+01:00' })
    const eleventh = await log({ eatenAt: '2026-11-11T12:00:00Z' })
    const chosen = await log({ eatenAt: '2026-11-14T12:00:00Z', userDate: '2026-11-13' })
    const more = [await log({ eatenAt: '2026-11-13T08:00:00Z' }), await log({ eatenAt: '2026-11-13T09:00:00Z' })]
    await log({ eatenAt: '2026-11-14T12:00:00Z' })
    for (const limit of [1, 2, 200]) {
      expect(await collect(getPath, `/v1/meals?from=2026-11-11&to=2026-11-13&limit=${limit}`)).toEqual([
        eleventh,
        early,
        ...more,
        chosen,
      ])
    }
  })

  test('M13 summaries contain the targets of their day', async () => {
    const { edge, getPath, sendCommand, log } = await open()
    await sendCommand('PATCH', '/v1/targets', { calories: 2000, protein: 0, effectiveFromDate: '2026-11-10' })
    edge.clock.at += 86_400_000
    await sendCommand('PATCH', '/v1/targets', { calories: 1800 })
    for (const day of ['09', '16', '17']) await log({ eatenAt: `2026-11-${day}T12:00:00Z` })
    const { body } = await getPath('/v1/summaries?from=2026-11-01&to=2026-11-30')
    expect(body.items).toMatchObject([
      { userDate: '2026-11-09' },
      { userDate: '2026-11-16', targets: { calories: 2000, version: 1 } },
      { userDate: '2026-11-17', targets: { calories: 1800, version: 2 } },
    ])
    expect(body.items[0]).not.toHaveProperty('targets')
    expect(body.items[1]?.['targets']).not.toHaveProperty('protein')
  })

  test('M14 a day without remaining meals is not a day logged', async () => {
    const { getPath, sendCommand, log } = await open()
    const id = await log()
    await log({ eatenAt: '2026-11-14T12:00:00Z' })
    await sendCommand('DELETE', `/v1/meals/${id}`)
    expect((await getPath('/v1/days-logged')).body).toEqual({ items: ['2026-11-14'] })
  })

  test('M14 days logged are listed page by page', async () => {
    const { getPath, log } = await open()
    for (const day of ['01', '02', '03']) await log({ eatenAt: `2026-11-${day}T12:00:00Z` })
    expect(await collect(getPath, '/v1/days-logged?limit=2')).toEqual(['2026-11-01', '2026-11-02', '2026-11-03'])
  })

  test('a list without entries is an empty list', async () => {
    const { getPath } = await open()
    for (const url of ['/v1/meals?day=2026-11-16', '/v1/summaries?from=2026-11-01&to=2026-11-02', '/v1/days-logged']) {
      expect(await getPath(url)).toMatchObject({ status: 200, body: { items: [] } })
    }
  })

  test('an invalid cursor and one of another list are rejected', async () => {
    const { getPath, log } = await open()
    await log()
    await log()
    const { body } = await getPath('/v1/meals?day=2026-11-16&limit=1')
    for (const url of [
      `/v1/meals?day=2026-11-15&cursor=${body.cursor}`,
      '/v1/meals?day=2026-11-16&cursor=x',
      '/v1/meals?from=2026-11-01&to=2026-11-02&cursor=zzz',
      '/v1/tokens?cursor=!!',
    ]) {
      expect(await getPath(url)).toMatchObject({ status: 400, body: { code: 'bad-cursor' } })
    }
  })
})

describe('targets', () => {
  test('M10 before the first change there is version 0', async () => {
    const { getPath } = await open()
    expect((await getPath('/v1/targets')).body).toEqual({ displayUnit: 'kcal', nutrientRegistry: {}, version: 0 })
  })

  test('M25 M26 M27 a request changes the fields that it contains, 0 disables a target, null is ignored', async () => {
    const { sendCommand } = await open()
    await sendCommand('PATCH', '/v1/targets', { calories: 2000, protein: 120, fat: 70 })
    expect((await sendCommand('PATCH', '/v1/targets', { calories: null, protein: 90.5, fat: 0 })).body).toMatchObject({
      calories: 2000,
      protein: 90.5,
      fat: 0,
      version: 2,
    })
  })

  test('M4 a change against another version is refused', async () => {
    const { sendCommand } = await open()
    await sendCommand('PATCH', '/v1/targets', { calories: 2000, version: 0 })
    expect(await sendCommand('PATCH', '/v1/targets', { calories: 1, version: 0 })).toMatchObject({
      status: 409,
      body: { code: 'targets-version-conflict' },
    })
  })

  test('M4 the display unit is stored, and changes no number', async () => {
    const { sendCommand } = await open()
    await sendCommand('PATCH', '/v1/targets', { calories: 2000 })
    expect((await sendCommand('PATCH', '/v1/targets', { displayUnit: 'kj' })).body).toMatchObject({
      displayUnit: 'kj',
      calories: 2000,
    })
  })

  test('M23 nutrients are defined, changed and removed', async () => {
    const { getPath, sendCommand } = await open()
    expect((await sendCommand('PUT', '/v1/nutrients/fiber', { unit: 'g', goal: 30 })).body).toEqual({
      name: 'fiber',
      unit: 'g',
      goal: 30,
      version: 1,
    })
    expect((await sendCommand('PUT', '/v1/nutrients/fiber', { goal: 25.5 })).body).toEqual({
      name: 'fiber',
      unit: 'g',
      goal: 25.5,
      version: 2,
    })
    expect((await getPath('/v1/targets')).body).toMatchObject({
      nutrientRegistry: { fiber: { unit: 'g', goal: 25.5 } },
    })
    expect((await sendCommand('DELETE', '/v1/nutrients/fiber')).body).toEqual({
      name: 'fiber',
      removed: true,
      version: 3,
    })
    expect(await sendCommand('DELETE', '/v1/nutrients/fiber')).toMatchObject({
      status: 404,
      body: { code: 'nutrient-not-found' },
    })
  })
})

describe('tokens', () => {
  test('M12 a secret is shown once; no later answer contains it or its hash', async () => {
    const { edge, getPath, sendCommand } = await open()
    const { status, body } = await sendCommand('POST', '/v1/tokens', { name: 'phone', scopes: ['read'] })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { name: 'phone', scopes: ['read'], createdAt: '2026-11-16T12:00:00.000Z' },
    })
    expect(body.token).toMatch(/^trib_meals_/)
    const list = await getPath('/v1/tokens')
    expect(list.body.items).toContainEqual({
      id: body.id,
      name: 'phone',
      scopes: ['read'],
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(list.text).not.toMatch(/hash|PATHASH|trib_/i)
    expect(await send(edge.app, { url: '/v1/targets', token: body.token })).toMatchObject({ status: 200 })
  })

  test('a token cannot grant a scope that it does not have', async () => {
    const { edge } = await open()
    const writer = await edge.token('ann', ['write'])
    const answer = await send(edge.app, {
      method: 'POST',
      url: '/v1/tokens',
      token: writer,
      body: { name: 'x', scopes: ['read', 'write'] },
    })
    expect(answer).toMatchObject({ status: 403, body: { code: 'scope-missing' } })
  })

  test('a token that does not exist cannot be revoked', async () => {
    const { sendCommand } = await open()
    for (const id of ['nobody', '..%2f', 'a%23b'])
      expect(await sendCommand('DELETE', `/v1/tokens/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'token-not-found' },
      })
  })
})
