import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plantsPackage } from './package-of-domain.ts'
import { client, run, runOk, startServer, type Env, type Server } from './program.ts'

const cleanups: (() => Promise<void> | void)[] = []
let folder: string
let env: Env
let server: Server
const tributary = (...args: readonly string[]): Promise<string> => runOk(args, env)

beforeAll(async () => {
  const parent = mkdtempSync(join(tmpdir(), 'tributary-e2e-'))
  cleanups.push(() => rmSync(parent, { recursive: true, force: true }))
  folder = await plantsPackage(parent)
  env = { TRIBUTARY_DATA: join(folder, 'data'), TRIBUTARY_DOMAINS: `meals,${join(folder, 'dist', 'with-demo.js')}` }
  server = await startServer(env, [], (kill) => void cleanups.push(kill))
})
afterAll(async () => {
  for (const clean of cleanups.toReversed()) await clean()
})

describe('a domain in a package of its own, next to meals', () => {
  test('the server answers its routes', async () => {
    const { post, get, send } = client(
      server.url,
      await tributary('token', 'create', '--user', 'ada', '--domain', 'plants'),
    )
    const { status, body } = await post('/v1/plants/entries', { amount: 250, note: 'fern' })
    expect({ status, body }).toMatchObject({ status: 201, body: { amount: 250, note: 'fern' } })
    expect((await get('/v1/plants/summary')).body).toEqual({ entries: 1, total: 250 })
    expect((await get('/v1/plants/entries')).body).toMatchObject({ items: [{ id: body['id'], amount: 250 }] })
    expect((await post('/v1/plants/entries', { amount: 0 })).status).toBe(400)
    // The package throws this error with its own copy of the error class, and the server must recognize it.
    expect(await send('DELETE', '/v1/plants/entries/e!')).toMatchObject({
      status: 404,
      body: { code: 'entry-not-found' },
    })
    expect((await get('/v1/meals')).status).toBe(401)
  })

  test('GET /openapi.json and GET /asyncapi.json contain its routes and events next to those of meals', async () => {
    const { get } = client(server.url, '')
    expect((await get('/openapi.json')).body['paths']).toMatchObject({
      '/v1/plants/entries': { post: { operationId: 'addPlantsEntry' } },
      '/v1/meals': {},
    })
    expect((await get('/asyncapi.json')).body['channels']).toMatchObject({
      plantsEvents: { address: 'plants.events', messages: { EntryAdded: {}, EntryRemoved: {}, PatIssued: {} } },
      mealsEvents: { messages: { MealLogged: {} } },
    })
  })

  test('append, events, explain, status, verify, rebuild and demo work for it', async () => {
    const event = ['append', 'plants', 'EntryAdded', '{"entryId":"e1","amount":5}', '--key', 'bob', '--yes']
    expect(await tributary(...event)).toMatch(/^0:\d+ EntryAdded of bob \(event \S+\): accepted$/)
    expect(await run(['append', 'plants', 'EntryAdded', '{"entryId":"e 1","amount":5}', '--key', 'bob', '--yes'], env))
      // The domain record of the package contains the rule for this field.
      .toMatchObject({ code: 1, stderr: expect.stringContaining('an id of up to 64 letters, digits and -') })
    expect(await tributary('events', '--domain', 'plants', '--key', 'bob')).toContain(
      'bob EntryAdded {"entryId":"e1","amount":5}',
    )
    expect(await tributary('explain', 'plants', 'USER#bob', 'SUMMARY')).toContain('"entries":1,"total":5')
    expect(await tributary('status')).toMatch(/^plants +g1 /m)
    expect(await tributary('rebuild', 'plants', '--diff', '--yes')).toContain('no item and no decision changes')
    expect(await tributary('demo', '--domain', 'plants', '--seconds', '1', '--rate', '5')).toContain(
      '5 requests, answered 5 × 201',
    )
    expect(await tributary('verify', 'plants')).toMatch(
      /^plants: [1-9]\d* events folded, [1-9]\d* items compared, 0 differ$/,
    )
    expect(await tributary('rebuild', 'plants', '--yes')).toMatch(/generation \d+ of plants/)
    expect(await tributary('doctor')).toMatch(/^ok {3}pipeline: meals g1, .*; plants g3, 0 events behind$/m)
  })

  test('the simulation runs its workload and its invariants, and names the command that repeats a failing run', async () => {
    expect(await tributary('simulate', '--seeds', '8')).toMatch(/^8 seeds, .* no rule broken$/)
    const broken = { TRIBUTARY_DOMAINS: join(folder, 'dist', 'broken.js') }
    const { code, stdout } = await run(['simulate', '--seeds', '8'], broken)
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('domain: a planted mistake') })
    const [, command = ''] = /repeat it with: tributary (simulate --seed \d+)$/m.exec(stdout) ?? []
    expect(await run(command.split(' '), broken)).toMatchObject({ code: 1, stdout })
  })

  test('its schemas can change, and a change that older events do not survive is an error', async () => {
    const file = join(folder, 'schemas', 'plants.avdl')
    const types = join(folder, 'src', 'generated')
    const codegen = (...options: readonly string[]) =>
      run(['schemas', 'codegen', '--folder', join(folder, 'schemas'), '--types', types, ...options], env)
    const declare = (amount: string): void =>
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(/(EntryAdded \{\n {4}string entryId;\n).*\n/, `$1${amount}\n`),
      )
    expect(await codegen('--check')).toMatchObject({ code: 0, stderr: '' })

    declare('    int amount; string place = "";')
    expect(await codegen('--check')).toMatchObject({ code: 1, stderr: expect.stringContaining('plants.ts differs') })
    expect(await run(['schemas', 'check'], env)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('plants.EntryAdded: lock-current'),
    })
    expect(await codegen('--lock')).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(join(types, 'plants.ts'), 'utf8')).toContain('readonly place: string')
    expect(await run(['schemas', 'check'], env)).toMatchObject({ code: 0 })
    expect(lastLocked()).toMatchObject({ version: 2 })

    declare('    string amount;')
    expect(await codegen('--lock')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^plants\.EntryAdded: readable-by-all-versions: Version 3 cannot read version 1: /m,
      ),
    })
    expect(lastLocked()).toMatchObject({ version: 2 })
  })
})

const lastLocked = (): { readonly version: number } | undefined => {
  const { schemas } = JSON.parse(readFileSync(join(folder, 'schemas', 'lock.json'), 'utf8')) as {
    readonly schemas: readonly { readonly version: number }[]
  }
  return schemas.at(-1)
}
