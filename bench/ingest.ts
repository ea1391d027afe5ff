import { join } from 'node:path'
import { compare, post } from './compare.ts'
import { inFolder } from './folder.ts'
import { makeToken, startBare, startTributary } from './servers.ts'

const [CONNECTIONS, SECONDS, ROUNDS, USERS] = [64, 8, 3, 16]

const mealOf = (user: number) => ({
  mealSummary: 'Bowl of chili',
  emoji: '🥣',
  calories: 512.5,
  protein: 31,
  carbs: 48.25,
  fat: 17.125,
  eatenAt: `2026-11-${String(1 + (user % 15)).padStart(2, '0')}T12:30:00+01:00`,
  tz: 'Europe/Berlin',
  notes: 'with rice',
})

/** Measures `POST /v1/meals` whose meals are durable and visible, compared with a bare route that only validates and flushes. */
export const ingestBench = (): Promise<void> =>
  inFolder(async (folder) => {
    const env = { TRIBUTARY_DATA: join(folder, 'data') }
    const server = await startTributary(env)
    const bare = await startBare('bare-server', join(folder, 'bare'))
    try {
      const posts: { token: string; path: string; body: object }[] = []
      for (let user = 0; user < USERS; user += 1)
        posts.push({ token: await makeToken(env, `bench-${user}`), path: '/v1/meals', body: mealOf(user) })
      const load = { connections: CONNECTIONS, seconds: SECONDS }
      await compare({
        title: `ingest: POST /v1/meals at ${CONNECTIONS} connections, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`,
        rate: 'requests/s',
        rounds: ROUNDS,
        ours: { name: 'durable and visible', load: () => post(server, posts, load) },
        bare: { name: 'bare route, same validation, shared flush', load: () => post(bare, posts, load) },
      })
    } finally {
      await server.stop()
      await bare.stop()
    }
  })
