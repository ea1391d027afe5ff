import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { connected, deviceAt } from '../producers/mqtt/bar.ts'
import { startProxy } from '../services/proxy.ts'
import { untilWhole } from './processes-under-load.ts'
import { describeOnOwnServices } from './on-services.ts'
import type { Services } from './on-services.ts'
import { client, meal, startServer, runOk, until } from './program.ts'
import type { Server } from './program.ts'

/**
 * The program answers requests within 10 s and probes within 5 s. These limits of the test are higher, for a busy machine, and far below the time
 * for which a service hangs.
 */
const [REQUEST_BOUND_MS, PROBE_BOUND_MS] = [25_000, 15_000]
const TIMEOUT_MS = 600_000
/** Names of errors that client libraries and the system throw. */
const RAW = /KafkaJS|[A-Z]\w+(Exception|Error)\b|ECONN|ETIMEDOUT|EPIPE|socket hang up|127\.0\.0\.1|    at /
const DEVICE = 'SCALE-0042'
const SECRET = 'a-secret-of-the-webhook'

interface TimedAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

const answerWithin = async (url: string, init: RequestInit, boundMs: number): Promise<TimedAnswer> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(boundMs) })
  const answer = { status: response.status, text: await response.text(), headers: response.headers }
  if (!url.endsWith('/metrics')) expect(answer.text, url).not.toMatch(RAW)
  return answer
}

const openBar = async (services: Services) => {
  const proxy = await startProxy(Number(new URL(services.dynamodb.endpoint).port))
  onTestFinished(() => proxy.stop())
  const env = services.env({
    TRIBUTARY_DYNAMODB: `http://127.0.0.1:${proxy.port}`,
    TRIBUTARY_KAFKA_PARTITIONS: '2',
    TRIBUTARY_TELEGRAM_WEBHOOK_SECRET: SECRET,
  })
  const server = await startServer(env)
  const [eater, owner] = [
    await runOk(['token', 'create', '--user', 'ann'], env),
    await runOk(['token', 'create', '--user', 'ann', '--domain', 'scales'], env),
  ]
  const bar = client(server.url, owner)
  await bar.post('/v1/locations/loc-001/devices', { device_id: DEVICE })
  const password = String((await bar.post(`/v1/locations/loc-001/devices/${DEVICE}/tokens`, undefined)).body['token'])
  return { proxy, server, eater, owner, password }
}

type Bar = Awaited<ReturnType<typeof openBar>>

/** An update of Telegram: the bot was added to a new chat. The edge appends an event for it. */
const newChat = () => ({
  update_id: 1,
  my_chat_member: {
    date: Math.floor(Date.now() / 1000),
    chat: { id: -randomInt(1, 2 ** 40), type: 'group', title: 'Tatry' },
    from: { id: 1, is_bot: false, first_name: 'Zofie' },
    old_chat_member: { status: 'left' },
    new_chat_member: { status: 'member' },
  },
})

/** One request of every kind. */
const requests = ({ server: { url }, eater, owner }: Bar) => {
  const send = (
    method: string,
    path: string,
    { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> },
  ) =>
    answerWithin(
      `${url}${path}`,
      {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      REQUEST_BOUND_MS,
    )
  return {
    question: () => send('GET', '/v1/meals?day=2026-11-16', { token: eater }),
    after: () => send('GET', '/v1/meals?day=2026-11-16', { token: eater, headers: { 'tributary-after': '0:0:x' } }),
    command: () =>
      send('POST', '/v1/meals', { token: eater, body: meal(1), headers: { 'idempotency-key': crypto.randomUUID() } }),
    batch: () =>
      send('POST', `/v1/devices/${DEVICE}/readings`, {
        token: owner,
        body: {
          v: 1,
          boot: crypto.randomUUID(),
          events: [{ seq: 1, type: 'reading', data: { level_pct: 50, weight_lbs: 90 } }],
        },
      }),
    webhook: () =>
      send('POST', '/webhooks/telegram', { body: newChat(), headers: { 'x-telegram-bot-api-secret-token': SECRET } }),
  }
}

const statuses = async (
  sends: Readonly<Record<string, () => Promise<TimedAnswer>>>,
): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(sends).map(async ([kind, send]) => [kind, (await send()).status] as const)),
  )

const probe = ({ admin }: Server, path: string): Promise<TimedAnswer> =>
  answerWithin(`${admin}${path}`, {}, PROBE_BOUND_MS)

const watched = async ({ server, owner }: Bar): Promise<string> => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/live?loc=loc-001`, [
    'tributary.v1',
    `bearer.${owner}`,
  ])
  onTestFinished(() => socket.terminate())
  socket.on('error', () => undefined)
  const bound = AbortSignal.timeout(REQUEST_BOUND_MS)
  return Promise.race([
    once(socket, 'unexpected-response', { signal: bound }).then(
      ([, response]) => `status ${(response as { statusCode: number }).statusCode}`,
    ),
    once(socket, 'message', { signal: bound }).then(() => 'snapshot'),
  ])
}

const loggedIn = ({ server, password }: Bar): Promise<unknown> =>
  connected(deviceAt(server.mqtt, DEVICE, { password, connectTimeout: REQUEST_BOUND_MS })).then(
    () => 'connected',
    (error: { readonly code?: unknown }) => error.code,
  )

const WORKING = { question: 200, command: 201, batch: 202, webhook: 200 }
const untilWorking = async (bar: Bar): Promise<void> => {
  const { after: _, ...sends } = requests(bar)
  let found: unknown
  await until(
    async () => JSON.stringify((found = await statuses(sends))) === JSON.stringify(WORKING),
    () => `not every request works: ${JSON.stringify(found)} ${bar.server.stderr()}`,
    120_000,
  )
  await until(
    async () => (await probe(bar.server, '/readyz')).status === 200,
    () => 'not ready',
    120_000,
  )
}

describeOnOwnServices(
  'a service that does not answer',
  (services) => {
    test(
      'DynamoDB accepts requests and answers none: every request is answered at its deadline, and everything works afterwards',
      async () => {
        const bar = await openBar(services)
        await untilWorking(bar)
        bar.proxy.hang()
        expect(await statuses(requests(bar))).toEqual({
          question: 503,
          after: 503,
          command: 503,
          batch: 503,
          webhook: 503,
        })
        const { text, headers } = await requests(bar).question()
        expect(JSON.parse(text)).toMatchObject({
          code: expect.stringMatching(/^(store-unavailable|too-slow)$/),
          request: expect.stringMatching(/./),
        })
        expect(headers.get('retry-after')).toBe('1')
        expect(await watched(bar)).toBe('status 503')
        expect(await loggedIn(bar)).toBe(3)
        expect(await probe(bar.server, '/readyz')).toMatchObject({ status: 503 })
        expect(await probe(bar.server, '/v1/tables')).toMatchObject({ status: 503 })
        const metrics = await probe(bar.server, '/metrics')
        expect(metrics).toMatchObject({
          status: 200,
          text: expect.stringContaining('tributary_http_request_duration_seconds'),
        })
        bar.proxy.recover()
        await untilWorking(bar)
        expect(await watched(bar)).toBe('snapshot')
        expect(await loggedIn(bar)).toBe('connected')
      },
      TIMEOUT_MS,
    )

    test.each([
      ['two of three brokers are killed', [0, 1], 'kill'],
      ['all brokers hang', [0, 1, 2], 'pause'],
    ] as const)(
      '%s: queries are answered, and commands get 503 at their deadline',
      async (_, indices, how) => {
        const bar = await openBar(services)
        await untilWorking(bar)
        const nodes = indices.map((index) => services.kafka.node(index))
        for (const node of nodes) await node[how]()
        try {
          expect(await statuses(requests(bar))).toEqual({
            question: 200,
            after: expect.any(Number),
            command: 503,
            batch: 503,
            webhook: 503,
          })
          const { text } = await requests(bar).command()
          expect(JSON.parse(text)).toMatchObject({ code: expect.stringMatching(/^(append-unknown|log-unavailable)$/) })
          await until(
            async () => (await probe(bar.server, '/readyz')).status === 503,
            () => 'it stays ready without a log',
          )
          expect(await probe(bar.server, '/metrics')).toMatchObject({ status: 200 })
        } finally {
          for (const node of nodes) await (how === 'kill' ? node.start() : node.resume())
        }
        await untilWhole(services.kafka)
        await untilWorking(bar)
      },
      TIMEOUT_MS,
    )
  },
  { nodes: 3, long: true },
)
