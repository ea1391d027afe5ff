import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { asking } from './bar.ts'
import { unitsTable } from './expenses-units.ts'
import { makeToken, startBare, startTributary, type Server } from './servers.ts'
import { journeyOf, memberOf } from './spending.ts'
import { median, printTable, quantile, ratio } from './table.ts'

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
    const { secret } = await asking(server.url, token)('POST', `/api/groups/${String(id)}/invitations`, {})
    for (const other of people) if (other !== token) await asking(server.url, other)('POST', `/api/groups/${String(id)}/join`, { invitation: secret, name: 'Somebody' })
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

const filler = fileURLToPath(new URL('./expenses-fill.js', import.meta.url))

/** In a process of its own, which leaves its garbage there. */
const fill = async (data: string, expenses: number): Promise<void> => {
  const child = spawn(process.execPath, [filler, data, String(expenses)], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`filling the group ended with ${code}`)
}

const [ASKED, WARM_UP] = [500, 50]

/** What a group that has lasted answers: balances and debts are there, and not summed up over its rows. */
const readsTable = async (folder: string, expenses: number): Promise<void> => {
  const env = { TRIBUTARY_DATA: join(folder, 'reads') }
  const journey = journeyOf(expenses)
  await fill(env.TRIBUTARY_DATA, expenses)
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
    printTable(`expenses: a group of ${journey.members} with ${expenses.toLocaleString('en')} expenses over two years, over HTTP, embedded, each asked ${ASKED} times after ${WARM_UP}`, [['', 'first ms', 'p50 ms', 'p99 ms', 'bytes'], ...rows])
  } finally {
    await server.stop()
  }
}

const asked = async (base: string, path: (nth: number) => string, token: string): Promise<readonly (string | number)[]> => {
  const times: number[] = []
  let bytes = 0
  for (let nth = 0; nth < ASKED + WARM_UP; nth += 1) {
    const began = performance.now()
    const answer = await fetch(base + path(nth), { headers: { authorization: `Bearer ${token}` } })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${path(nth)} was answered ${answer.status}`)
    times.push(performance.now() - began)
  }
  const warm = times.slice(WARM_UP)
  return [(times[0] ?? 0).toFixed(1), quantile(warm, 0.5).toFixed(1), quantile(warm, 0.99).toFixed(1), bytes]
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
