import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect } from '../../processors/adapters/dynamodb/connect.ts'
import { dynamoStores } from '../../processors/adapters/dynamodb/store.ts'
import { meals } from '../../processors/meals/domain.ts'
import { describeOnServices } from './on-services.ts'
import {
  client,
  freshFolder,
  meal,
  newToken,
  readiness,
  run,
  startServer,
  runOk,
  until,
  type Env,
  type Server,
} from './program.ts'

const READS: readonly (readonly string[])[] = [
  ['status'],
  ['events'],
  ['verify'],
  ['explain', 'meals', 'USER#ann'],
  ['doctor'],
  ['generations'],
  ['parked'],
  ['token', 'list'],
]

const days = '/v1/summaries?from=2026-11-16&to=2026-11-16'

describeOnServices('a lost table, on Kafka and DynamoDB Local', (services) => {
  const tables = async (): Promise<readonly string[]> =>
    (await connect({ endpoint: services.dynamodb.endpoint }).listTables({})).TableNames ?? []

  /** Posts five meals of ann. Returns her client, and the answer that shows them. */
  const pour = async (env: Env, server: Server) => {
    const ann = client(server.url, await newToken(env, `ann-${process.pid}-${Date.now()}`))
    for (let index = 0; index < 5; index += 1) expect((await ann.post('/v1/meals', meal(index))).status).toBe(201)
    return { ann, shown: (await ann.get(days)).body }
  }

  test('commands that read create nothing: before the first start they report that nothing was started', async () => {
    const env = services.env()
    for (const command of READS.filter(([name]) => name !== 'doctor'))
      expect(await run(command, env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('domain-unknown') as string,
      })
    expect(await run(['doctor'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not started yet') as string,
    })
    expect(await tables()).toEqual([])
  }, 180_000)

  test('a deleted table of the serving generation is reported by every process, never created, and replaced by a rebuild', async () => {
    const env = services.env()
    const server = await startServer(env)
    const { ann, shown } = await pour(env, server)
    await connect({ endpoint: services.dynamodb.endpoint }).deleteTable({ TableName: meals.table.name })
    for (const path of [days, '/v1/meals?day=2026-11-16']) {
      const answer = await ann.get(path)
      expect({ status: answer.status, type: answer.headers.get('content-type'), code: answer.body['code'] }).toEqual({
        status: 503,
        type: expect.stringContaining('application/problem+json') as string,
        code: 'table-missing',
      })
    }
    expect((await ann.post('/v1/meals', meal(7))).status).toBe(503)
    await until(
      async () => (await readiness(server)).status === 503,
      () => 'the server stayed ready without its table',
    )
    expect((await readiness(server)).text).toContain('table-missing')
    for (const command of READS) {
      const { code, stdout, stderr } = await run(command, env)
      if (['status', 'doctor'].includes(command[0] ?? ''))
        expect({ command, code, printed: `${stdout}${stderr}` }).toMatchObject({
          code: 1,
          printed: expect.stringContaining('table-missing') as string,
        })
      expect(await tables(), command.join(' ')).not.toContain(meals.table.name)
    }
    expect(await runOk(['generations', 'meals', '--json'], env)).toContain('"state":"missing"')
    expect(server.stderr()).toContain('table-missing')
    await runOk(['rebuild', 'meals', '--yes'], env)
    await until(
      async () => (await readiness(server)).status === 200,
      () => `not ready again: ${server.stderr()}`,
    )
    expect((await ann.get(days)).body).toEqual(shown)
    expect(await run(['verify', 'meals'], env)).toMatchObject({ code: 0 })
    await runOk(['generations', 'meals', '--drop', '1', '--yes'], env)
    expect(await server.stop()).toBe(0)
  }, 240_000)

  test('a serving table that was created anew under load is folded again from the beginning, and no request is answered with 401', async () => {
    const env = services.env()
    const server = await startServer(env)
    const { ann, shown } = await pour(env, server)
    const {
      meals: { table },
    } = (await (await fetch(`${server.admin}/v1/tables`)).json()) as { meals: { table: string } }
    const generation = Number(/\.g(\d+)$/.exec(table)?.[1] ?? 1)
    const stores = dynamoStores({ endpoint: services.dynamodb.endpoint })
    await stores.drop(meals.table, generation)
    await until(
      async () => (await ann.get(days)).status === 503,
      () => 'the table is still there',
    )
    await stores.create(meals.table, generation)
    const seen = new Set<number>()
    await until(
      async () => {
        const answer = await ann.get(days)
        seen.add(answer.status)
        return answer.status === 200 && JSON.stringify(answer.body) === JSON.stringify(shown)
      },
      () => `${[...seen].join(', ')}: ${server.stderr()}`,
    )
    expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect((await ann.post('/v1/meals', meal(9))).status).toBe(201)
    await until(
      async () => (await readiness(server)).status === 200,
      () => `not ready again: ${server.stderr()}`,
    )
    expect(await run(['verify', 'meals'], env)).toMatchObject({ code: 0 })
    expect(await run(['parked'], env)).toMatchObject({ code: 0 })
    await stores.close()
    expect(await server.stop()).toBe(0)
  }, 240_000)
})

describe('a lost table, embedded', { timeout: 180_000 }, () => {
  test('a generation whose folder is gone is reported, not created, and replaced by a rebuild', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const ann = client(first.url, await newToken(env, 'ann'))
    expect((await ann.post('/v1/meals', meal(1))).status).toBe(201)
    const shown = (await ann.get(days)).body
    expect(await first.stop()).toBe(0)
    rmSync(join(env.TRIBUTARY_DATA, 'tables', meals.table.name, 'g1'), { recursive: true })
    expect(await run(['status'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('table-missing') as string,
    })
    await runOk(['rebuild', 'meals', '--yes'], env)
    const second = await startServer(env)
    const token = await newToken(env, 'ann')
    expect((await client(second.url, token).get(days)).body).toEqual(shown)
    expect(await run(['verify', 'meals'], env)).toMatchObject({ code: 0 })
    expect(await second.stop()).toBe(0)
  })
})
