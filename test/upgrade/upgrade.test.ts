import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { kafkaLogs } from '../../processors/adapters/kafka/logs.ts'
import { describeOnServices } from '../e2e/on-services.ts'
import { client, freshFolder, meal, run, startCommand, startServer, runOk, type Env, type Server } from '../e2e/program.ts'
import { writeTables, writeTopics, type RecordedServices, type WireItem } from './services.mjs'

/** Releases whose data folders and tables every later release must open. `record.mjs` records the data of a release. */
const RELEASES = ['fbfdde6']

interface Answer {
  readonly user: string
  readonly path: string
  readonly status: number
  readonly body: object | null
}

interface Recorded {
  readonly tokens: Readonly<Record<string, string>>
  /** The answers of the release before it was stopped. */
  readonly answers: readonly Answer[]
}

const fixture = <Content>(release: string, file: string): Recorded & Content =>
  JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, release, file))).toString()) as Recorded & Content

/** Answers that differ on purpose, with the reason: only the named field, or the whole answer if there is no `field`. */
const CORRECTED: readonly { readonly path: RegExp; readonly field?: string; readonly reason: string }[] = [
  { path: /^\/api\/(groups\/[^/]+\/expenses(\/[^/]+)?|users\/me\/(expenses|debts|activity))$/, field: 'createdAt', reason: 'it is when an expense was recorded, and was the date of the expense' },
  { path: /^\/v1\/tokens$/, field: 'lastUsedAt', reason: 'this test uses the token, so it is the day of the test' },
  { path: /^\/v1\/locations\/loc-1\/alerts(\/history)?$/, reason: 'A breach of four minutes with five minutes of grace fired, because the readings arrived later than the grace row was kept.' },
]

const without = (body: unknown, fields: readonly string[]): unknown => {
  if (typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map((each) => without(each, fields))
  return Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)).map(([name, value]) => [name, without(value, fields)]))
}

/** Compares the answers with the recorded ones. A later release may add fields; the recorded fields must be unchanged, except those in CORRECTED. */
const compareAnswers = async (url: string, { tokens, answers }: Recorded): Promise<void> => {
  for (const { user, path, status, body } of answers) {
    const corrected = CORRECTED.filter((each) => each.path.test(path))
    if (corrected.some(({ field }) => field === undefined)) continue
    const now = await client(url, tokens[user] ?? '').get(path)
    expect({ path, status: now.status }).toEqual({ path, status })
    if (status === 200) expect({ path, body: now.body }).toMatchObject({ path, body: without(body, corrected.flatMap(({ field }) => field ?? [])) })
  }
}

const unpack = (files: Readonly<Record<string, string>>): string => {
  const folder = freshFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), Buffer.from(content, 'base64'))
  }
  return folder
}

/** Roles without timers and senders, so that no timer changes the recorded data. */
const ROLES = ['--roles', 'edge,processor']

const writesOn = async ({ url }: Server, { tokens }: Recorded): Promise<void> => {
  expect(await client(url, tokens['ann'] ?? '').post('/v1/meals', meal(1))).toMatchObject({ status: 201 })
}

describe.each(RELEASES)('a data folder written by %s', { timeout: 180_000 }, (release) => {
  test('opens, answers as before, accepts new events and equals the fold of its log', async () => {
    const recorded = fixture<{ readonly files: Readonly<Record<string, string>> }>(release, 'folder.json.gz')
    const env = { TRIBUTARY_DATA: unpack(recorded.files) }
    const server = await startServer(env, ROLES)
    await compareAnswers(server.url, recorded)
    await writesOn(server, recorded)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await server.stop()).toBe(0)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })
})

const DOMAINS = ['meals', 'scales', 'expenses']

/** Requests that read the series. They are not compared on services, because the rows of recorded readings have expired after 30 days. */
const SERIES = /history\?|lifespan|by-hour/

describe.each(RELEASES)('topics and tables written by %s', (release) => {
  describeOnServices('on Kafka and DynamoDB', (services) => {
    test('are opened, answer as before, accept new events and equal the fold of their log', { timeout: 300_000 }, async () => {
      const all = fixture<RecordedServices>(release, 'services.json.gz')
      const recorded = { ...all, answers: all.answers.filter(({ path }) => !SERIES.test(path)) }
      await restore(services.kafka.brokers, services.dynamodb.endpoint, recorded)
      const env = services.env()
      await upgrade(env)
      const server = await startServer(env, ROLES)
      await compareAnswers(server.url, recorded)
      await writesOn(server, recorded)
      for (const domain of DOMAINS) expect(await run(['verify', domain], env)).toMatchObject({ code: 0 })
      expect(await server.stop()).toBe(0)
    })
  })
})

/** Rebuilds each domain whose items were folded with another fold version. A processor runs meanwhile, so that it follows the new generations. */
const upgrade = async (env: Env): Promise<void> => {
  const processor = startCommand(['start', '--roles', 'processor'], { ...env, TRIBUTARY_ADMIN: '127.0.0.1:0', TRIBUTARY_LOG_LEVEL: 'error' })
  for (const domain of [...DOMAINS, 'scales-series']) {
    const { stderr } = await run(['verify', domain], env)
    if (stderr.includes('folds-differ')) await runOk(['rebuild', domain, '--yes'], env)
  }
  processor.kill('SIGTERM')
  await processor.ended
}

/** Writes the recorded topics and tables. A new topic has another identity, so this stores the new identities in the control table. */
const restore = async (brokers: readonly string[], dynamodb: string, { topics, tables }: RecordedServices): Promise<void> => {
  await writeTopics(brokers.join(','), topics)
  const logs = kafkaLogs({ brokers })
  const identities = new Map<string, { readonly cluster: string; readonly topic: string }>()
  for (const { name } of topics) identities.set(name.replace('.events', ''), await (await logs.open(name)).identity())
  await logs.close()
  const changeItem = (table: string, item: WireItem): WireItem => {
    const identity = identities.get(String(item['PK']?.['S']).replace('DOMAIN#', '').replace('-series', ''))
    if (table !== 'tributary-control' || item['SK']?.['S'] !== 'TOPIC' || identity === undefined) return item
    return { ...item, cluster: { S: identity.cluster }, topic: { S: identity.topic } }
  }
  await writeTables(dynamodb, tables, changeItem)
}
