import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLoopback, type Loopback } from './loopback.ts'
import { startReceiver } from './receiver.ts'

let strava: Loopback
beforeEach(async () => {
  strava = await startLoopback()
})
afterEach(() => strava.stop())

const list = async (id: string, query = 'per_page=200'): Promise<readonly Record<string, unknown>[]> => {
  const { access } = await strava.grant(id, 'read', 'activity:read', 'activity:read_all')
  const { text } = await strava.api(`/athlete/activities?${query}`, access)
  return JSON.parse(text) as readonly Record<string, unknown>[]
}

test('4,000 athletes with a million generated activities are created by one call, and each activity can be fetched', async () => {
  await strava.control('PUT', '/settings', { limits: { overall: [1e6, 1e6], read: [1e6, 1e6] } })
  const { body } = await strava.control('POST', '/athletes', { athletes: 4_000, generated: { seed: 3, count: 250 } })
  const ids = body['ids'] as readonly string[]
  expect(new Set(ids).size).toBe(4_000)
  for (const id of [ids[0], ids[3_999]]) {
    const { access } = await strava.grant(id ?? '')
    const { text } = await strava.api('/athlete/activities?per_page=200&page=2', access)
    const found = [...text.matchAll(/"id":(\d{17})/g)].map((match) => match[1])
    expect(found).toHaveLength(50)
    const one = await strava.api(`/activities/${found[0]}`, access)
    expect(one.text).toContain(`"athlete":{"id":${id},`)
  }
})

test('the seed decides the generated activities, and athletes with one seed differ', async () => {
  const generated = { seed: 3, count: 40, from: '2025-01-01T00:00:00Z', until: '2026-01-01T00:00:00Z' }
  const [first = '', second = ''] = (await strava.control('POST', '/athletes', { athletes: 2, generated })).body[
    'ids'
  ] as readonly string[]
  const other = await startLoopback()
  try {
    const same = await other.athlete({ generated })
    const { access } = await other.grant(same)
    const { text } = await other.api('/athlete/activities?per_page=200', access)
    expect(JSON.parse(text)).toEqual(await list(first))
  } finally {
    await other.stop()
  }
  const distances = async (id: string) => (await list(id)).map(({ distance }) => distance)
  expect(await distances(first)).not.toEqual(await distances(second))
  const starts = (await list(first)).map(({ start_date }) => String(start_date))
  expect(starts).toEqual(starts.toSorted().reverse())
  expect(starts.every((start) => start.startsWith('2025-'))).toBe(true)
})

test('generated activities can be private and have a hidden start', async () => {
  const id = await strava.athlete({ generated: { count: 100, onlyMeShare: 0.5, hiddenShare: 0.5 } })
  const all = await list(id)
  const hidden = all.filter(({ start_date }) => String(start_date).endsWith('T00:00:01Z'))
  const onlyMe = all.filter((activity) => activity['private'] === true)
  for (const some of [hidden, onlyMe]) {
    expect(some.length).toBeGreaterThan(20)
    expect(some.length).toBeLessThan(80)
  }
})

test('a generated activity can be changed, moved in time and deleted', async () => {
  const id = await strava.athlete({ generated: { count: 3 } })
  const { access } = await strava.grant(id)
  const ids = async () =>
    [...(await strava.api('/athlete/activities', access)).text.matchAll(/"id":(\d{17})/g)].map(
      (match) => match[1] ?? '',
    )
  const [newest = '', middle = '', oldest = ''] = await ids()
  await strava.control('PATCH', `/activities/${oldest}`, { name: 'Moved', start: '2026-05-01T09:00:00Z' })
  expect(await ids()).toEqual([oldest, newest, middle])
  await strava.control('DELETE', `/activities/${newest}`)
  expect(await ids()).toEqual([oldest, middle])
  expect((await strava.api(`/activities/${newest}`, access)).status).toBe(404)
  expect((await strava.api(`/activities/${oldest}`, access)).body['name']).toBe('Moved')
})

test('a load announces each generated activity of each linked athlete once', async () => {
  const receiver = await startReceiver()
  try {
    await strava.control('PUT', '/subscription', { callback_url: receiver.url })
    await strava.control('PUT', '/settings', { webhooks: { concurrency: 16 } })
    const generated = { count: 30 }
    for (const id of [await strava.athlete({ generated }), await strava.athlete({ generated })]) await strava.grant(id)
    await strava.athlete({ generated })
    await strava.control('POST', '/load', { perSecond: 100_000, count: 1_000 })
    await expect.poll(async () => (await strava.control('GET', '/load')).body).toEqual({ sent: 60, left: 0 })
    await strava.control('GET', '/webhooks/settled')
    expect(new Set(receiver.events()).size).toBe(60)
  } finally {
    await receiver.stop()
  }
})

test('a load can be stopped', async () => {
  await strava.grant(await strava.athlete({ generated: { count: 1_000 } }))
  await strava.control('POST', '/load', { perSecond: 0.001, count: 1_000 })
  expect((await strava.control('DELETE', '/load')).body).toEqual({ sent: 0, left: 0 })
})
