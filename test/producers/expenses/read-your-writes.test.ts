import { expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses/edge.ts'
import { BY_INDEX } from '../../../producers/http/add-route.ts'
import { tokenHash } from '../../../projections/access/keys.ts'
import type { Query } from '../../../projections/table.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import type { Person } from '../person.ts'
import { DINNER, openGroupOfThree } from './group-of-three.ts'

/** Creates a group of three people with an expense that Ann paid, and a settlement that Bob proposed. */
const openEvening = async () => {
  const setup = await openGroupOfThree()
  const { group, ann, bob } = setup
  const {
    body: { id: expenseId },
  } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
  const {
    body: { id: settlementId },
  } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: '12.34', currency: 'EUR' })
  const pathOf = (url: string): string =>
    url.replace(':groupId', setup.id).replace(':expenseId', expenseId).replace(':settlementId', settlementId)
  return { ...setup, pathOf }
}

type Evening = Awaited<ReturnType<typeof openEvening>>

interface Written {
  readonly by: 'ann' | 'bob'
  readonly method: EdgeRequest['method'] & string
  readonly url: string
  readonly body: object
  /** True if a derived event makes the change, and not the event of the request itself. */
  readonly isDerived: boolean
}

const REVISION: Written = {
  by: 'ann',
  method: 'PUT',
  url: '/api/groups/:groupId/expenses/:expenseId',
  body: { ...DINNER, amount: 90, revision: 1 },
  isDerived: false,
}
const RENAMING: Written = {
  by: 'ann',
  method: 'PATCH',
  url: '/api/groups/:groupId',
  body: { title: 'Flatmates' },
  isDerived: false,
}
const PROFILE: Written = {
  by: 'bob',
  method: 'PUT',
  url: '/api/groups/:groupId/profile',
  body: { name: 'Robert' },
  isDerived: true,
}
const CLAIM: Written = {
  by: 'ann',
  method: 'PUT',
  url: '/api/groups/:groupId/settlements/:settlementId',
  body: { status: 'completed', txHash: 'a1b2c3d4'.repeat(8) },
  isDerived: true,
}

/** The GET routes, each with a request that changes its answer, and the person who then reads the route. */
const ROUTES: Readonly<Record<string, { readonly write: Written; readonly read: 'ann' | 'bob' }>> = {
  '/api/groups': { write: RENAMING, read: 'bob' },
  '/api/groups/:groupId': { write: RENAMING, read: 'bob' },
  '/api/groups/:groupId/invitations': {
    write: { by: 'ann', method: 'POST', url: '/api/groups/:groupId/invitations', body: {}, isDerived: false },
    read: 'bob',
  },
  '/api/groups/:groupId/expenses': { write: REVISION, read: 'bob' },
  '/api/groups/:groupId/expenses/:expenseId': { write: REVISION, read: 'bob' },
  '/api/groups/:groupId/expenses/:expenseId/history': { write: REVISION, read: 'bob' },
  '/api/groups/:groupId/activity': { write: CLAIM, read: 'bob' },
  '/api/groups/:groupId/balances': { write: CLAIM, read: 'bob' },
  '/api/groups/:groupId/debts': { write: CLAIM, read: 'bob' },
  '/api/groups/:groupId/export': { write: CLAIM, read: 'bob' },
  '/api/groups/:groupId/settlements': { write: CLAIM, read: 'bob' },
  '/api/groups/:groupId/settlements/:settlementId': { write: CLAIM, read: 'bob' },
  '/api/users/me': { write: PROFILE, read: 'bob' },
  '/api/users/me/expenses': { write: REVISION, read: 'ann' },
  '/api/users/me/debts': { write: REVISION, read: 'bob' },
  '/api/users/me/settlements': { write: CLAIM, read: 'bob' },
  '/api/users/me/activity': { write: CLAIM, read: 'bob' },
  '/api/users/me/summary': { write: CLAIM, read: 'bob' },
}

const questions = expensesEdge.routes.filter(({ method }) => method === 'GET')

test('every GET route of expenses is in the table', () =>
  expect(Object.keys(ROUTES).sort()).toEqual(questions.map(({ url }) => url).sort()))

const personIn = (evening: Evening, name: 'ann' | 'bob'): Person => evening[name]

test.each(Object.entries(ROUTES))(
  'GET %s with Tributary-After never shows less than that event',
  async (url, { write: { by, method, url: written, body, isDerived }, read }) => {
    const evening = await openEvening()
    const { edge, pathOf } = evening
    const reader = personIn(evening, read)
    const before = await reader.getPath(pathOf(url))
    expect(before.status).toBe(200)
    // The clock advances, because a profile replaces an earlier one only if its time is later.
    edge.clock.at += 1000
    if (isDerived) edge.pauseSender()
    else edge.pause()
    const { status, headers } = await personIn(evening, by).sendCommand(method, pathOf(written), body, {
      prefer: 'respond-async',
    })
    expect(status).toBe(202)
    const after = { 'tributary-after': String(headers['tributary-event']) }
    expect(await reader.getPath(pathOf(url), after)).toMatchObject({ status: 503, body: { code: 'not-yet-visible' } })
    if (isDerived) edge.sendDerived()
    else edge.resume()
    const now = await reader.getPath(pathOf(url), after)
    expect(now.status).toBe(200)
    expect(now.text).not.toBe(before.text)
  },
)

test('OpenAPI names the routes that read an index, which DynamoDB can answer late', async () => {
  const evening = await openEvening()
  const { edge, pathOf, ann } = evening
  const queries: Query[] = []
  const { query } = edge.reader
  Object.assign(edge.reader, { query: (each: Query) => (queries.push(each), query(each)) })
  const {
    body: { paths },
  } = await send(edge.app, { url: '/openapi.json' })
  for (const { url, byIndex } of questions) {
    queries.splice(0)
    expect((await ann.getPath(pathOf(url))).status, url).toBe(200)
    // Excludes the query for the token, which every request makes.
    const indexes = queries.filter(({ index, pk }) => index !== undefined && !pk.startsWith(tokenHash('')))
    expect({ url, byIndex: byIndex === true }).toEqual({ url, byIndex: indexes.length > 0 })
    const described = (paths[url.replace(/:(\w+)/g, '{$1}')] as { get: { description?: string } }).get.description
    expect({ url, described }).toEqual({ url, described: byIndex === true ? BY_INDEX : undefined })
  }
})
