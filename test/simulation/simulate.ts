import type { Fault, FaultKind } from './faults.ts'
import { runSeed, type Report, type RunOptions } from './run.ts'
import { shrink } from './shrink.ts'

/** A run that broke a rule, with the fewest faults that still do. */
export interface Failure {
  readonly report: Report
  readonly smallest: readonly Fault[]
  /** One line to see it again. */
  readonly repro: string
}

export interface Summary {
  readonly seeds: number
  readonly events: number
  /** Port calls of nodes: each a place where one could have died. */
  readonly calls: number
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
  readonly failures: readonly Failure[]
}

export interface SimulateOptions extends RunOptions {
  /** How many, from `first` on. */
  readonly seeds: number
  readonly first?: number
  /** Ends it early: a time limit, a signal. */
  readonly enough?: () => boolean
  readonly onProgress?: (sofar: Summary) => void
  /** Stop after this many failures. */
  readonly most?: number
  /** Find the fewest faults that still fail, which takes a while. */
  readonly shrinks?: boolean
}

const reproOf = (seed: number): string => `npx tributary simulate --seed ${seed}`

/** Seed after seed. */
export const simulate = async ({ seeds, first = 1, enough = () => false, onProgress, most = 3, shrinks = true, ...options }: SimulateOptions): Promise<Summary> => {
  let sofar: Summary = { seeds: 0, events: 0, calls: 0, faults: {}, failures: [] }
  for (let seed = first; seed < first + seeds && sofar.failures.length < most && !enough(); seed += 1) {
    const report = await runSeed(seed, options)
    const failures = report.violations.length === 0 ? [] : [await failureOf(report, options, shrinks)]
    sofar = {
      seeds: sofar.seeds + 1,
      events: sofar.events + report.events,
      calls: sofar.calls + report.calls.length,
      faults: counted(sofar.faults, report.faults),
      failures: [...sofar.failures, ...failures],
    }
    onProgress?.(sofar)
  }
  return sofar
}

const counted = (before: Summary['faults'], struck: readonly Fault[]): Summary['faults'] => {
  const faults = { ...before }
  for (const { kind } of struck) faults[kind] = (faults[kind] ?? 0) + 1
  return faults
}

const failureOf = async (report: Report, options: RunOptions, shrinks: boolean): Promise<Failure> => {
  const { seed } = report
  if (!shrinks) return { report, smallest: report.faults, repro: reproOf(seed) }
  const fails = async (plan: readonly Fault[]) => (await runSeed(seed, { ...options, plan })).violations.some(({ checker }) => checker === report.violations[0]?.checker)
  return { report, smallest: await shrink(report.faults, fails), repro: reproOf(seed) }
}

/** What a person needs to begin: what was broken, by which faults, and the line that shows it again. */
export const told = ({ report, smallest, repro }: Failure): string => [
  `seed ${report.seed} broke ${report.violations.length} rules with ${smallest.length} of ${report.faults.length} faults: ${smallest.map(({ call, kind }) => `${kind} at ${call}`).join(', ')}`,
  ...report.violations.slice(0, 4).map(({ checker, detail }) => `  ${checker}: ${detail}`),
  `  again: ${repro}`,
].join('\n')

export const SINGLE: readonly FaultKind[] = ['crash-before', 'crash-after', 'crash-within', 'crash-late', 'pause-before', 'pause-after', 'lose', 'late', 'partial', 'refuse', 'rebalance', 'rewind', 'forget', 'outage']

/** A clean run of the seed, and then the same with one fault of each kind that can strike there at every single port call of every node. */
export const exhaust = async (seed: number, options: RunOptions = {}, kinds: readonly FaultKind[] = SINGLE): Promise<{ readonly runs: number; readonly failed: readonly Report[] }> => {
  const possible = new Map<string, readonly FaultKind[]>()
  const clean = await runSeed(seed, { ...options, faults: ({ call, kinds: all }) => void possible.set(call, all()) })
  const plans = [[], ...clean.calls.flatMap((call) => kinds.filter((kind) => possible.get(call)?.includes(kind)).map((kind) => [{ call, kind, amount: 0.4 }]))]
  const failed: Report[] = []
  for (const plan of plans) {
    const report = await runSeed(seed, { ...options, plan })
    if (report.violations.length > 0) failed.push(report)
  }
  return { runs: plans.length, failed }
}
