import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DynamoDB, type ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { kafkaLogs } from '../../processors/adapters/kafka/logs.ts'
import { prepared } from '../prepared.ts'
import { describeOnServices } from './on-services.ts'
import { client, freshFolder, newToken, run, startServer, runOk, until } from './program.ts'
import type { Env } from './program.ts'

const WORDS = ['Grandmother Ottilie', 'swallowed secretly', 'Anns telephone']

const meal = (index: number) => ({
  mealSummary: `Soup of ${WORDS[0]}`,
  notes: `${WORDS[1]} ${index}`,
  eatenAt: `2026-11-16T${String(6 + (index % 12)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}:00Z`,
  tz: 'UTC',
  calories: 100,
  protein: 10,
  carbs: 20,
  fat: 5,
})

const filesContainingWords = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      statSync(join(folder, name)).isFile() && WORDS.some((word) => readFileSync(join(folder, name)).includes(word)),
  )

const eat = async (url: string, token: string, count: number): Promise<void> => {
  const { post, send } = client(url, token)
  for (let index = 0; index < count; index += 1) {
    const { status, body } = await post('/v1/meals', meal(index))
    expect(status).toBe(201)
    if (index === 1) expect((await send('DELETE', `/v1/meals/${String(body['id'])}`)).status).toBe(200)
    if (index === 2)
      expect((await send('PATCH', `/v1/meals/${String(body['id'])}`, { notes: `${WORDS[1]} again` })).status).toBe(200)
  }
}

const tokenFor = (env: Env, user: string) =>
  runOk(['token', 'create', '--user', user, '--name', WORDS[2] as string], env)

const mealsOfAnn = prepared(async (folder) => {
  const env = { TRIBUTARY_DATA: folder }
  const server = await startServer(env)
  await eat(server.url, await tokenFor(env, 'ann'), 5)
  await server.stop()
})

describe('tributary forget', { timeout: 240_000 }, () => {
  test('next to a running server: no trace in the folder or its logs, the token is revoked, rebuilds agree', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_LOG_LEVEL: 'trace' }
    const server = await startServer(env)
    const token = await tokenFor(env, 'ann')
    await eat(server.url, token, 60)
    expect(await run(['rebuild', 'meals', '--no-flip', '--yes'], env)).toMatchObject({ code: 0 })
    await until(
      () => Promise.resolve(filesContainingWords(env.TRIBUTARY_DATA).length > 0),
      () => 'the items are not on disk',
    )
    const forgot = JSON.parse(await runOk(['forget', '--subject', 'ann', '--yes', '--json'], env)) as object
    expect(forgot).toMatchObject({ subject: 'ann', was: 'known', items: 61, left: [] })
    expect(filesContainingWords(env.TRIBUTARY_DATA)).toEqual([])
    expect(await client(server.url, token).get('/v1/meals?day=2026-11-16')).toMatchObject({ status: 401 })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await run(['rebuild', 'meals', '--yes'], env)).toMatchObject({ code: 0 })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(filesContainingWords(env.TRIBUTARY_DATA)).toEqual([])
    expect(await runOk(['forget', 'ann', '--yes'], env)).toContain('already forgotten')
    const back = await newToken(env, 'ann')
    expect(
      (await client(server.url, back).post('/v1/meals', { ...meal(0), mealSummary: 'Somebody new', notes: 'x' }))
        .status,
    ).toBe(201)
    const { body } = await client(server.url, back).get('/v1/meals?day=2026-11-16')
    expect(
      (body['items'] as readonly { mealSummary: string | null }[])
        .map(({ mealSummary }) => mealSummary)
        .filter((text) => text !== null),
    ).toEqual(['Somebody new'])
    expect(await server.stop()).toBe(0)
    for (const word of WORDS) expect(server.stderr()).not.toContain(word)
    expect(filesContainingWords(env.TRIBUTARY_DATA)).toEqual([])
  })

  test('without a server the result is the same', async () => {
    const env = { TRIBUTARY_DATA: (await mealsOfAnn()).folder }
    expect(filesContainingWords(env.TRIBUTARY_DATA).length).toBeGreaterThan(0)
    expect(await runOk(['forget', '--subject', 'ann', '--yes'], env)).toContain('ann is forgotten')
    expect(filesContainingWords(env.TRIBUTARY_DATA)).toEqual([])
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('killed several times in the middle and run again, it has the same result', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    let server = await startServer(env)
    const token = await tokenFor(env, 'ann')
    await eat(server.url, token, 30)
    for (const afterMs of [150, 250, 300, 350, 450, 600]) {
      const forgetting = run(['forget', '--subject', 'ann', '--yes'], env)
      await delay(afterMs)
      server.kill('SIGKILL')
      await Promise.all([server.ended, forgetting])
      server = await startServer(env)
    }
    expect(await run(['forget', '--subject', 'ann', '--yes'], env)).toMatchObject({ code: 0 })
    expect(filesContainingWords(env.TRIBUTARY_DATA)).toEqual([])
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await client(server.url, token).get('/v1/meals?day=2026-11-16')).toMatchObject({ status: 401 })
    await server.stop()
  })

  test('reports wrong arguments', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    expect(await run(['forget'], env)).toMatchObject({ code: 2 })
    expect(await run(['forget', 'ann', '--subject', 'bob'], env)).toMatchObject({ code: 2 })
    expect(await run(['forget', '--subject', 'ann', '--yes'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no-data-folder') as string,
    })
  })

  test('every command reports a missing key store once, and works again when it is restored', async () => {
    const env = { TRIBUTARY_DATA: (await mealsOfAnn()).folder }
    const [keys, away] = [join(env.TRIBUTARY_DATA, 'keys'), join(env.TRIBUTARY_DATA, 'away')]
    renameSync(keys, away)
    for (const args of [['start'], ['verify'], ['forget', '--subject', 'ann', '--yes'], ['status']]) {
      expect(await run(args, env)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^tributary: key-store-gone: [^\n]*Restore it[^\n]*\n$/) as string,
      })
    }
    renameSync(away, keys)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })
})

describeOnServices(
  'tributary forget on Kafka and DynamoDB',
  (services) => {
    test(
      'no trace in any table or in the topic, with two processors and an edge that have cached the key',
      { timeout: 300_000 },
      async () => {
        const { kafka, dynamodb } = services
        const env = services.env({
          TRIBUTARY_KAFKA_PARTITIONS: '2',
          TRIBUTARY_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        })
        const edge = await startServer(env, ['--roles', 'edge'])
        const processors = [
          await startServer(env, ['--roles', 'processor']),
          await startServer(env, ['--roles', 'processor']),
        ]
        const [token, other] = [await tokenFor(env, 'ann'), await newToken(env, 'bob')]
        await eat(edge.url, token, 12)
        expect(
          (await client(edge.url, other).post('/v1/meals', { ...meal(0), mealSummary: 'Bread of Bob', notes: 'b' }))
            .status,
        ).toBe(201)
        const before = await everyRow(dynamodb.endpoint)
        expect(before).toContain(WORDS[0])
        expect(await topicBytes(kafka.brokers)).toMatchObject({ hasText: false })
        expect(JSON.parse(await runOk(['forget', '--subject', 'ann', '--yes', '--json'], env))).toMatchObject({
          was: 'known',
          items: 13,
          left: [],
        })
        const after = await everyRow(dynamodb.endpoint)
        for (const word of WORDS) expect(after).not.toContain(word)
        expect(after).toContain('Bread of Bob')
        expect(await topicBytes(kafka.brokers)).toMatchObject({ hasText: false })
        expect(await client(edge.url, token).get('/v1/meals?day=2026-11-16')).toMatchObject({ status: 401 })
        expect(await run(['verify'], env)).toMatchObject({ code: 0 })
        expect(await run(['rebuild', 'meals', '--yes'], env)).toMatchObject({ code: 0 })
        expect(await run(['verify'], env)).toMatchObject({ code: 0 })
        expect(await everyRow(dynamodb.endpoint)).not.toContain(WORDS[0])
        for (const server of [edge, ...processors]) {
          expect(await server.stop()).toBe(0)
          for (const word of WORDS) expect(server.stderr()).not.toContain(word)
        }
      },
    )
  },
  { long: true },
)

/** Every item of every table, as DynamoDB returns it. */
const everyRow = async (endpoint: string): Promise<string> => {
  const dynamo = new DynamoDB({ endpoint, region: 'local', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } })
  const found: string[] = []
  for (const TableName of (await dynamo.listTables({})).TableNames ?? []) {
    let start: ScanCommandOutput['LastEvaluatedKey']
    do {
      const page: ScanCommandOutput = await dynamo.scan({
        TableName,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      })
      found.push(JSON.stringify(page.Items))
      start = page.LastEvaluatedKey
    } while (start !== undefined)
  }
  dynamo.destroy()
  return found.join('\n')
}

const topicBytes = async (brokers: readonly string[]): Promise<{ records: number; hasText: boolean }> => {
  const logs = kafkaLogs({ brokers, partitions: 2 })
  const log = await logs.open('meals.events')
  let [records, hasText] = [0, false]
  for (const { partition, low, high } of await log.watermarks()) {
    for await (const some of log.read(partition, low, high)) {
      records += some.length
      hasText ||= some.some(({ value }) => WORDS.some((word) => Buffer.from(value).includes(word)))
    }
  }
  await logs.close()
  return { records, hasText }
}
