import { runSeed } from '../../simulation/run.ts'
import { simulate as simulateHere, formatFailure } from '../../simulation/simulate.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { runSeeds } from '../simulate-workers.ts'
import type { Ran } from '../simulate-workers.ts'
import { counted } from '../../schemas/counted.ts'

export interface SimulateOptions {
  readonly seeds?: number
  readonly seed?: number
  readonly minutes?: number
  readonly json?: true
}

const DEFAULT_SEEDS = 1_000

/** Runs seeds on all cores. Stops at the first failing seed, and prints the smallest set of faults that still fails and the command that repeats it. */
export const simulate = async (context: Context, options: SimulateOptions): Promise<Exit> => {
  const { output } = context
  const { seed, minutes, json } = options
  if (seed !== undefined) return again(context, seed, json === true)
  const limit = minutes === undefined ? [] : [AbortSignal.timeout(minutes * 60_000)]
  const ran = await runSeeds({
    first: 1,
    selection: context.env['TRIBUTARY_DOMAINS'],
    seeds: options.seeds ?? (minutes === undefined ? DEFAULT_SEEDS : Number.MAX_SAFE_INTEGER / 1_000),
    signal: AbortSignal.any([context.signal, ...limit]),
    progress: (ran) => output.progress(lineOf(ran)),
  })
  if (ran.failed !== undefined) return again(context, ran.failed, json === true)
  if (json === true) output.line(JSON.stringify({ ...ran, violations: 0 }))
  else output.line(lineOf(ran))
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}

const lineOf = ({ seeds, events, calls }: Ran): string =>
  `${counted(seeds, 'seed')}, ${counted(events, 'event')}, ${counted(calls, 'crash point')}, no rule broken`

/** Runs one seed. If it fails, prints everything that happened. */
const again = async ({ output, domains: { simulations } }: Context, seed: number, json: boolean): Promise<Exit> => {
  const domains = await simulations()
  const { failures, ...ran } = await simulateHere({ seeds: 1, first: seed, domains })
  const [failure] = failures
  if (failure === undefined) {
    output.line(json ? JSON.stringify({ ...ran, violations: 0 }) : lineOf(ran))
    return EXIT.fine
  }
  const { report, smallest, repro } = failure
  if (json) {
    output.line(JSON.stringify({ seed, repro, violations: report.violations, faults: smallest }))
    return EXIT.failed
  }
  for (const line of (await runSeed(seed, { domains, plan: smallest, record: true })).lines)
    output.note(output.dim(line))
  output.line(formatFailure(failure))
  return EXIT.failed
}
