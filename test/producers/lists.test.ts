import { describe, expect, test, vi } from 'vitest'
import { expensesEdge } from '../../producers/expenses/edge.ts'
import type { Route } from '../../producers/http/route.ts'
import { mealsEdge } from '../../producers/meals/edge.ts'
import { scalesEdge } from '../../producers/scales/edge.ts'
import { DINNER, openGroupOfThree } from './expenses/group-of-three.ts'
import { as, type Person } from './person.ts'
import { BREAKFAST, openMealsEdge } from './meals/edge.ts'
import { NOON } from '../../testing/event.ts'
import type { MemoryEdge } from '../../testing/edge/edge.ts'
import type { AnswerBody } from '../../testing/edge/request.ts'
import { LOC, openRunningBar, read } from './scales/bar.ts'

const [MINUTE, DAY] = [60_000, 86_400_000]

const isList = ({ query }: Route): boolean => Object.hasOwn((query?.['properties'] ?? {}) as object, 'cursor')

interface Place {
  readonly edge: MemoryEdge
  readonly person: Pick<Person, 'getPath'>
  /** The values of the parameters in the paths. */
  readonly params: Readonly<Record<string, string>>
}

/** The query strings with which a list is requested, by route. Default: one request without a query string. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  '/v1/meals': ['day=2026-11-16', 'from=2026-11-01&to=2026-11-30', 'from=2026-11-01T00:00:00Z&to=2026-11-30T00:00:00Z'],
  '/v1/summaries': ['from=2026-11-01&to=2026-11-30'],
  '/v1/locations/:loc/pours': ['', 'from=2026-11-01T00:00:00Z'],
  '/v1/locations/:loc/devices': ['', 'low_battery=true', 'low_battery=50'],
  '/v1/beers': ['', 'search=guinness', 'search=guinness&loc=loc-001'],
  '/api/users/me/settlements': ['', 'direction=sent', 'direction=received'],
}

const openMeals = async (): Promise<Place> => {
  const edge = await openMealsEdge()
  const person = await as(edge, 'ada')
  await person.sendCommand('POST', '/v1/meals', BREAKFAST)
  return { edge, person, params: {} }
}

const openBar = async (): Promise<Place> => {
  const { edge, getPath } = await openRunningBar()
  return { edge, person: { getPath }, params: { loc: 'loc-001', device: 'SCALE-0042' } }
}

const openGroup = async (): Promise<Place> => {
  const { edge, ann, group, id } = await openGroupOfThree()
  const { body } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
  return { edge, person: ann, params: { groupId: id, expenseId: body.id } }
}

const DOMAINS = [
  { name: 'meals', routes: mealsEdge.routes, open: openMeals },
  { name: 'scales', routes: scalesEdge.routes, open: openBar },
  { name: 'expenses', routes: expensesEdge.routes, open: openGroup },
]

/** Sends a GET request, and returns all queries that it makes to the store. There must be at least one. */
const queriesOf = async ({ edge, person }: Place, url: string): Promise<unknown> => {
  const spy = vi.spyOn(edge.reader, 'query')
  const { status, text } = await person.getPath(url)
  const queries = spy.mock.calls.map(([query]) => query)
  spy.mockRestore()
  expect(status, `${url}: ${text}`).toBe(200)
  expect(queries, url).not.toEqual([])
  return queries
}

describe.each(DOMAINS)('every list of $name', ({ routes, open }) => {
  test.each(routes.filter(isList).map(({ url }) => url))(
    '%s reads by the same query at any later time, so that its cursors stay valid',
    async (url) => {
      const place = await open()
      const path = url.replace(/:(\w+)/g, (_, name: string) => place.params[name] ?? `no value for ${name}`)
      for (const form of FORMS[url] ?? ['']) {
        place.edge.clock.at = NOON + 1
        const first = await queriesOf(place, `${path}?${form}`)
        for (const later of [1, MINUTE, DAY, 40 * DAY, 400 * DAY]) {
          place.edge.clock.at = NOON + 1 + later
          expect(await queriesOf(place, `${path}?${form}`), `${form} ${later} ms later`).toEqual(first)
        }
      }
    },
  )
})

/** Reads a list with one item per page, runs `between` after each page, and returns all items. */
const walk = async (
  person: Pick<Person, 'getPath'>,
  url: string,
  between: (page: number) => Promise<unknown>,
): Promise<readonly AnswerBody[]> => {
  const found: AnswerBody[] = []
  let cursor: string | undefined
  do {
    const { status, body, text } = await person.getPath(
      `${url}${url.includes('?') ? '&' : '?'}limit=1${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    expect(status, text).toBe(200)
    found.push(...body.items)
    cursor = body.cursor
    await between(found.length)
  } while (cursor !== undefined)
  return found
}

describe('pages while data arrives', () => {
  /** Sends the readings of a pour of 3 lb from `at` on, until the pour counts as ended. Returns the new weight. */
  const pourAt = async (edge: MemoryEdge, at: number, weight: number): Promise<number> => {
    for (const [minute, lbs] of [
      [0, weight],
      [1, weight],
      [2, weight - 3],
      [3, weight - 3],
      [8, weight - 3],
      [9, weight - 3],
    ] as const) {
      edge.clock.at = at + minute * MINUTE
      await read(edge, { weight_lbs: lbs, at: edge.clock.at })
    }
    return weight - 3
  }

  test('pours without `to`: nothing is lost and nothing appears twice when the clock moves and pours arrive', async () => {
    const { edge, getPath } = await openRunningBar()
    let weight = 160
    for (let hour = 1; hour <= 3; hour += 1) weight = await pourAt(edge, NOON + hour * 60 * MINUTE, weight)
    const before = (await getPath(`${LOC}/pours`)).body.items
    expect(before).toHaveLength(3)
    const walked = await walk({ getPath }, `${LOC}/pours`, async (page) => {
      weight = await pourAt(edge, NOON + (3 + page) * 60 * MINUTE, weight)
    })
    expect(walked).toEqual(before)
    expect((await getPath(`${LOC}/pours`)).body.items).toHaveLength(6)
  })

  test('devices below the threshold of the location: a changed threshold applies from the next first page', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    for (const [device_id, battery_pct] of [
      ['SCALE-0042', 11],
      ['SCALE-0043', 12],
      ['SCALE-0044', 13],
    ] as const) {
      await sendCommand('POST', `${LOC}/devices`, { device_id })
      await read(edge, { device_id, battery_pct })
    }
    const url = `${LOC}/devices?low_battery=true`
    const walked = await walk({ getPath }, url, () => sendCommand('PATCH', `${LOC}/settings`, { low_battery_pct: 1 }))
    expect(walked.map(({ id }) => id)).toEqual(['SCALE-0042', 'SCALE-0043', 'SCALE-0044'])
    expect((await getPath(url)).body.items).toEqual([])
    for (const cursor of ['x', '20~', '20~x', 'x~x', '1~'])
      expect(await getPath(`${url}&cursor=${cursor}`)).toMatchObject({ status: 400, body: { code: 'bad-cursor' } })
  })
})
