import { join } from 'node:path'
import { connectAthlete, stravaControl, type StravaControl } from '../domains/activities/strava-control.ts'
import { stravaLocal } from '../domains/activities/strava-local/service.ts'
import { compare, post } from './compare.ts'
import { inFolder } from './folder.ts'
import { makeToken, startBare, startTributary } from './servers.ts'
import { median, printTable, quantile, ratio } from './table.ts'

const [CONNECTIONS, SECONDS, ROUNDS, ATHLETES] = [64, 8, 3, 16]
const [LATENCY_ROUNDS, REQUESTS, CLIENTS] = [20, 400, 8]
/** The answers of the slow Strava. Eight calls run at once. */
const SLOW_MS = 5_000
/** Enough calls for all rounds. */
const BACKLOG = 4_000

interface Connected {
  readonly url: string
  readonly path: string
  readonly control: StravaControl
  readonly athletes: readonly string[]
  /** A new event of one of the athletes. */
  notice(aspect: 'create' | 'delete'): object
  stop(): Promise<void>
}

const firstAthlete = 800_000_000
/** Ids of 16 digits, which a number contains exactly. */
let lastActivity = 2_000_000_000_000_000

/** Starts a server and a loopback Strava, and connects athletes. */
const startConnected = async (folder: string): Promise<Connected> => {
  const strava = await stravaLocal.start({ port: 0 })
  const env = { ...strava.variables, TRIBUTARY_DATA: folder }
  const server = await startTributary(env)
  const control = stravaControl(strava.url)
  await control('PUT', '/settings', { limits: { overall: [1_000_000, 1_000_000], read: [1_000_000, 1_000_000] } })
  const athletes: string[] = []
  for (let nth = 0; nth < ATHLETES; nth += 1) {
    const athlete = String(firstAthlete + nth)
    const token = await makeToken(env, `bench-${nth}`, 'activities')
    await control('POST', '/athletes', { id: athlete })
    await connectAthlete(control, athlete, async (path) => {
      const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
      const answer = await fetch(`${server.url}${path}`, { headers })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    })
    athletes.push(athlete)
  }
  const { TRIBUTARY_STRAVA_WEBHOOK_SECRET: secret, TRIBUTARY_STRAVA_SUBSCRIPTION_ID: subscription } = strava.variables
  return {
    url: server.url,
    path: `/webhooks/strava/${secret}`,
    control,
    athletes,
    notice: (aspect) => {
      lastActivity += 1
      return {
        object_type: 'activity',
        object_id: lastActivity,
        aspect_type: aspect,
        owner_id: Number(athletes[lastActivity % athletes.length]),
        subscription_id: Number(subscription),
        event_time: Math.floor(Date.now() / 1000),
        updates: {},
      }
    },
    stop: async () => {
      await server.stop()
      await strava.stop()
    },
  }
}

/** Measures accepted webhooks per second, compared with a bare route that only validates and flushes. */
const measureRate = (seconds: number): Promise<void> =>
  inFolder(async (folder) => {
    const server = await startConnected(join(folder, 'data'))
    const bare = await startBare('bare-server', join(folder, 'bare'))
    try {
      const posts = [{ path: server.path, body: () => server.notice('delete') }]
      const load = { connections: CONNECTIONS, seconds }
      await compare({
        title: `webhooks: accepted at ${CONNECTIONS} connections, embedded (median of ${ROUNDS} interleaved rounds of ${seconds} s)`,
        rate: 'webhooks/s',
        rounds: ROUNDS,
        ours: { name: 'durable', load: () => post(server, posts, load) },
        bare: { name: 'bare route, shared flush', load: () => post(bare, posts, load) },
      })
    } finally {
      await server.stop()
      await bare.stop()
    }
  })

const deliver = async ({ url, path }: Connected, notice: object): Promise<number> => {
  const began = performance.now()
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(notice) })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`A webhook was answered ${answer.status}.`)
  return performance.now() - began
}

/** The 99th percentile of the answers to webhooks that cause no fetch, in milliseconds. */
const p99Of = async (server: Connected, requests: number): Promise<number> => {
  const millis: number[] = []
  const client = async (): Promise<void> => {
    for (let nth = 0; nth < requests / CLIENTS; nth += 1) millis.push(await deliver(server, server.notice('delete')))
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return quantile(millis, 0.99)
}

/** Arms more fetches than all rounds can call, with a Strava that answers each call late. Waits until the first call has arrived. */
const occupy = async (server: Connected, backlog: number): Promise<void> => {
  await server.control('POST', '/faults', { path: '/activities/*', kind: 'delay', ms: SLOW_MS, count: 1_000_000 })
  const calls = async (): Promise<string> => {
    const { windows } = (await server.control('GET', '/counters')) as { readonly windows: unknown }
    return JSON.stringify(windows)
  }
  const before = await calls()
  for (let nth = 0; nth < backlog; nth += CLIENTS)
    await Promise.all(Array.from({ length: CLIENTS }, () => deliver(server, server.notice('create'))))
  while ((await calls()) === before) await new Promise((resolve) => setTimeout(resolve, 100))
}

/** The upper bound of a one-sided 95 % confidence interval of the ratio, by Student's t of the logarithms. */
const upperBound = (ratios: readonly number[]): number => {
  const logs = ratios.map(Math.log)
  const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length
  const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logs.length - 1)
  return Math.exp(mean + T_19 * Math.sqrt(variance / logs.length))
}
/** The quantile 0.95 of Student's t with 19 degrees of freedom, for 20 rounds. */
const T_19 = 1.729

/** Compares the answers of a server whose fetcher has no work with those of a server whose fetcher waits for a slow Strava. */
const measureLatency = (requests: number): Promise<void> =>
  inFolder(async (folder) => {
    const [idle, busy] = [await startConnected(join(folder, 'idle')), await startConnected(join(folder, 'busy'))]
    try {
      await occupy(busy, Math.min(BACKLOG, requests * 10))
      const rounds: { readonly idle: number; readonly busy: number }[] = []
      for (let round = 0; round <= LATENCY_ROUNDS; round += 1) {
        const first = round % 2 === 0
        const before = first ? await p99Of(idle, requests) : await p99Of(busy, requests)
        const after = first ? await p99Of(busy, requests) : await p99Of(idle, requests)
        if (round > 0) rounds.push(first ? { idle: before, busy: after } : { idle: after, busy: before })
      }
      const ratios = rounds.map((round) => round.busy / round.idle)
      printTable(
        `webhooks: answers with ${CLIENTS} clients, Strava answers after ${SLOW_MS} ms (${LATENCY_ROUNDS} interleaved rounds)`,
        [
          ['', 'p99 ms (median)'],
          ['fetcher without work', median(rounds.map((round) => round.idle)).toFixed(1)],
          ['fetcher at its limit', median(rounds.map((round) => round.busy)).toFixed(1)],
          ['ratio', ratio(median(ratios))],
          ['ratio, upper 95 % bound', ratio(upperBound(ratios))],
        ],
      )
    } finally {
      await idle.stop()
      await busy.stop()
    }
  })

/** `bench webhooks 1 40` uses rounds of one second, and 40 requests per round of the comparison. */
export const webhooksBench = async (rest: readonly string[]): Promise<void> => {
  const [seconds = SECONDS, requests = REQUESTS] = rest.map(Number)
  await measureRate(seconds)
  await measureLatency(requests)
}
