import { describe, expect, test } from 'vitest'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import { Problem } from '../../../producers/http/problem.ts'
import type { Webhook } from '../../../producers/http/webhook.ts'
import { derivedId } from '../../../producers/ids.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { Fault } from '../../../schemas/fault.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import { openMealsEdge } from '../meals/edge.ts'

/** A webhook for a service that reports the days on which a person used a token. */
const webhook: Webhook = {
  url: '/webhooks/toy/:secret',
  operationId: 'receiveTestCall',
  summary: 'Calls of a toy.',
  source: 'toy',
  bodyLimit: 1000,
  authenticate: ({ params }) => {
    if ((params as { secret: string }).secret !== 'right') throw new Problem(401, 'webhook-refused', 'No.')
  },
  eventsOf: ({ body, now, correlationId }) => {
    const { days = [] } = body as { days?: readonly string[] }
    return Promise.resolve(
      days.map((date) => ({
        type: 'PatUsed',
        meta: eventMeta({ eventId: derivedId('toy', date), user: 'ann', now, source: 'toy', correlationId }),
        data: { patId: 'p1', date },
        personal: null,
      })),
    )
  },
}

const open = async () => {
  const reported: unknown[] = []
  const edge = await openMealsEdge({
    edge: { ...mealsEdge, webhooks: [webhook] },
    report: {
      appended: (event) => reported.push(event),
      webhookCalled: (...what) => reported.push(what),
      quarantined: () => undefined,
      answered: () => undefined,
    },
  })
  return {
    ...edge,
    reported,
    call: (sent: Partial<EdgeRequest>) => send(edge.app, { method: 'POST', url: '/webhooks/toy/right', ...sent }),
  }
}

describe('a check of the URL of a webhook', () => {
  const challenged: Webhook = {
    ...webhook,
    challenge: ({ query }) => {
      const { token, echo } = query as { readonly token?: string; readonly echo?: string }
      if (token !== 'right') throw new Problem(403, 'webhook-refused', 'The token is wrong.')
      return { echo }
    },
  }
  const open = () => openMealsEdge({ edge: { ...mealsEdge, webhooks: [challenged] } })

  test('is answered by the webhook, without a token', async () => {
    const { app } = await open()
    const answer = await send(app, { url: '/webhooks/toy/right?token=right&echo=4711' })
    expect(answer).toMatchObject({ status: 200, body: { echo: '4711' } })
  })

  test('is refused for a wrong path and for a wrong query', async () => {
    const { app } = await open()
    expect(await send(app, { url: '/webhooks/toy/wrong?token=right' })).toMatchObject({ status: 401 })
    expect(await send(app, { url: '/webhooks/toy/right?token=wrong' })).toMatchObject({ status: 403 })
  })

  test('does not change the POST of the URL, and is in the document of the edge', async () => {
    const { app, events } = await open()
    await send(app, { method: 'POST', url: '/webhooks/toy/right', body: { days: ['2026-11-15'] } })
    expect(events).toHaveLength(1)
    const { body } = await send(app, { url: '/openapi.json' })
    expect(body.paths['/webhooks/toy/{secret}']).toMatchObject({
      get: { operationId: 'receiveTestCallChallenge' },
      post: { operationId: 'receiveTestCall' },
    })
  })
})

describe('a call of an outside service that waits only for a short time', () => {
  const hurried = async (part: 'log' | 'read') => {
    const eventsOf: Webhook['eventsOf'] = part === 'log' ? webhook.eventsOf : () => new Promise(() => {})
    const edge = await openMealsEdge({ edge: { ...mealsEdge, webhooks: [{ ...webhook, eventsOf, appendMs: 5 }] } })
    if (part === 'log') edge.hang('log')
    return send(edge.app, { method: 'POST', url: '/webhooks/toy/right', body: { days: ['2026-11-15'] } })
  }

  test('is answered 503 if the log does not have the events in that time', async () => {
    expect(await hurried('log')).toMatchObject({ status: 503 })
  })

  test('is answered 503 if the reads take longer', async () => {
    expect(await hurried('read')).toMatchObject({ status: 503, body: { code: 'too-slow' } })
  })
})

test('a webhook gets the text of the body, whose numbers keep all their digits', async () => {
  const texts: string[] = []
  const eventsOf: Webhook['eventsOf'] = ({ text, params }) => {
    texts.push(`${params['secret']} ${text}`)
    return Promise.resolve([])
  }
  const { app } = await openMealsEdge({ edge: { ...mealsEdge, webhooks: [{ ...webhook, eventsOf }] } })
  await send(app, { method: 'POST', url: '/webhooks/toy/right', raw: '{"id":12345678901234567}' })
  expect(texts).toEqual(['right {"id":12345678901234567}'])
})

describe('a call of an outside service', () => {
  test('is answered when all its events are in the log, without waiting for their fold', async () => {
    const { call, events, reported } = await open()
    expect(await call({ body: { days: ['2026-11-15', '2026-11-16'] } })).toMatchObject({ status: 200, body: {} })
    expect(events.map(({ type, meta }) => [type, meta.source])).toEqual([
      ['PatUsed', 'toy'],
      ['PatUsed', 'toy'],
    ])
    const appended = { domain: 'meals', source: 'toy', type: 'PatUsed' }
    expect(reported).toEqual([appended, appended, ['toy', 'taken']])
  })

  test('that is repeated has the same events', async () => {
    const { call, events } = await open()
    for (let times = 0; times < 2; times++) await call({ body: { days: ['2026-11-15'] } })
    expect(new Set(events.map(({ meta }) => meta.eventId)).size).toBe(1)
  })

  test('is not answered 200 if the log is unavailable', async () => {
    const { call, fail, events, reported } = await open()
    fail(new Fault('log-unavailable', 'The log does not answer.', { retriable: true }))
    expect(await call({ body: { days: ['2026-11-15'] } })).toMatchObject({
      status: 503,
      body: { code: 'log-unavailable' },
      headers: { 'retry-after': '1' },
    })
    fail(new Fault('append-unknown', 'Who knows.'))
    expect(await call({ body: { days: ['2026-11-15'] } })).toMatchObject({
      status: 503,
      body: { code: 'append-unknown' },
    })
    expect([events, reported]).toEqual([[], []])
  })

  test('that is not relevant is answered and counted', async () => {
    const { call, events, reported } = await open()
    expect(await call({ raw: '{"text":"\\u0000 \\ud800","__proto__":{},"id":12345678901234567890}' })).toMatchObject({
      status: 200,
    })
    expect(events).toEqual([])
    expect(reported).toEqual([['toy', 'ignored']])
  })

  test('needs no token, and a token does not help', async () => {
    const { call, token, reported } = await open()
    const wrong = { url: '/webhooks/toy/wrong', body: { days: ['2026-11-15'] } }
    expect(await call({ ...wrong, token: await token('ann') })).toMatchObject({
      status: 401,
      body: { code: 'webhook-refused' },
    })
    expect(reported).toEqual([['toy', 'refused']])
  })

  test('of an unknown sender is refused before its body is read', async () => {
    const { call } = await open()
    expect(await call({ url: '/webhooks/toy/wrong', raw: '{' })).toMatchObject({ status: 401 })
    expect(await call({ url: '/webhooks/toy/wrong', body: { text: 'x'.repeat(2000) } })).toMatchObject({ status: 401 })
  })

  test('that is no JSON, or too large, or by another method, is refused', async () => {
    const { call } = await open()
    expect(await call({ raw: '{' })).toMatchObject({ status: 400, body: { code: 'malformed-json' } })
    expect(await call({ body: { text: 'x'.repeat(2000) } })).toMatchObject({
      status: 413,
      body: { code: 'body-too-large' },
    })
    expect(await call({ raw: 'days', headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 })
    expect(await call({ method: 'GET' })).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  })

  test('is in the document of the edge, without a token', async () => {
    const { app } = await open()
    const described = (await send(app, { url: '/openapi.json' })).body.paths['/webhooks/toy/{secret}']
    expect(described).toMatchObject({ post: { summary: 'Calls of a toy.', tags: ['meals'] } })
    expect(JSON.stringify(described)).not.toContain('security')
  })
})
