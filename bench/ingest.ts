import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { makeToken, startBare, startTributary, type Server } from './servers.ts'
import { median, printTable, ratio } from './table.ts'

const CONNECTIONS = 64
const SECONDS = 8
const ROUNDS = 3
const USERS = 16

const bodyOf = (user: number) =>
  JSON.stringify({
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

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

const load = async ({ url }: Server, tokens: readonly string[]): Promise<Measured> => {
  const requests = tokens.map((token, user) => ({
    method: 'POST' as const,
    path: '/v1/meals',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: bodyOf(user),
  }))
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests })
  return { perSecond: result['2xx'] / result.duration, p50: result.latency.p50, p99: result.latency.p99, failed: result.non2xx + result.errors }
}

/** Durable and visible `POST /v1/meals` beside a bare route that only validates and flushes; interleaved, each warmed up once. */
export const ingestBench = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  const env = { TRIBUTARY_DATA: join(folder, 'data') }
  const server = await startTributary(env)
  const bare = await startBare(join(folder, 'bare'))
  try {
    const tokens: string[] = []
    for (let user = 0; user < USERS; user += 1) tokens.push(await makeToken(env, `bench-${user}`))
    const rounds: { readonly ours: Measured; readonly bare: Measured }[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = { bare: await load(bare, tokens), ours: await load(server, tokens) }
      process.stderr.write(`  round ${round}: bare ${Math.round(measured.bare.perSecond)}/s, ours ${Math.round(measured.ours.perSecond)}/s\n`)
      if (round > 0) rounds.push(measured)
    }
    report(rounds)
  } finally {
    await server.stop()
    await bare.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const report = (rounds: readonly { readonly ours: Measured; readonly bare: Measured }[]) => {
  const row = (name: string, pick: 'ours' | 'bare') => {
    const of = (value: (one: Measured) => number) => median(rounds.map((round) => value(round[pick])))
    return [name, Math.round(of(({ perSecond }) => perSecond)), of(({ p50 }) => p50), of(({ p99 }) => p99), rounds.reduce((sum, round) => sum + round[pick].failed, 0)]
  }
  const overall = median(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond))
  printTable(`ingest: POST /v1/meals at ${CONNECTIONS} connections, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'failed'],
    row('durable and visible', 'ours'),
    row('bare route, same validation, shared flush', 'bare'),
    ['ratio', ratio(overall), '', '', ''],
  ])
}
