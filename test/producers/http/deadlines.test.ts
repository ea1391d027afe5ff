import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import { logOptions } from '../../../producers/http/logs.ts'
import type { Batch, Command } from '../../../producers/http/route.ts'
import type { Webhook } from '../../../producers/http/webhook.ts'
import type { Reader } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'

const KEY = { PK: 'USER#ann', SK: 'PROFILE' }
const used = (id: string, now: number): Event => ({
  type: 'PatUsed',
  meta: eventMeta({ eventId: id, user: 'ann', now, source: 'test', correlationId: null }),
  data: { patId: 'p1', date: '2026-11-16' },
  personal: null,
})

/** A route that reads the store before it appends, like the routes for batches of devices. */
const batch: Batch = {
  method: 'POST',
  url: '/v1/toys',
  operationId: 'reportToys',
  summary: 'Toys.',
  body: { type: 'object' },
  bodyLimit: 1_000,
  status: 202,
  result: { type: 'object', additionalProperties: true },
  collect: async ({ caller: { reader }, now }) => {
    await reader.get(KEY)
    return { events: [used('toys', now)], quarantined: [], answer: {} }
  },
}
/** A command that reads the store before it appends. */
const reading: Command = {
  method: 'PUT',
  url: '/v1/toys',
  operationId: 'changeToy',
  summary: 'Changes a toy.',
  body: { type: ['object', 'null'] },
  status: 200,
  result: { type: 'object' },
  decide: async ({ caller: { reader } }) => {
    await reader.get(KEY)
    return { draft: { type: 'MealDeleted', data: { mealId: 'no-such-meal' }, personal: null } }
  },
  answer: async () => ({}),
}
const webhook: Webhook = {
  url: '/webhooks/toy',
  operationId: 'receiveToyCall',
  summary: 'Calls of a toy.',
  source: 'toy',
  bodyLimit: 1_000,
  authenticate: () => {},
  eventsOf: async ({ reader, now }) => {
    await reader.get(KEY)
    return [used('toy', now)]
  },
}
/** A command that its fold refuses. The answer contains the current revision, which the edge reads from the store. */
const refusing: Command = {
  method: 'DELETE',
  url: '/v1/toys',
  operationId: 'removeToy',
  summary: 'Removes a toy.',
  body: { type: ['object', 'null'] },
  status: 200,
  result: { type: 'object' },
  decide: () => ({ draft: { type: 'MealDeleted', data: { mealId: 'no-such-meal' }, personal: null } }),
  answer: async () => ({}),
  refused: async ({ caller: { reader } }) => ({
    revision: ((await reader.get(KEY))?.['revision'] as number | undefined) ?? 7,
  }),
}

/** Time limits of the edge in milliseconds. A request without delays takes much less, also on a busy machine. */
const LIMITS = { readMs: 1_000, waitMs: 500 }

const open = async (lines: string[] = []) => {
  const edge = await openMealsEdge({
    edge: { ...mealsEdge, routes: [...mealsEdge.routes, batch, reading, refusing], webhooks: [webhook] },
    limits: LIMITS,
    logger: pino(logOptions('info'), { write: (line: string) => void lines.push(line) }),
  })
  const token = await edge.token('ann')
  const request = (sent: EdgeRequest) => send(edge.app, { token, ...sent })
  // The first request finds the token by the index. Later requests only read the token with `get`, which `readsBecome` can still answer.
  await request({ url: '/v1/targets' })
  const before = edge.events.length
  /** Waits for pending work, and returns the types of the events that were appended since `open`, without the events about the use of tokens. */
  const appended = async (): Promise<readonly string[]> => {
    for (let turns = 0; turns < 20; turns += 1) await new Promise((turn) => setImmediate(turn))
    return edge.events
      .slice(before)
      .filter(({ type, meta }) => type !== 'PatUsed' || meta.source !== 'edge')
      .map(({ type }) => type)
  }
  return { edge, request, appended }
}

/** Replaces all reads of the reader by `read`. If `admitted` is true, reads of the token still work, so that the caller is authenticated. */
const readsBecome = (reader: Reader, read: () => Promise<never>, admitted = false): void => {
  const { get } = reader
  Object.assign(reader, {
    get: (key: Parameters<typeof get>[0]) => (admitted && key.SK.startsWith('PAT#') ? get(key) : read()),
    getMany: read,
    query: read,
  })
}

/** A read that is pending until `answer` is called. */
const hanging = () => {
  let answer: (item?: undefined) => void = () => {}
  const pending = new Promise<undefined>((resolve) => (answer = resolve))
  return { read: () => pending as Promise<never>, answer: () => answer() }
}

const REQUESTS: readonly (readonly [string, EdgeRequest])[] = [
  ['question', { url: '/v1/meals?day=2026-11-16' }],
  ['command', { method: 'POST', url: '/v1/meals', body: BREAKFAST }],
  ['batch', { method: 'POST', url: '/v1/toys', body: {} }],
  ['webhook', { method: 'POST', url: '/webhooks/toy', body: {} }],
]

describe('while the store does not answer', () => {
  test.concurrent.each(REQUESTS)(
    'a %s is answered at its deadline with 503, and nothing is appended afterwards',
    async (_, sent) => {
      const { edge, request, appended } = await open()
      const { read, answer } = hanging()
      readsBecome(edge.reader, read)
      const answered = await request(sent)
      expect(answered).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
        body: { code: 'too-slow', request: expect.stringMatching(/./) },
      })
      answer()
      expect(await appended()).toEqual([])
    },
  )

  test.concurrent.each([
    ...REQUESTS.filter(([kind]) => kind === 'question' || kind === 'batch'),
    ['command', { method: 'PUT', url: '/v1/toys' }] as const,
  ])('a %s of an admitted caller is answered at its deadline, too', async (_, sent) => {
    const { edge, request, appended } = await open()
    const { read, answer } = hanging()
    readsBecome(edge.reader, read, true)
    expect(await request(sent)).toMatchObject({ status: 503, body: { code: 'too-slow' } })
    answer()
    expect(await appended()).toEqual([])
  })

  test.concurrent('a command that is in the log already is answered with 202 and its event', async () => {
    const { edge, request } = await open()
    // A new meal is appended without a read. Only its answer needs a read, so the event is in the log when the deadline passes.
    readsBecome(edge.reader, hanging().read, true)
    expect(await request({ method: 'POST', url: '/v1/meals', body: BREAKFAST })).toMatchObject({
      status: 202,
      body: { state: 'pending', event: expect.stringMatching(/^0:/) },
    })
  })

  test.concurrent('a refusal is answered without the fields that only the store has', async () => {
    const { edge, request } = await open()
    expect(await request({ method: 'DELETE', url: '/v1/toys' })).toMatchObject({
      status: 404,
      body: { code: 'meal-not-found', revision: 7 },
    })
    readsBecome(edge.reader, hanging().read, true)
    const { status, body } = await request({ method: 'DELETE', url: '/v1/toys' })
    expect([status, body['code'], body['revision']]).toEqual([404, 'meal-not-found', undefined])
  })
})

test.concurrent.each(REQUESTS.slice(1))(
  'a %s that the log does not answer is unknown at its deadline',
  async (kind, sent) => {
    const { edge, request } = await open()
    edge.hang('log')
    const answered = await request(sent)
    expect(answered).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'append-unknown' } })
    // Webhooks have no `tributary-event` header, because the calling service does not use it.
    if (kind !== 'webhook') expect(answered.headers['tributary-event']).toMatch(/^unknown:/)
  },
)

test.concurrent('a command whose outcome is not reported in time is answered with 202 and its event', async () => {
  const { edge, request } = await open()
  edge.hang('outcomes')
  expect(await request({ method: 'POST', url: '/v1/meals', body: BREAKFAST })).toMatchObject({
    status: 202,
    body: { state: 'pending' },
    headers: { 'tributary-event': expect.stringMatching(/^0:/) },
  })
})

test.concurrent(
  'no answer contains the error of a client library: it has the id under which the log has the error',
  async () => {
    const lines: string[] = []
    const { edge, request } = await open(lines)
    readsBecome(edge.reader, () =>
      Promise.reject(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8000'), { name: 'TimeoutError' })),
    )
    for (const [, sent] of REQUESTS) {
      const { status, body, text } = await request(sent)
      expect([status, body['code']]).toEqual([500, 'internal'])
      expect(text).not.toMatch(/ECONN|TimeoutError|127\.0\.0\.1/)
      const [line] = lines.filter((each) => each.includes(String(body['request'])))
      expect(JSON.parse(line ?? '{}')).toMatchObject({
        level: 'error',
        reqId: body['request'],
        err: { message: expect.stringContaining('ECONNREFUSED') },
      })
    }
  },
)
