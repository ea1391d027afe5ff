import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createOutput } from '../../cli/output.ts'
import { createDomains } from '../../domains/domains.ts'
import { createProgram } from '../../cli/program.ts'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { meals } from '../../processors/meals/domain.ts'
import {
  cleanEnv,
  client,
  freshFolder,
  meal,
  newToken,
  run,
  runProcess,
  sharedServer,
  startServer,
  runOk,
} from './program.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'tributary.js')

/** Appends a record, as another producer could, to the log of a stopped program. */
const plant = async (folder: string, key: string, value: Uint8Array): Promise<void> => {
  const logs = lmdbLogs({ folder: join(folder, 'log') })
  await (await logs.open(meals.topic)).append([{ key, value }])
  await logs.close()
}

/** Every command once, with the expected exit code. The commands run in this order on one data folder, each in a process of its own. */
const EACH: readonly (readonly [args: readonly string[], code: number])[] = [
  [['token', 'create', '--user', 'ann'], 0],
  [['token', 'list'], 0],
  [['token', 'revoke', 'none'], 1],
  [['append', 'meals', 'MealLogged', '{}', '--key', 'ann'], 1],
  [['import', 'meals', '/nowhere/file'], 2],
  [['export', 'expenses', 'none'], 1],
  [['status'], 0],
  [['events'], 0],
  [['explain', 'meals', 'USER#ann'], 0],
  [['cost', 'meals'], 0],
  [['schemas', 'check'], 0],
  [['schemas', 'show'], 0],
  [['schemas', 'codegen', '--folder', '/nowhere'], 1],
  [['verify', 'meals'], 0],
  [['rebuild', 'meals', '--yes'], 0],
  [['flip', 'meals', '--to', '1'], 0],
  [['generations', 'meals'], 0],
  [['parked', 'list'], 0],
  [['parked', 'show', 'none'], 1],
  [['parked', 'discard', 'none', '--reason', 'a test'], 1],
  [['parked', 'retry', '--all'], 0],
  [['forget', 'bob', '--yes'], 0],
  [['backup', '/proc/none', '--keys', '/proc/none'], 2],
  [['restore', '/nowhere/backup', '--keys', '/nowhere/keys'], 1],
  [['demo', '--seconds', '1'], 0],
  [['doctor'], 0],
  [['asks', 'list'], 0],
  [['asks', 'release', '--all'], 0],
  [['simulate', '--seeds', '1'], 0],
  [['completion', 'bash'], 0],
  [['new', 'No-Name'], 2],
  [['bench', 'nothing'], 2],
  [['start', '--print-config'], 0],
]

/** The test of `events --follow` lists all events of this server, so no other test may append events to it. */
const shared = sharedServer()

/** The full names of the commands without subcommands, such as `parked list`. */
const namesOf = (command: Command, path: readonly string[] = []): readonly string[] =>
  command.commands.flatMap((each) =>
    each.commands.length > 0 ? namesOf(each, [...path, each.name()]) : [[...path, each.name()].join(' ')],
  )

describe('commands', { timeout: 120_000 }, () => {
  test('each command runs in its own process', { timeout: 300_000 }, async () => {
    const output = createOutput({ out: { write: () => true }, err: { write: () => true }, color: false, now: Date.now })
    const names = namesOf(
      createProgram(
        { env: {}, output, input: process.stdin, signal: new AbortController().signal },
        () => undefined,
        createDomains([]),
      ),
    )
    expect(
      EACH.map(([args]) =>
        names.find((name) => args.join(' ').startsWith(`${name} `) || args.join(' ') === name),
      ).toSorted(),
    ).toEqual(names.toSorted())
    const env = { TRIBUTARY_DATA: freshFolder() }
    // While a server runs, commands start faster, because they load fewer modules.
    await startServer(env)
    for (const [args, code] of EACH) {
      const ran = await runProcess(args, env)
      expect({ args, ...ran }).toMatchObject({ args, code })
      expect(ran.stdout + ran.stderr, args.join(' ')).not.toBe('')
    }
  })

  test('events --follow begins at the end of the log or with the last events, and ends with 130 when it is interrupted', async () => {
    const { env, server } = await shared()
    const ann = client(server.url, await newToken(env, 'ann'))
    /** Runs `events --follow`, posts a meal, and returns the printed meals up to this one. A `PatIssued` event is returned as its type. */
    const follow = async (args: readonly string[], posted: number): Promise<readonly string[]> => {
      const following = spawn(process.execPath, [program, 'events', '--follow', '--json', ...args], {
        env: cleanEnv(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      await once(createInterface({ input: following.stderr }), 'line')
      await ann.post('/v1/meals', meal(posted))
      const shown: string[] = []
      for await (const line of createInterface({ input: following.stdout })) {
        const { type, event } = JSON.parse(line) as {
          type: string
          event: { personal: { mealSummary?: string } | null }
        }
        if (type === 'PatIssued' || type === 'MealLogged') shown.push(event.personal?.mealSummary ?? type)
        if (shown.includes(`Meal ${posted}`)) break
      }
      following.kill('SIGINT')
      expect(await once(following, 'exit')).toEqual([130, null])
      return shown
    }
    expect(await follow([], 1)).toEqual(['Meal 1'])
    expect(await follow(['--last', '100'], 2)).toEqual(['PatIssued', 'Meal 1', 'Meal 2'])
    expect((await runOk(['events', '--last', '2', '--json'], env)).split('\n')).toHaveLength(2)
    expect(await runOk(['events'], env)).toMatch(/ MealLogged .* personal \{"mealSummary":"Meal 2"/)
    expect(await run(['events', '--last', '0'], env)).toMatchObject({ code: 2 })
  })

  test('status --watch prints the status repeatedly until it is interrupted, and ends with 130', async () => {
    const { env } = await shared()
    const watching = spawn(process.execPath, [program, 'status', '--watch', '--json'], {
      env: cleanEnv(env),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [first] = (await once(createInterface({ input: watching.stdout }), 'line')) as [string]
    watching.kill('SIGINT')
    expect(await once(watching, 'exit')).toEqual([130, null])
    expect(JSON.parse(first)).toMatchObject({ domain: 'meals', parked: 0 })
  })

  test('events by time, by key, and all events', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    await newToken(env, 'ann')
    await newToken(env, 'bob')
    const count = async (...args: string[]): Promise<number> =>
      (await runOk(['events', '--json', ...args], env)).split('\n').filter((line) => line !== '').length
    expect(await count()).toBe(2)
    expect(await count('--key', 'bob')).toBe(1)
    expect(await count('--key', 'nobody')).toBe(0)
    expect(await count('--from', '2000-01-01', '--to', '2001-01-01T00:00:00Z')).toBe(0)
    expect(await count('--from', '2000-01-01')).toBe(2)
  })

  test('an event that cannot be folded is parked and reported by exit code 4 and a metric, and other keys are served', async () => {
    const folder = freshFolder()
    const env = { TRIBUTARY_DATA: folder }
    await plant(folder, 'ann', Buffer.from([0, 127, 255, 255, 255, 1, 2, 3]))
    const server = await startServer(env)
    const bob = client(server.url, await newToken(env, 'bob'))
    expect((await bob.post('/v1/meals', meal(1))).status).toBe(201)
    const parked = await run(['parked', 'meals', '--json'], env)
    expect(parked.code).toBe(4)
    const { id, code } = JSON.parse(parked.stdout) as { id: string; code: string }
    expect(code).toBe('unknown-schema')
    expect(await run(['parked', 'show', id], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('007fffffff010203'),
    })
    expect(await run(['parked', 'retry', id], env)).toMatchObject({ code: 4 })
    expect(await run(['status'], env)).toMatchObject({ code: 4 })
    expect(await (await fetch(`${server.admin}/metrics`)).text()).toContain('tributary_parked_keys{domain="meals"} 1')
    expect(await run(['doctor'], env)).toMatchObject({ code: 1, stdout: expect.stringContaining('parked') })
    expect(await run(['verify', 'meals'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^meals: \d+ events folded, \d+ items compared, 0 differ; 1 key is parked/),
    })
  })

  test('schemas, simulate and doctor report no problem if there is none', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    expect(await run(['schemas', 'check'], env)).toMatchObject({ code: 0 })
    expect(
      (await runOk(['schemas', 'show', '--json'], env))
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toContain('tributary.meals.MealLogged')
    expect(await run(['simulate', '--seeds', '3', '--json'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"seeds":3/),
    })
    expect(await run(['doctor'], env)).toMatchObject({ code: 0 })
    expect(await run(['doctor'], { ...env, TRIBUTARY_KAFKA: '127.0.0.1:1' })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD  Kafka 127.0.0.1:1'),
    })
    expect(await run(['doctor'], { ...env, TRIBUTARY_HTTP: 'x' })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('bad-config'),
    })
  })

  test('the admin port serves liveness, readiness, metrics and tables, and nothing else', async () => {
    const { server } = await shared()
    const status = async (path: string): Promise<number> => (await fetch(`${server.admin}${path}`)).status
    expect(await Promise.all(['/livez', '/readyz', '/metrics', '/v1/tables', '/', '/v1/meals'].map(status))).toEqual([
      200, 200, 200, 200, 404, 404,
    ])
    const metrics = await (await fetch(`${server.admin}/metrics`)).text()
    for (const name of [
      'build_info',
      'events_appended_total',
      'lag_events',
      'lag_seconds',
      'fold_conflicts_total',
      'parked_keys',
    ].map((each) => `tributary_${each}`)) {
      expect(metrics).toContain(`# TYPE ${name} `)
    }
    expect(await (await fetch(`${server.admin}/v1/tables`)).json()).toEqual({
      meals: { table: 'chatkcal', generation: 1 },
      scales: { table: 'scale-sense', generation: 1 },
      'scales-series': { table: 'scale-sense-series', generation: 1 },
      expenses: { table: 'FractiTable', generation: 1 },
      activities: { table: 'CommitCollect', generation: 1 },
      'activities-audit': { table: 'CommitCollectAudit', generation: 1 },
    })
  })

  test('cost computes the price of the log by the documented rules, and compares it with one transaction per event', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    await newToken(env, 'ann')
    await newToken(env, 'bob')
    const cost = JSON.parse(await runOk(['cost', 'meals', '--json', '--events-per-month', '1000000'], env)) as {
      source: { events: number; domain: number }
      trickle: { domain: number; bookkeeping: number }
      eventsPerMonth: number
    }
    expect(cost).toMatchObject({ source: { events: 2 }, eventsPerMonth: 1_000_000 })
    expect(cost.trickle.domain).toBe(cost.source.domain)
    expect(await runOk(['cost', 'meals', '--events-per-month', '1000000', '--write-price', '1'], env)).toMatch(
      /one transaction per event .* \$\d+\.\d\d/,
    )
    expect(await run(['cost', 'meals', '--write-price', 'much'], env)).toMatchObject({ code: 2 })
  })

  test('verify reports a drifted item and ends with exit code 3', async () => {
    const folder = freshFolder()
    const env = { TRIBUTARY_DATA: folder }
    await newToken(env, 'ann')
    const { lmdbStores } = await import('../../processors/adapters/lmdb/store.ts')
    const stores = lmdbStores({ folder: join(folder, 'tables') })
    const store = await stores.open(meals.table, 1)
    await store.bulk([{ PK: 'USER#ann', SK: 'SUMMARY#2026-11-16', totalCalories: 1, _pos: 0 }])
    await stores.close()
    expect(await run(['verify', 'meals'], env)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('extra USER#ann SUMMARY#2026-11-16'),
    })
    expect(await run(['verify', 'meals', '--key', 'ann'], env)).toMatchObject({ code: 3 })
    expect(await run(['verify', 'meals', '--key', 'bob'], env)).toMatchObject({ code: 0 })
    expect(await run(['rebuild', 'meals', '--yes'], env)).toMatchObject({ code: 0 })
    expect(await run(['verify', 'meals'], env)).toMatchObject({ code: 0 })
  })
})
