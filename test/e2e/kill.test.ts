import { expect, test } from 'vitest'
import { expectedDays, startLoad } from './load.ts'
import { client, freshFolder, newToken, run, startServer, until } from './program.ts'

const CYCLES = 5
const ACKS_A_CYCLE = 150

test('kill -9 in the middle of load, again and again: nothing acknowledged is lost, nothing is doubled', async () => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  let server = await startServer(env)
  const tokens = [await newToken(env, 'ann'), await newToken(env, 'bob'), await newToken(env, 'cyd')]
  const load = startLoad({ url: () => server.url, tokens, lanes: 12 })

  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const enough = load.acked.size + ACKS_A_CYCLE
    await until(() => Promise.resolve(load.acked.size >= enough), () => `no progress at ${load.acked.size}: ${server.stderr()}`)
    server.kill('SIGKILL')
    expect(await server.ended).toBe('SIGKILL')
    server = await startServer(env)
  }
  await load.stop()
  await load.settle(() => server.url)
  expect(load.unexpected).toEqual([])

  for (const [user, expected] of expectedDays(load, { tokens }).entries()) {
    const asked = await client(server.url, tokens[user] ?? '').get('/v1/summaries?from=2026-11-16&to=2026-11-16')
    const [day] = asked.body['items'] as readonly { mealCount: number; totalCalories: number }[]
    expect({ meals: day?.mealCount, milliCalories: Math.round((day?.totalCalories ?? 0) * 1000) }).toEqual(expected)
  }
  for (const [key, id] of load.acked) {
    const { status } = await client(server.url, tokens[Number(key) % tokens.length] ?? '').get(`/v1/meals/${id}`)
    expect(status, `meal ${id} of key ${key}`).toBe(200)
  }
  expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  expect(await server.stop()).toBe(0)
  expect(await run(['verify'], env)).toMatchObject({ code: 0 })
}, 180_000)
