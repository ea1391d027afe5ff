import { join } from 'node:path'
import { lmdbLogs } from '../processors/adapters/lmdb/log.ts'
import { meals } from '../processors/meals/domain.ts'
import { openCodec } from '../schemas/codec.ts'
import { appendAll } from './append.ts'
import { inFolder } from './folder.ts'
import { makeToken, runTributary, startTributary, type Server } from './servers.ts'
import { median, printTable, quantile, ratio } from './table.ts'
import { mealEvents } from '../domains/meals/benchmark-events.ts'

const EVENTS = 200_000
const RATE = 100
const SECONDS = 6
const ROUNDS = 5

/** Fills the log before the server starts, so that a rebuild has events to fold. */
const fill = async (folder: string): Promise<void> => {
  const logs = lmdbLogs({ folder: join(folder, 'log') })
  await appendAll(await logs.open(meals.topic), openCodec(), mealEvents({ events: EVENTS, users: 500 }), 4_096)
  await logs.close()
}

interface Load {
  /** The milliseconds until each answer. */
  readonly latencies: number[]
  readonly failed: number
}

/** Sends writes and reads alternately at a fixed rate, without waiting for the answers, until `ended` settles. */
const loadUntil = async ({ url }: Server, token: string, ended: Promise<unknown>): Promise<Load> => {
  const latencies: number[] = []
  const waiting: Promise<void>[] = []
  let failed = 0
  let running = true
  void ended.finally(() => (running = false))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = (index: number) =>
    JSON.stringify({
      mealSummary: 'Chili',
      calories: 500,
      protein: 30,
      carbs: 40,
      fat: 20,
      eatenAt: `2026-11-${String(1 + (index % 14)).padStart(2, '0')}T12:00:00Z`,
      tz: 'UTC',
    })
  const send = async (index: number, due: number) => {
    const answer =
      index % 2 === 0
        ? await fetch(`${url}/v1/meals`, { method: 'POST', headers, body: body(index) }).catch(() => undefined)
        : await fetch(`${url}/v1/summaries?from=2026-11-01&to=2026-11-14`, { headers }).catch(() => undefined)
    await answer?.arrayBuffer()
    latencies.push(performance.now() - due)
    if (answer?.ok !== true) failed += 1
  }
  const began = performance.now()
  for (let index = 0; running; index += 1) {
    const due = began + (index * 1000) / RATE
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    // The latency counts from the due time, so it includes the delay of a late request.
    waiting.push(send(index, due))
  }
  await Promise.all(waiting)
  return { latencies, failed }
}

interface Round {
  readonly quiet: Load
  readonly rebuild: Load
  readonly flip: Load
}

/** Compares the p99 latency of requests during a flip and during a rebuild with the p99 latency without them, in interleaved rounds. */
export const flipBench = (): Promise<void> =>
  inFolder(async (folder) => {
    const env = { TRIBUTARY_DATA: join(folder, 'data') }
    process.stderr.write(`  ${EVENTS.toLocaleString('en')} events into the log …\n`)
    await fill(env.TRIBUTARY_DATA)
    const server = await startTributary(env)
    try {
      const token = await makeToken(env, 'bench')
      const rounds: Round[] = []
      for (let round = 0; round <= ROUNDS; round += 1) {
        const quiet = await loadUntil(server, token, new Promise((resolve) => setTimeout(resolve, SECONDS * 1000)))
        const rebuild = await loadUntil(server, token, runTributary(env, ['rebuild', 'meals', '--no-flip', '--yes']))
        const flip = await loadUntil(server, token, runTributary(env, ['flip', 'meals', '--to', String(round + 2)]))
        await runTributary(env, ['generations', 'meals', '--drop', String(round + 1), '--yes'])
        process.stderr.write(
          `  round ${round}: p99 quiet ${p99(quiet)} ms, rebuild ${p99(rebuild)} ms, flip ${p99(flip)} ms\n`,
        )
        if (round > 0) rounds.push({ quiet, rebuild, flip })
      }
      report(rounds)
    } finally {
      await server.stop()
    }
  })

const p99 = ({ latencies }: Load): string => quantile(latencies, 0.99).toFixed(1)

const report = (rounds: readonly Round[]) => {
  const row = (name: string, pick: keyof Round) => {
    const of = (q: number) => median(rounds.map((round) => quantile(round[pick].latencies, q)))
    const against = median(
      rounds.map((round) => quantile(round[pick].latencies, 0.99) / quantile(round.quiet.latencies, 0.99)),
    )
    return [
      name,
      rounds.reduce((sum, round) => sum + round[pick].latencies.length, 0),
      of(0.5).toFixed(1),
      of(0.99).toFixed(1),
      ratio(against),
      rounds.reduce((sum, round) => sum + round[pick].failed, 0),
    ]
  }
  printTable(
    `flip: ${RATE} requests per second, half of them writes, with ${EVENTS.toLocaleString('en')} events in the log, embedded (medians of ${ROUNDS} interleaved rounds)`,
    [
      ['', 'requests', 'p50 ms', 'p99 ms', 'p99 ÷ without', 'failed'],
      row('without', 'quiet'),
      row('during a rebuild', 'rebuild'),
      row('across a flip', 'flip'),
    ],
  )
}
