import { pino } from 'pino'
import { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { logOptions } from '../../../producers/http/logs.ts'
import { mintToken } from '../../../producers/access/pat.ts'
import { Fault } from '../../../schemas/fault.ts'
import { createFeed } from '../../../processors/adapters/lmdb/feed.ts'
import { send } from '../../../testing/edge/request.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'

const capture = () => {
  const lines: string[] = []
  return { lines, logger: pino(logOptions('trace'), { write: (line: string) => void lines.push(line) }) }
}

test('no token, body or personal text is ever logged', async () => {
  const { lines, logger } = capture()
  const edge = await openMealsEdge({ logger, limits: { usageSample: 1 } })
  const token = await edge.token('ann')
  const body = { ...BREAKFAST, mealSummary: 'PLANTED-SUMMARY', notes: 'PLANTED-NOTES' }
  const headers = { 'idempotency-key': 'PLANTED-KEY', cookie: 'PLANTED-COOKIE' }
  const secret = String(
    (
      await send(edge.app, {
        method: 'POST',
        url: '/v1/tokens',
        token,
        body: { name: 'PLANTED-NAME', scopes: ['read'] },
      })
    ).body.token,
  )
  await send(edge.app, { method: 'POST', url: '/v1/meals', token, body, headers })
  await send(edge.app, { method: 'POST', url: '/v1/meals', token, raw: '{"PLANTED-FIELD": PLANTED', headers })
  await send(edge.app, { url: '/v1/targets', token: 'PLANTED-TOKEN' })
  edge.fail(new Fault('strange', `It fell over ${token}.`, { cause: new Error(`because of ${secret}`) }))
  await send(edge.app, { method: 'POST', url: '/v1/meals', token, body, headers })
  await edge.app.close()
  const text = lines.join('')
  expect(text).toContain('request failed')
  expect(text).toContain('It fell over [hidden]')
  expect(text).not.toMatch(/PLANTED|trib_meals_|Oats/)
  for (const each of [token, secret]) expect(text).not.toContain(each.slice(11, 40))
})

test('an event that is not visible yet is no failure: one line without a stack', async () => {
  const { lines, logger } = capture()
  const edge = await openMealsEdge({ logger })
  const token = await edge.token('ann')
  const headers = { 'tributary-after': `0:999999:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}` }
  expect(await send(edge.app, { url: '/v1/targets', token, headers })).toMatchObject({
    status: 503,
    body: { code: 'not-yet-visible' },
  })
  await edge.app.close()
  const found = lines.filter((line) => line.includes('not-yet-visible'))
  expect(found.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ level: 'info', code: 'not-yet-visible' }])
  expect(found.join('')).not.toContain('stack')
})

test('a value under the name of a secret is hidden', () => {
  const { lines, logger } = capture()
  const { token } = mintToken('meals', () => Buffer.alloc(32, 5))
  logger.info(
    {
      token,
      headers: { authorization: token },
      deep: { request: { body: 'PLANTED' } },
      req: { id: 'r1', method: 'GET', url: '/PLANTED', headers: { authorization: token } },
    },
    'said',
  )
  expect(lines.join('')).not.toMatch(/PLANTED|trib_meals_/)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    msg: 'said',
    req: { id: 'r1', method: 'GET' },
    time: expect.stringMatching(/Z$/),
  })
})

test('a line break in a logged text stays inside its line', () => {
  const { lines, logger } = capture()
  logger.warn({ err: new Error('one\n{"level":"fatal"}') }, 'a\nb')
  expect(lines).toHaveLength(1)
  expect(lines[0]?.trimEnd()).not.toContain('\n')
})

test('no line has a query string, also not a line of the framework', async () => {
  const { lines, logger } = capture()
  logger.info(
    { path: '/v1/live?loc=PLANTED&token=x' },
    'closed incoming websocket connection for path with no websocket handler',
  )
  logger.info('Route GET:/v1/live?loc=PLANTED not found')
  logger.warn({
    err: new Error('GET /v1/meals?day=PLANTED failed'),
    deep: { urls: ['https://t.example/?name=PLANTED'] },
  })
  expect(lines.join('')).not.toContain('PLANTED')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ path: '/v1/live?[hidden]' })
})

test('an upgrade to a route that has no WebSocket logs no query string', async () => {
  const { lines, logger } = capture()
  const none = () => Promise.resolve()
  const live = { sleep: none, connections: new Map(), origins: [], changes: createFeed() }
  const edge = await openMealsEdge({ logger, live })
  const address = await edge.app.listen({ host: '127.0.0.1', port: 0 })
  const socket = new WebSocket(`${address.replace('http', 'ws')}/v1/meals?day=PLANTED`)
  await new Promise((done) => socket.once('close', done).once('error', () => undefined))
  await edge.app.close()
  expect(lines.join('')).not.toContain('PLANTED')
})
