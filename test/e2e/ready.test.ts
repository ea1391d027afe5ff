import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { differencesOf, progress, startLoad } from './load.ts'
import { client, freshFolder, meal, newToken, readiness, startServer, until } from './program.ts'

describe('readiness', { timeout: 180_000 }, () => {
  test('after a kill under load and a restart, the program shows every acknowledged event as soon as it is ready', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    let server = await startServer(env)
    const tokens = [await newToken(env, 'ann'), await newToken(env, 'bob'), await newToken(env, 'cyd')]
    for (let cycle = 0; cycle < 3; cycle += 1) {
      const load = startLoad({
        url: () => server.url,
        tokens,
        connections: 8,
        day: `2026-11-1${cycle}`,
        first: cycle * 100_000,
      })
      await progress(load, server, 200)
      server.kill('SIGKILL')
      await server.ended
      await load.stop()
      const acknowledged = load.acked.size
      server = await startServer(env)
      const shown = await Promise.all(
        tokens.map(
          async (token) =>
            (
              (await client(server.url, token).get(`/v1/summaries?from=2026-11-1${cycle}&to=2026-11-1${cycle}`)).body[
                'items'
              ] as readonly { mealCount: number }[]
            )[0]?.mealCount ?? 0,
        ),
      )
      expect(shown.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(acknowledged)
      await load.settle(() => server.url)
      expect(await differencesOf(load, { url: () => server.url, tokens, day: `2026-11-1${cycle}` })).toEqual([])
    }
    expect(await server.stop()).toBe(0)
  })

  test('a process is not ready while the store rejects writes, and ready again when the store accepts them', async (context) => {
    const data = freshFolder()
    const tables = join(data, 'tables')
    mkdirSync(tables)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', tables]).status !== 0)
      context.skip('a disk of its own cannot be mounted here (it needs root)')
    onTestFinished(() => void spawnSync('umount', ['-l', tables]))
    const env = { TRIBUTARY_DATA: data }
    const server = await startServer(env)
    const ann = client(server.url, await newToken(env, 'ann'))
    expect((await ann.post('/v1/meals', meal(1))).status).toBe(201)
    const free = Number(spawnSync('df', ['--output=avail', '-B1', tables], { encoding: 'utf8' }).stdout.split('\n')[1])
    writeFileSync(join(tables, 'filler'), Buffer.alloc(free - 4 * 1024 * 1024))
    expect([201, 202]).toContain((await ann.post('/v1/meals', meal(2))).status)
    await until(
      async () => (await readiness(server)).status === 503,
      () => 'it went on being ready on a full disk',
    )
    expect((await readiness(server)).text).toMatch(
      /^meals does not fold: store-unavailable: the store cannot be read or written/,
    )
    rmSync(join(tables, 'filler'))
    await until(
      async () => (await readiness(server)).status === 200,
      () => `not ready again: ${server.stderr()}`,
    )
    const day = await ann.get('/v1/summaries?from=2026-11-16&to=2026-11-16')
    expect(day.body['items']).toMatchObject([{ mealCount: 2 }])
    expect(await server.stop()).toBe(0)
  })
})
