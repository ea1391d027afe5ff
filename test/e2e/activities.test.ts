import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stravaLocal } from '../../domains/activities/strava-local/service.ts'
import { BIKE } from '../producers/activities/open-edge.ts'
import { client, freshFolder, runOk, startServer, until, type Client, type Env, type Server } from './program.ts'

const ATHLETE = '98765432109876543'
const WORD = 'Zuckerhutrunde'
const DAY_MS = 86_400_000

const controlOf =
  (url: string) =>
  async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/control${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }

const tokenFor = (env: Env, user: string, scopes: string) =>
  runOk(['token', 'create', '--user', user, '--domain', 'activities', '--scopes', scopes], env)

/** The files of a folder that contain one of the texts, with the texts. */
const filesContaining = (folder: string, texts: readonly string[]): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .flatMap((name) => {
      const content = readFileSync(join(folder, name))
      return texts.filter((text) => content.includes(text)).map((text) => `${name}: ${text}`)
    })

const bodyOf = async (ada: Client, path: string) => (await ada.get(path)).body

const untilBody = (ada: Client, path: string, fits: (body: Record<string, unknown>) => boolean, server: Server) => {
  let last: unknown
  return until(
    async () => fits((last = await bodyOf(ada, path)) as Record<string, unknown>),
    () => `${path} stays ${JSON.stringify(last)}; ${server.stderr()}`,
  )
}

test(
  'A23 A-l A9 A20 a person connects Strava, earns awards, is deauthorised, connects again, and deletes the account',
  { timeout: 240_000 },
  async () => {
    const strava = await stravaLocal.start({ port: 0 })
    const control = controlOf(strava.url)
    const env = { TRIBUTARY_DATA: freshFolder(), ...strava.variables }
    const server = await startServer(env)
    const secret = strava.variables['TRIBUTARY_STRAVA_WEBHOOK_SECRET'] ?? ''
    await control('PUT', '/subscription', { callback_url: `${server.url}/webhooks/strava/${secret}` })
    await control('PUT', '/settings', { webhooks: { onAppRevocation: false } })
    await control('POST', '/athletes', { id: ATHLETE, firstname: WORD })
    const ride = (distance: number, name = WORD) =>
      control('POST', `/athletes/${ATHLETE}/activities`, {
        name,
        distance,
        start: new Date(Date.now() - 3_600_000).toISOString(),
      })
    const first = String((await ride(8_333.4))['id'])

    const root = client(server.url, await tokenFor(env, 'root', 'read,write,admin'))
    const ada = client(server.url, await tokenFor(env, 'ada', 'read,write'))
    expect((await root.post('/models', BIKE)).status).toBe(201)
    const connect = async () => {
      const { body } = await ada.get('/strava/connect', { accept: 'application/json' })
      const { location } = await control('POST', '/consent', { url: body['url'], athlete: ATHLETE })
      const { pathname, search } = new URL(String(location))
      expect(await ada.get(pathname + search)).toMatchObject({ status: 201, body: { status: 'CONNECTED' } })
    }
    await connect()
    await untilBody(ada, '/strava/status', ({ backfill }) => (backfill as { done: boolean }).done, server)
    expect(await bodyOf(ada, '/activities/recent')).toMatchObject({
      items: [{ activityId: first, name: WORD, distanceMeters: 8333.4 }],
    })

    const made = await ada.post('/milestones', {
      modelId: 'bike',
      sport: 'RIDE',
      targetType: 'DISTANCE_METERS',
      totalTarget: 100_000,
      periodStartAtUtc: new Date(Date.now() - DAY_MS).toISOString(),
    })
    expect(made).toMatchObject({ status: 201, body: { progressValue: 8333.4, percentComplete: 8.33, awards: [] } })
    const milestone = `/milestones/${String(made.body['id'])}`
    await ride(0.6)
    await untilBody(ada, milestone, ({ partsAwardedCount }) => partsAwardedCount === 1, server)
    await ride(41_666)
    await untilBody(ada, milestone, ({ partsAwardedCount }) => partsAwardedCount === 6, server)
    expect(await bodyOf(ada, milestone)).toMatchObject({ progressValue: 50_000, percentComplete: 50 })
    await control('DELETE', `/activities/${first}`)
    await untilBody(ada, milestone, ({ progressValue }) => progressValue === 41_666.6, server)
    expect(await bodyOf(ada, milestone)).toMatchObject({ highWaterProgress: 50_000, partsAwardedCount: 6 })

    await control('POST', `/athletes/${ATHLETE}/revoke`)
    await untilBody(ada, '/strava/status', ({ status }) => status === 'REVOKED', server)
    expect(await bodyOf(ada, '/activities/recent')).toMatchObject({ items: [] })
    const after = await bodyOf(ada, milestone)
    expect(after).toMatchObject({ progressValue: 0, highWaterProgress: 0, percentComplete: 0, partsAwardedCount: 6 })
    expect((after['awards'] as { progressValueAtAward: unknown }[]).map((award) => award.progressValueAtAward)).toEqual(
      Array.from({ length: 6 }, () => null),
    )

    await connect()
    await untilBody(ada, milestone, ({ progressValue }) => progressValue === 41_666.6, server)
    expect(await bodyOf(ada, milestone)).toMatchObject({ partsAwardedCount: 6 })
    expect(await runOk(['verify', 'activities'], env)).toContain('0 differ')

    expect(await ada.send('DELETE', '/account')).toMatchObject({ status: 200, body: { status: 'DELETING' } })
    await until(
      async () => (await ada.get('/account')).status === 401,
      () => `the account stays; ${server.stderr()}`,
    )
    await until(
      async () =>
        (await runOk(['events', '--domain', 'activities', '--key', 'ada', '--json'], env)).includes('AccountDeleted'),
      () => `the account is not deleted; ${server.stderr()}`,
    )
    expect(await control('GET', `/athletes/${ATHLETE}`)).toMatchObject({ isLinked: false })
    expect(await runOk(['verify'], env)).not.toMatch(/[1-9]\d* differ/)
    expect(await server.stop()).toBe(0)
    // The tombstone of the OWNER item keeps the id of the athlete in its key for seven days (docs/operating.md).
    expect(filesContaining(env.TRIBUTARY_DATA, [WORD, first])).toEqual([])
    await strava.stop()
  },
)
