import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { client, freshFolder, newToken, run, startServer } from './program.ts'

const free = { TRIBUTARY_HTTP: '127.0.0.1:0', TRIBUTARY_ADMIN: '127.0.0.1:0', TRIBUTARY_MQTT: '127.0.0.1:0' }
const oneLine = (code: string) => expect.stringMatching(new RegExp(`^tributary: ${code}: [^\\n]+\\n$`))

const takenPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('a start that fails prints the reason in one line, with a code', { timeout: 120_000 }, () => {
  test('a port in use', async () => {
    const port = await takenPort()
    const data = freshFolder()
    expect(await run(['start'], { TRIBUTARY_DATA: data, ...free, TRIBUTARY_HTTP: `127.0.0.1:${port}` })).toMatchObject({
      code: 1,
      stderr: oneLine('port-in-use'),
    })
    expect(await run(['start'], { TRIBUTARY_DATA: data, ...free, TRIBUTARY_ADMIN: `127.0.0.1:${port}` })).toMatchObject(
      { code: 1, stderr: oneLine('port-in-use') },
    )
  })

  test('a second server on the same folder, which does not disturb the first', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    expect(await run(['start'], { ...env, ...free })).toMatchObject({ code: 1, stderr: oneLine('data-folder-in-use') })
    expect((await fetch(`${first.admin}/readyz`)).status).toBe(200)
  })

  test('a data folder of a newer version', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'tributary.json'), '{"format":99}')
    expect(await run(['start'], { TRIBUTARY_DATA: folder, ...free })).toMatchObject({
      code: 1,
      stderr: oneLine('data-folder-newer'),
    })
  })

  test('a data folder that cannot be created', async () => {
    expect(await run(['start'], { TRIBUTARY_DATA: '/proc/none/here', ...free })).toMatchObject({
      code: 1,
      stderr: oneLine('data-folder-unusable'),
    })
  })

  test('a data folder that does not exist yet is created', async () => {
    const server = await startServer({ TRIBUTARY_DATA: join(freshFolder(), 'not', 'yet') })
    expect(await server.stop()).toBe(0)
  })

  test('an unreachable Kafka', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), ...free, TRIBUTARY_KAFKA: '127.0.0.1:1' }
    const { code, stderr } = await run(['start'], env)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: oneLine('log-unavailable') })
    // The process ended, so it must not report that it tries again.
    expect(stderr).not.toContain('tried again')
  })

  test('an unreachable DynamoDB', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), ...free, TRIBUTARY_DYNAMODB: 'http://127.0.0.1:1' }
    const { code, stderr } = await run(['start'], env)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: oneLine('store-unavailable') })
    expect(stderr).not.toContain('tried again')
  })

  test('an edge and an admin port with the same address', async () => {
    const data = join(freshFolder(), 'none')
    expect(
      await run(['start'], {
        TRIBUTARY_DATA: data,
        TRIBUTARY_HTTP: '127.0.0.1:18080',
        TRIBUTARY_ADMIN: '127.0.0.1:18080',
      }),
    ).toMatchObject({ code: 1, stderr: oneLine('bad-config') })
    expect(existsSync(data)).toBe(false)
  })

  test('a configuration with mistakes, all of them at once', async () => {
    const { code, stderr } = await run(['start'], {
      TRIBUTARY_HTTP: 'x',
      TRIBUTARY_LOGLEVEL: 'info',
      TRIBUTARY_KAFKA_PARTITIONS: '0',
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^tributary: bad-config: The configuration has 3 mistakes:\n/)
  })
})

describe('usage', { timeout: 120_000 }, () => {
  test.each([
    [['nonsense']],
    [['start', '--nonsense']],
    [['start', '--roles', 'king']],
    [['start', '--roles', 'edge']],
    [['token', 'create']],
    [['token', 'create', '--user', 'a b']],
    [['token', 'create', '--user', 'ann', '--scopes', 'everything']],
    [['events', '--from', 'yesterday']],
    [['demo', '--rate', 'fast']],
    [['import', 'meals', '/nowhere/file']],
    [['bench', 'nothing']],
    [['parked', 'retry']],
  ])('%j ends with 2 and reports the mistake', async (args) => {
    const { code, stderr, stdout } = await run(args, { TRIBUTARY_DATA: freshFolder() })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toBe('')
  })

  test('help and version go to stdout and end with 0', async () => {
    const help = await run(['--help'], {})
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const command of [
      'start',
      'token',
      'demo',
      'import',
      'status',
      'events',
      'verify',
      'rebuild',
      'parked',
      'schemas',
      'simulate',
      'doctor',
      'bench',
    ])
      expect(help.stdout).toContain(command)
    expect(await run(['--version'], {})).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  test.each([
    [['verify', 'taps']],
    [['events', '--domain', 'taps']],
    [['import', 'taps', 'file']],
    [['rebuild', 'taps', '--yes']],
    [['parked', 'taps']],
    [['token', 'create', '--user', 'ann', '--domain', 'taps']],
  ])('%j names an unknown domain: exit 2, and nothing is created', async (args) => {
    const folder = join(freshFolder(), 'none')
    expect(await run(args, { TRIBUTARY_DATA: folder })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: oneLine('bad-usage'),
    })
    expect(existsSync(folder)).toBe(false)
  })

  test.each([
    [['status']],
    [['events']],
    [['verify']],
    [['rebuild', 'meals', '--yes']],
    [['parked']],
    [['parked', 'retry', '--all']],
    [['token', 'list']],
    [['token', 'revoke', 'x']],
  ])('%j reports a missing data folder, and creates none', async (args) => {
    const folder = join(freshFolder(), 'none')
    expect(await run(args, { TRIBUTARY_DATA: folder })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: oneLine('no-data-folder'),
    })
    expect(existsSync(folder)).toBe(false)
  })

  test('--print-config shows the configuration without secrets', async () => {
    const { stdout } = await run(['start', '--print-config'], {
      TRIBUTARY_KAFKA: 'k:1',
      TRIBUTARY_KAFKA_SASL_USERNAME: 'u',
      TRIBUTARY_KAFKA_SASL_PASSWORD: 'hunter2',
    })
    expect(stdout).toContain('TRIBUTARY_KAFKA=k:1')
    expect(stdout).not.toContain('hunter2')
  })
})

describe('a stop', { timeout: 120_000 }, () => {
  test('accepts no new requests and answers the running ones', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const ann = client(server.url, await newToken(env, 'ann'))
    const posts = Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        ann.post('/v1/meals', {
          mealSummary: `M ${index}`,
          eatenAt: '2026-11-16T12:00:00Z',
          tz: 'UTC',
          calories: 1,
          protein: 1,
          carbs: 1,
          fat: 1,
        }),
      ),
    )
    server.kill('SIGINT')
    expect(await server.ended).toBe(0)
    for (const each of await posts) if (each.status === 'fulfilled') expect([201, 503]).toContain(each.value.status)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('removes its socket', async () => {
    const folder = freshFolder()
    mkdirSync(folder, { recursive: true })
    const server = await startServer({ TRIBUTARY_DATA: folder })
    await server.stop()
    const again = await startServer({ TRIBUTARY_DATA: folder })
    expect(await again.stop()).toBe(0)
  })
})
