import { beforeEach, describe, expect, test } from 'vitest'
import { BIKE, openActivities, type ActivitiesEdge } from './open-edge.ts'

const RIDE = { modelId: 'bike', sport: 'RIDE', targetType: 'DISTANCE_METERS', totalTarget: 100_000 }

let edge: ActivitiesEdge
beforeEach(async () => {
  edge = await openActivities()
  expect((await edge.by('root', { method: 'POST', url: '/models', body: BIKE })).status).toBe(201)
})

const create = (body: object = RIDE, user = 'ada') => edge.by(user, { method: 'POST', url: '/milestones', body })
const of = (user: string, url: string, method: 'GET' | 'POST' | 'DELETE' = 'GET') => edge.by(user, { method, url })

describe('models', () => {
  test('A7 A8 are published with their parts by an administrator, listed and retired', async () => {
    expect((await of('ada', '/models')).body.items).toMatchObject([{ modelId: 'bike', name: 'Bike', partsTotal: 12 }])
    expect((await of('ada', '/models/bike')).body).toMatchObject({
      isActive: true,
      parts: BIKE.parts.map((part, at) => ({ partIndex: at + 1, ...part })),
    })
    expect((await of('root', '/models/bike', 'DELETE')).body).toMatchObject({ status: 'RETIRED', isActive: false })
    expect(await create()).toMatchObject({ status: 404, body: { code: 'model-not-found' } })
  })

  test('are refused without the scope admin, twice, and with a wrong number of parts', async () => {
    const publish = (user: string, body: object) => edge.by(user, { method: 'POST', url: '/models', body })
    expect(await publish('ada', { ...BIKE, modelId: 'b2' })).toMatchObject({
      status: 403,
      body: { code: 'scope-missing' },
    })
    expect((await of('ada', '/models/bike', 'DELETE')).status).toBe(403)
    expect(await publish('root', BIKE)).toMatchObject({ status: 409, body: { code: 'model-exists' } })
    expect(await publish('root', { ...BIKE, modelId: 'b3', partsTotal: 11 })).toMatchObject({
      status: 400,
      body: { code: 'parts-mismatch' },
    })
    expect(await of('root', '/models/none', 'DELETE')).toMatchObject({ status: 404, body: { code: 'model-not-found' } })
    expect((await of('ada', '/models/none')).status).toBe(404)
    expect((await of('ada', '/models/a%23b')).status).toBe(404)
  })
})

describe('milestones', () => {
  test('A5 are created with the thresholds of golden case 1', async () => {
    const made = await create()
    expect(made).toMatchObject({
      status: 201,
      body: {
        sport: 'RIDE',
        progressValue: 0,
        highWaterProgress: 0,
        percentComplete: 0,
        partsAwardedCount: 0,
        partsEarned: 0,
        status: 'ACTIVE',
        version: 1,
        thresholds: [8334, 16667, 25000, 33334, 41667, 50000, 58334, 66667, 75000, 83334, 91667, 100000],
        awards: [],
      },
    })
    expect((await of('ada', `/milestones/${made.body.id}`)).body).toEqual(made.body)
    expect((await of('ada', '/account')).body).toMatchObject({ userId: 'ada', status: 'ACTIVE' })
  })

  test('are listed in pages, and archived', async () => {
    const ids: string[] = []
    for (let at = 0; at < 3; at += 1) ids.push((await create()).body.id)
    const page = (await of('ada', '/milestones?limit=2')).body
    expect(page.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    const rest = (await of('ada', `/milestones?limit=2&cursor=${page.cursor ?? ''}`)).body
    expect(rest.items.map(({ id }) => id)).toEqual(ids.slice(2))
    expect(rest.cursor).toBeUndefined()
    expect((await of('ada', '/milestones?cursor=x')).body).toMatchObject({ code: 'bad-cursor' })
    expect((await of('ada', `/milestones/${ids[0]}`, 'DELETE')).body).toHaveProperty('archivedAtUtc')
    expect((await of('bob', '/milestones')).body.items).toEqual([])
  })

  test('A21 A-g are computed again from all activities, and never truncated', async () => {
    const { id } = (await create()).body
    expect(await of('ada', `/milestones/${id}/recompute`, 'POST')).toMatchObject({
      status: 200,
      body: { id, inspected: 0, truncated: false },
    })
  })

  test('of other people, and of nobody, are not found', async () => {
    const { id } = (await create()).body
    for (const [url, method] of [
      [`/milestones/${id}`, 'GET'],
      [`/milestones/${id}`, 'DELETE'],
      [`/milestones/${id}/recompute`, 'POST'],
      ['/milestones/a%23b', 'GET'],
    ] as const)
      expect(await of('bob', url, method)).toMatchObject({ status: 404, body: { code: 'milestone-not-found' } })
  })

  test.each([
    [{ totalTarget: 0 }, 400],
    [{ totalTarget: 1.5 }, 400],
    [{ totalTarget: '5' }, 400],
    [{ sport: 'HIKE' }, 400],
    [{ targetType: 'TIME' }, 400],
    [{ periodStartAtUtc: 'yesterday' }, 400],
    [{ extra: 1 }, 400],
    [{ modelId: 'none' }, 404],
  ])('are refused with %j', async (changes, status) =>
    expect((await create({ ...RIDE, ...changes })).status).toBe(status),
  )

  test('are at most 20 that are not archived', async () => {
    for (let at = 0; at < 20; at += 1) expect((await create()).status).toBe(201)
    expect(await create()).toMatchObject({ status: 409, body: { code: 'too-many-active-milestones' } })
  })
})
