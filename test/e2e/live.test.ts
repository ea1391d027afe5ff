import { expect, test, describe } from 'vitest'
import WebSocket from 'ws'
import { client, freshFolder, startServer, runOk, until, type Env, type Server } from './program.ts'
import { describeOnServices } from './on-services.ts'

interface Message {
  readonly type: 'snapshot' | 'resumed' | 'changes'
  readonly epoch: number
  readonly cursor: string
  readonly items?: readonly PushedItem[]
  readonly changes?: readonly PushedItem[]
}

interface PushedItem {
  readonly key: string
  readonly version: number
  readonly item: Readonly<Record<string, unknown>> | null
}

const connect = async (
  server: Pick<Server, 'url'>,
  {
    token,
    loc = 'loc-1',
    cursor,
    headers = {},
  }: { token: string; loc?: string; cursor?: string; headers?: Readonly<Record<string, string>> },
) => {
  const socket = new WebSocket(
    `${server.url.replace('http', 'ws')}/v1/live?loc=${loc}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    ['tributary.v1', `bearer.${token}`],
    { headers },
  )
  const messages: Message[] = []
  const state = { status: 0, closed: 0 }
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Message))
  socket.on('unexpected-response', (_request, response) => (state.status = response.statusCode ?? 0))
  socket.on('error', () => undefined)
  socket.on('close', (code) => (state.closed = code))
  await until(
    async () => messages.length > 0 || state.status > 0 || state.closed > 0,
    () => 'no answer',
  )
  const pushedItems = () => messages.flatMap(({ items = [], changes = [] }) => [...items, ...changes])
  const levels = () =>
    pushedItems()
      .filter(({ key }) => key === 'TAP#01#STATE')
      .map(({ item }) => item?.['level_pct'])
  return { messages, state, pushedItems, levels, close: () => socket.close(), protocol: () => socket.protocol }
}

const openBar = async (env: Env, { url }: Server) => {
  const token = await runOk(['token', 'create', '--user', 'ann', '--domain', 'scales'], env)
  const { send } = client(url, token)
  const command = async (method: 'POST' | 'PUT', path: string, body: unknown) => {
    const { status, body: answer } = await send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  }
  await command('POST', '/v1/beers', { beer_id: 'stout', name: 'Stout', specific_gravity: 1.014 })
  await command('POST', '/v1/locations/loc-1/devices', { device_id: 'scale-1' })
  await command('PUT', '/v1/locations/loc-1/taps/01/device', { device_id: 'scale-1' })
  await command('POST', '/v1/locations/loc-1/taps/01/keg', { beer_id: 'stout', keg_type: 'half_barrel' })
  let seq = 0
  const read = (level: number, at = url) =>
    client(at, token).send('POST', '/v1/devices/scale-1/readings', {
      v: 1,
      boot: 'b1',
      events: [{ seq: (seq += 1), type: 'reading', data: { level_pct: level, weight_lbs: 29 + 1.325 * level } }],
    })
  return { token, read }
}

describe('a watched bar, embedded', () => {
  test(
    'fifty viewers connect and disconnect, the server stops, and it starts again',
    { timeout: 120_000 },
    async () => {
      const env = { TRIBUTARY_DATA: freshFolder() }
      const first = await startServer(env)
      const { token } = await openBar(env, first)
      const viewers: Awaited<ReturnType<typeof connect>>[] = []
      for (let viewer = 0; viewer < 50; viewer += 1) viewers.push(await connect(first, { token }))
      for (const viewer of viewers) viewer.close()
      await until(
        async () => viewers.every(({ state }) => state.closed > 0),
        () => 'not every viewer is disconnected',
      )
      await first.stop()
      const second = await startServer(env)
      expect((await connect(second, { token })).messages[0]).toMatchObject({ type: 'snapshot' })
      await second.stop()
    },
  )

  test('S15 S52 S53 S54: a snapshot, then changes in order; a cursor resumes; a flip sends a new snapshot; other users receive nothing', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const { token, read } = await openBar(env, server)
    await read(80)
    const one = await connect(server, { token })
    expect(one.protocol()).toBe('tributary.v1')
    await until(
      async () => one.levels().at(-1) === 80,
      () => JSON.stringify(one.messages),
    )
    expect(one.messages[0]).toMatchObject({ type: 'snapshot', epoch: 1 })
    for (const level of [79, 78, 77]) await read(level)
    await until(
      async () => one.levels().at(-1) === 77,
      () => JSON.stringify(one.messages),
    )
    expect(one.levels().filter((level) => [79, 78, 77].includes(level as number))).toEqual([79, 78, 77])
    const versions = one
      .pushedItems()
      .filter(({ key }) => key === 'TAP#01#STATE')
      .map(({ version }) => version)
    expect(versions).toEqual([...versions].sort((a, b) => a - b))
    const cursor = one.messages.at(-1)?.cursor ?? ''
    one.close()
    await read(76)
    const again = await connect(server, { token, cursor })
    expect(again.messages[0]).toMatchObject({ type: 'resumed', epoch: 1 })
    await until(
      async () => again.levels().at(-1) === 76,
      () => JSON.stringify(again.messages),
    )
    await runOk(['rebuild', 'scales', '--yes'], env)
    await until(
      async () => again.messages.some(({ type, epoch }) => type === 'snapshot' && epoch === 2),
      () => JSON.stringify(again.messages),
    )
    await read(75)
    await until(
      async () => again.levels().at(-1) === 75,
      () => JSON.stringify(again.messages),
    )

    const stranger = await runOk(['token', 'create', '--user', 'eve', '--domain', 'scales'], env)
    expect((await connect(server, { token: stranger })).state.status).toBe(404)
    expect((await connect(server, { token: 'nonsense' })).state.status).toBe(401)
    expect((await connect(server, { token, loc: 'loc%231' })).state.status).toBe(404)
    expect((await connect(server, { token, headers: { origin: 'https://evil.example' } })).state.status).toBe(403)
    expect(await server.stop()).toBe(0)
    await until(
      async () => again.state.closed === 1001,
      () => String(again.state.closed),
    )
  }, 120_000)
})

describeOnServices('a bar watched on Kafka and DynamoDB', (services) => {
  test('two edges show the same bar, independent of the process that folds it', async () => {
    const env = services.env({})
    const [one, other] = [
      await startServer(env),
      await startServer({ ...env, TRIBUTARY_HTTP: '127.0.0.1:0', TRIBUTARY_ADMIN: '127.0.0.1:0' }, [
        '--roles',
        'edge,live',
      ]),
    ]
    const { token, read } = await openBar(env, one)
    await read(80)
    const watchers = [await connect(one, { token }), await connect(other, { token })]
    for (const [index, level] of [79, 78, 77, 76].entries()) await read(level, index % 2 === 0 ? one.url : other.url)
    for (const watcher of watchers) {
      await until(
        async () => watcher.levels().at(-1) === 76,
        () => JSON.stringify(watcher.messages),
      )
      const versions = watcher
        .pushedItems()
        .filter(({ key }) => key === 'TAP#01#STATE')
        .map(({ version }) => version)
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
      watcher.close()
    }
    expect([await other.stop(), await one.stop()]).toEqual([0, 0])
  }, 120_000)
})
