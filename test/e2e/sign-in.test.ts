import { expect, test } from 'vitest'
import WebSocket from 'ws'
import { AUDIENCE, startIssuer } from '../producers/access/issuer.ts'
import { describeOnServices } from './on-services.ts'
import { client, freshFolder, meal, run, runOk, startServer, type Env, type Server } from './program.ts'

const tokenFor = (env: Env, user: string, domain: string): Promise<string> =>
  runOk(['token', 'create', '--user', user, '--domain', domain], env)

/** Requests of a browser: with the cookie of a session, and without a token. */
const signIn = async (url: string, token: string) => {
  const answer = await client(url, token).post('/auth/session', undefined)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const send = (
    at: string,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body?: unknown,
  ) =>
    fetch(`${at}${path}`, {
      method,
      headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const statusOf = async (path: string, at = url) => (await send(at, 'GET', path)).status
  const change = async (method: string, path: string, body?: unknown, at = url) =>
    (await send(at, method, path, { origin: at, 'x-csrf-token': String(answer.body['csrfToken']) }, body)).status
  return { answer, cookie, statusOf, change }
}

/** The HTTP status with which the server answers a WebSocket with this cookie. 101: it accepts the connection. */
const watch = (server: Server, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/live?loc=loc-1`, ['tributary.v1'], { headers })
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    socket.on('error', () => undefined)
    socket.on('open', () => {
      socket.close()
      resolve(101)
    })
  })

test(
  'a session works in the domain of its token, for live push too, and survives a restart',
  { timeout: 120_000 },
  async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const token = await tokenFor(env, 'ann', 'scales')
    await client(first.url, token).post('/v1/locations/loc-1/devices', { device_id: 'scale-1' })
    const ann = await signIn(first.url, token)
    expect(ann.answer).toMatchObject({ status: 201, body: { userId: 'ann' } })
    const paths = ['/v1/locations/loc-1/devices', '/auth/session', '/v1/tokens', '/v1/targets']
    expect(await Promise.all(paths.map((path) => ann.statusOf(path)))).toEqual([200, 200, 200, 401])
    expect(await watch(first, { cookie: ann.cookie, origin: first.url })).toBe(101)
    expect(await watch(first, { cookie: ann.cookie })).toBe(403)
    expect(await watch(first, { cookie: ann.cookie, origin: 'https://evil.example' })).toBe(403)
    const admin = await runOk(['token', 'create', '--user', 'root', '--scopes', 'read,write,admin', '--json'], env)
    expect(JSON.parse(admin)).toMatchObject({ user: 'root', scopes: ['read', 'write', 'admin'] })
    await first.stop()

    const second = await startServer(env)
    expect(await ann.statusOf('/auth/session', second.url)).toBe(200)
    expect(await ann.change('POST', '/auth/logout', undefined, second.url)).toBe(200)
    expect(await ann.statusOf('/auth/session', second.url)).toBe(401)
    await second.stop()
  },
)

test(
  'a JWT of the issuer works in every domain, tokens work while the issuer does not answer, and doctor checks it',
  { timeout: 120_000 },
  async () => {
    const issuer = await startIssuer('RS256')
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_OIDC_ISSUER: issuer.url, TRIBUTARY_OIDC_AUDIENCE: AUDIENCE }
    expect((await run(['doctor'], env)).stdout).toContain(`OIDC issuer: ${issuer.url} answers, and has 1 key`)
    const server = await startServer(env)
    const jwt = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 600 })
    const { get, post } = client(server.url, jwt)
    expect(await post('/v1/meals', meal(1))).toMatchObject({ status: 201 })
    expect(await get('/v1/locations/loc-1/devices')).toMatchObject({ status: 404 })
    const session = await signIn(server.url, jwt)
    expect(await session.change('POST', '/v1/meals', meal(2))).toBe(201)
    expect(await session.statusOf('/v1/locations/loc-1/devices')).toBe(404)
    const token = await tokenFor(env, 'bob', 'meals')
    issuer.state.mode = 'hang'
    expect(await client(server.url, token).get('/v1/targets')).toMatchObject({ status: 200 })
    expect(await get('/v1/targets')).toMatchObject({ status: 200 })
    issuer.state.mode = 'fail'
    expect(await run(['doctor'], env)).toMatchObject({ code: 1, stdout: expect.stringContaining('oidc-unavailable') })
    await server.stop()
  },
)

describeOnServices('a session on Kafka and DynamoDB', ({ env }) => {
  test('is known to every process, and can be ended by each', { timeout: 300_000 }, async () => {
    const shared = env()
    const one = await startServer(shared)
    const other = await startServer({ ...shared, TRIBUTARY_DATA: freshFolder() }, ['--roles', 'edge'])
    const ann = await signIn(one.url, await tokenFor(shared, 'ann', 'meals'))
    expect(await ann.statusOf('/auth/session', other.url)).toBe(200)
    expect(await ann.change('POST', '/auth/logout', undefined, other.url)).toBe(200)
    expect(await ann.statusOf('/auth/session')).toBe(401)
    await Promise.all([one.stop(), other.stop()])
  })
})
