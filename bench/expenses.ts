import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requesterFor } from './bar.ts'
import { compare, post, type Post } from './compare.ts'
import { inFolder } from './folder.ts'
import { makeToken, startBare, startTributary, type Server } from './servers.ts'
import { journeyOf, memberOf } from '../domains/expenses/benchmark-events.ts'
import { printTable, quantile } from './table.ts'

const [CONNECTIONS, SECONDS, ROUNDS, GROUPS] = [64, 6, 3, 16]
const DAY = 86_400_000

/** Creates groups of four people. Returns one request per group: the owner of the group adds an expense that the owner has paid for all four. */
const openGroups = async (server: Server, env: Readonly<Record<string, string>>): Promise<readonly Post[]> => {
  const people = await Promise.all(Array.from({ length: 4 }, (_, nth) => makeToken(env, `bench-${nth}`, 'expenses')))
  const posts: Post[] = []
  for (let nth = 0; nth < GROUPS; nth += 1) {
    const token = people[nth % people.length] ?? ''
    const { id } = await requesterFor(server.url, token)('POST', '/api/groups', {
      title: `Group ${nth}`,
      currency: 'EUR',
      name: 'Somebody',
    })
    const { secret } = await requesterFor(server.url, token)('POST', `/api/groups/${String(id)}/invitations`, {})
    for (const memberToken of people)
      if (memberToken !== token)
        await requesterFor(server.url, memberToken)('POST', `/api/groups/${String(id)}/join`, {
          invitation: secret,
          name: 'Somebody',
        })
    posts.push({
      token,
      path: `/api/groups/${String(id)}/expenses`,
      body: { amount: '42.13', description: 'Dinner by the sea', category: 'food' },
    })
  }
  return posts
}

/** Measures how fast expenses become durable and visible, compared with a bare route that only validates and flushes. */
const commandsTable = async (folder: string): Promise<void> => {
  const env = { TRIBUTARY_DATA: join(folder, 'commands') }
  const server = await startTributary(env)
  const bare = await startBare('bare-server', join(folder, 'bare'))
  try {
    const posts = await openGroups(server, env)
    const load = { connections: CONNECTIONS, seconds: SECONDS }
    await compare({
      title: `expenses: POST …/expenses of 4 people in ${GROUPS} groups at ${CONNECTIONS} connections, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`,
      rate: 'requests/s',
      rounds: ROUNDS,
      ours: { name: 'durable and visible', load: () => post(server, posts, load) },
      bare: { name: 'bare route, same validation, shared flush', load: () => post(bare, posts, load) },
    })
  } finally {
    await server.stop()
    await bare.stop()
  }
}

const filler = fileURLToPath(new URL('./expenses-fill.js', import.meta.url))

/** Fills a group in a child process, so that the memory that this uses does not slow down the measuring process. */
const fill = async (data: string, expenses: number): Promise<void> => {
  const child = spawn(process.execPath, [filler, data, String(expenses)], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`filling the group ended with ${code}`)
}

const [REQUESTS, WARM_UP] = [500, 50]

/** Measures reads of a group with many expenses. Balances and debts are stored items, so a read does not sum over the expenses. */
const readsTable = async (folder: string, expenses: number): Promise<void> => {
  const env = { TRIBUTARY_DATA: join(folder, 'reads') }
  const journey = journeyOf(expenses)
  await fill(env.TRIBUTARY_DATA, expenses)
  const server = await startTributary(env)
  try {
    const token = await makeToken(env, memberOf(0), 'expenses')
    const dayOf = (nth: number): string => new Date(journey.from + ((nth * 37) % 729) * DAY).toISOString()
    const queries: readonly (readonly [string, (nth: number) => string])[] = [
      ['balances', () => 'balances'],
      ['debts, simplified', () => 'debts?simplify=true'],
      ['debts, pair by pair', () => 'debts?simplify=false'],
      ['balances as of a past day', (nth) => `balances?as-of=${dayOf(nth).slice(0, 10)}`],
      [
        'balances as of a past instant',
        (nth) => `balances?as-of=${encodeURIComponent(`${dayOf(nth).slice(0, 11)}17:30:00Z`)}`,
      ],
    ]
    const rows: (string | number)[][] = []
    for (const [name, path] of queries)
      rows.push([name, ...(await timeRequests(`${server.url}/api/groups/${journey.group}/`, path, token))])
    printTable(
      `expenses: a group of ${journey.members} with ${expenses.toLocaleString('en')} expenses over two years, over HTTP, embedded, ${REQUESTS} requests each after ${WARM_UP}`,
      [['', 'first ms', 'p50 ms', 'p99 ms', 'bytes'], ...rows],
    )
  } finally {
    await server.stop()
  }
}

const timeRequests = async (
  base: string,
  path: (nth: number) => string,
  token: string,
): Promise<readonly (string | number)[]> => {
  const times: number[] = []
  let bytes = 0
  for (let nth = 0; nth < REQUESTS + WARM_UP; nth += 1) {
    const began = performance.now()
    const answer = await fetch(base + path(nth), { headers: { authorization: `Bearer ${token}` } })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${path(nth)}: the answer is ${answer.status}`)
    times.push(performance.now() - began)
  }
  const warm = times.slice(WARM_UP)
  return [(times[0] ?? 0).toFixed(1), quantile(warm, 0.5).toFixed(1), quantile(warm, 0.99).toFixed(1), bytes]
}

const EXPENSES = 100_000

/** Measures reads of a large group, and commands. `bench expenses 10000` uses 10,000 expenses. Default: 100,000. */
export const expensesBench = (rest: readonly string[]): Promise<void> =>
  inFolder(async (folder) => {
    await readsTable(folder, Number(rest[0] ?? EXPENSES))
    await commandsTable(folder)
  })
