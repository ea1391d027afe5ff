import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { readConfig } from '../cli/config.ts'
import { openRuntime } from '../cli/runtime.ts'
import type { Event } from '../schemas/event.ts'
import { asking } from './bar.ts'
import { unitsTable } from './expenses-units.ts'
import { makeToken, startBare, startTributary, type Server } from './servers.ts'
import { gathered, memberOf, spent, type Spending } from './spending.ts'
import { median, perSecond, printTable, quantile, ratio } from './table.ts'

const [CONNECTIONS, SECONDS, ROUNDS, GROUPS] = [64, 6, 3, 16]
const DAY = 86_400_000

/** What one round of requests came to. */
interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

interface Owner {
  readonly token: string
  readonly path: string
}

const load = async ({ url }: Server, owners: readonly Owner[]): Promise<Measured> => {
  const requests = owners.map(({ token, path }) => ({
    method: 'POST' as const,
    path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ amount: '42.13', description: 'Dinner by the sea', category: 'food' }),
  }))
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests })
  return { perSecond: result['2xx'] / result.duration, p50: result.latency.p50, p99: result.latency.p99, failed: result.non2xx + result.errors }
}

/** Groups of four, each with an owner who pays for all. */
const openGroups = async (server: Server, env: Readonly<Record<string, string>>): Promise<readonly Owner[]> => {
  const people = await Promise.all(Array.from({ length: 4 }, (_, nth) => makeToken(env, `bench-${nth}`, 'expenses')))
  const owners: Owner[] = []
  for (let nth = 0; nth < GROUPS; nth += 1) {
    const token = people[nth % people.length] ?? ''
    const { id } = await asking(server.url, token)('POST', '/api/groups', { title: `Group ${nth}`, currency: 'EUR', name: 'Somebody' })
    for (const other of people) if (other !== token) await asking(server.url, other)('POST', `/api/groups/${String(id)}/join`, { name: 'Somebody' })
    owners.push({ token, path: `/api/groups/${String(id)}/expenses` })
  }
  return owners
}

/** Durable and visible expenses beside a bare route that only validates and flushes; interleaved, each warmed up once. */
const commandsTable = async (folder: string): Promise<void> => {
  const env = { TRIBUTARY_DATA: join(folder, 'commands') }
  const server = await startTributary(env)
  const bare = await startBare(join(folder, 'bare'))
  try {
    const owners = await openGroups(server, env)
    const rounds: { readonly ours: Measured; readonly bare: Measured }[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = { bare: await load(bare, owners), ours: await load(server, owners) }
      process.stderr.write(`  round ${round}: bare ${Math.round(measured.bare.perSecond)}/s, ours ${Math.round(measured.ours.perSecond)}/s\n`)
      if (round > 0) rounds.push(measured)
    }
    const row = (name: string, pick: 'ours' | 'bare') => {
      const of = (value: (one: Measured) => number) => median(rounds.map((round) => value(round[pick])))
      return [name, Math.round(of(({ perSecond: rate }) => rate)), of(({ p50 }) => p50), of(({ p99 }) => p99), rounds.reduce((sum, round) => sum + round[pick].failed, 0)]
    }
    printTable(`expenses: POST …/expenses of 4 people in ${GROUPS} groups at ${CONNECTIONS} connections, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
      ['', 'requests/s', 'p50 ms', 'p99 ms', 'failed'],
      row('durable and visible', 'ours'),
      row('bare route, same validation, shared flush', 'bare'),
      ['ratio', ratio(median(rounds.map(({ ours, bare: without }) => ours.perSecond / without.perSecond))), '', '', ''],
    ])
  } finally {
    await server.stop()
    await bare.stop()
  }
}

const APPENDED = 1_000
const FOLDED_MS = 3_600_000

/** Through the log and the folds, sealed, without the edge. */
const fill = async (env: Readonly<Record<string, string>>, events: Iterable<Event>): Promise<number> => {
  const runtime = await openRuntime({ config: readConfig(env) })
  let count = 0
  try {
    const { log, codec, serving, ...pipeline } = runtime.pipeline('expenses')
    let batch: Event[] = []
    const flush = async () => {
      await codec.keysFor?.(batch)
      if (batch.length > 0) await log.append(batch.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
      count += batch.length
      batch = []
    }
    for (const event of events) {
      batch.push(event)
      if (batch.length === APPENDED) await flush()
    }
    await flush()
    await pipeline.start('processor')
    for (const { partition, high } of await log.watermarks()) if (high > 0) await serving().outcomes.reached({ partition, offset: high - 1 }, FOLDED_MS)
  } finally {
    await runtime.close()
  }
  return count
}

const ASKED = 300

/** What a group that has lasted answers: balances and debts are there, and not summed up over its rows. */
const readsTable = async (folder: string, expenses: number): Promise<void> => {
  const env = { TRIBUTARY_DATA: join(folder, 'reads') }
  const journey: Spending = { group: 'journey', members: 50, expenses, sharers: 5, from: Date.UTC(2024, 0, 1), everyMs: Math.floor((730 * DAY) / expenses) }
  const began = performance.now()
  const count = await fill(env, [...gathered(journey), ...spent(journey)])
  process.stderr.write(`  ${count.toLocaleString('en')} events appended and folded, ${perSecond(count, (performance.now() - began) / 1000)}/s\n`)
  const server = await startTributary(env)
  try {
    const token = await makeToken(env, memberOf(0), 'expenses')
    const dayOf = (nth: number): string => new Date(journey.from + ((nth * 37) % 729) * DAY).toISOString()
    const questions: readonly (readonly [string, (nth: number) => string])[] = [
      ['balances', () => 'balances'],
      ['debts, simplified', () => 'debts?simplify=true'],
      ['debts, pair by pair', () => 'debts?simplify=false'],
      ['balances as of a past day', (nth) => `balances?as-of=${dayOf(nth).slice(0, 10)}`],
      ['balances as of a past instant', (nth) => `balances?as-of=${encodeURIComponent(`${dayOf(nth).slice(0, 11)}17:30:00Z`)}`],
    ]
    const rows: (string | number)[][] = []
    for (const [name, path] of questions) rows.push([name, ...(await asked(`${server.url}/api/groups/${journey.group}/`, path, token))])
    printTable(`expenses: a group of ${journey.members} with ${expenses.toLocaleString('en')} expenses over two years, over HTTP, embedded, each asked ${ASKED} times`, [['', 'first ms', 'p50 ms', 'p99 ms', 'bytes'], ...rows])
  } finally {
    await server.stop()
  }
}

const asked = async (base: string, path: (nth: number) => string, token: string): Promise<readonly (string | number)[]> => {
  const times: number[] = []
  let bytes = 0
  for (let nth = 0; nth < ASKED; nth += 1) {
    const began = performance.now()
    const answer = await fetch(base + path(nth), { headers: { authorization: `Bearer ${token}` } })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${path(nth)} was answered ${answer.status}`)
    times.push(performance.now() - began)
  }
  return [(times[0] ?? 0).toFixed(1), quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1), bytes]
}

const EXPENSES = 100_000

/** Commands, reads of a large group, and write units. Another size of the group: `bench expenses 10000`. */
export const expensesBench = async (rest: readonly string[]): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  try {
    await unitsTable()
    await readsTable(folder, Number(rest[0] ?? EXPENSES))
    await commandsTable(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
