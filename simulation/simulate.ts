import type { Fault, FaultKind } from './faults.ts'
import { runSeed, type Report, type RunOptions } from './run.ts'
import { shrink } from './shrink.ts'

/** A run that broke a rule, and the fewest faults with which the run still breaks this rule. */
export interface Failure {
  readonly report: Report
  readonly smallest: readonly Fault[]
  /** The command that repeats the run. */
  readonly repro: string
}

export interface Summary {
  readonly seeds: number
  readonly events: number
  /** The number of port calls of all processes that faults can kill. Each such call can be struck by a fault. */
  readonly calls: number
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
  readonly failures: readonly Failure[]
}

export interface SimulateOptions extends RunOptions {
  /** The number of seeds. The seeds are consecutive numbers that begin with `first` (default: 1). */
  readonly seeds: number
  readonly first?: number
  /** Ends the simulation before the next seed if it returns true, for example at a time limit or after a signal. */
  readonly isEnough?: () => boolean
  readonly onProgress?: (summary: Summary) => void
  /** Ends the simulation after this many failures. Default: 3. */
  readonly maxFailures?: number
  /** Runs a failing seed again to find the fewest faults with which it still fails. Default: true. */
  readonly isShrinking?: boolean
}

const reproOf = (seed: number): string => `npx tributary simulate --seed ${seed}`

/** Runs the seeds one after the other. Ends early after `maxFailures` failures, or if `isEnough` returns true. */
export const simulate = async ({
  seeds,
  first = 1,
  isEnough = () => false,
  onProgress,
  maxFailures = 3,
  isShrinking = true,
  ...options
}: SimulateOptions): Promise<Summary> => {
  let summary: Summary = { seeds: 0, events: 0, calls: 0, faults: {}, failures: [] }
  for (let seed = first; seed < first + seeds && summary.failures.length < maxFailures && !isEnough(); seed += 1) {
    const report = await runSeed(seed, options)
    const failures = report.violations.length === 0 ? [] : [await failureOf(report, options, isShrinking)]
    summary = {
      seeds: summary.seeds + 1,
      events: summary.events + report.events,
      calls: summary.calls + report.calls.length,
      faults: counted(summary.faults, report.faults),
      failures: [...summary.failures, ...failures],
    }
    onProgress?.(summary)
  }
  return summary
}

const counted = (before: Summary['faults'], struck: readonly Fault[]): Summary['faults'] => {
  const faults = { ...before }
  for (const { kind } of struck) faults[kind] = (faults[kind] ?? 0) + 1
  return faults
}

const failureOf = async (report: Report, options: RunOptions, shrinks: boolean): Promise<Failure> => {
  const { seed } = report
  if (!shrinks) return { report, smallest: report.faults, repro: reproOf(seed) }
  const fails = async (plan: readonly Fault[]) =>
    (await runSeed(seed, { ...options, plan })).violations.some(
      ({ checker }) => checker === report.violations[0]?.checker,
    )
  return { report, smallest: await shrink(report.faults, fails), repro: reproOf(seed) }
}

/** A text with the broken rules, the faults, and the command that repeats the run. */
export const formatFailure = ({ report, smallest, repro }: Failure): string =>
  [
    `seed ${report.seed} broke ${report.violations.length} rules with ${smallest.length} of ${report.faults.length} faults: ${smallest.map(({ call, kind }) => `${kind} at ${call}`).join(', ')}`,
    ...report.violations.slice(0, 4).map(({ checker, detail }) => `  ${checker}: ${detail}`),
    `  repeat it with: ${repro}`,
  ].join('\n')

export const SINGLE_FAULTS: readonly FaultKind[] = [
  'crash-before',
  'crash-after',
  'crash-within',
  'crash-late',
  'pause-before',
  'pause-after',
  'lose',
  'late',
  'partial',
  'refuse',
  'rebalance',
  'rewind',
  'forget',
  'outage',
]

/**
 * Runs the seed once without faults. Then runs the seed again for each port call of this run and each kind of fault that is possible at this
 * call, with this one fault. Returns the runs that broke a rule.
 */
export const exhaust = async (
  seed: number,
  options: RunOptions = {},
  kinds: readonly FaultKind[] = SINGLE_FAULTS,
): Promise<{ readonly runs: number; readonly failed: readonly Report[] }> => {
  const possible = new Map<string, readonly FaultKind[]>()
  const clean = await runSeed(seed, { ...options, faults: ({ call, kinds: all }) => void possible.set(call, all()) })
  const plans = [
    [],
    ...clean.calls.flatMap((call) =>
      kinds.filter((kind) => possible.get(call)?.includes(kind)).map((kind) => [{ call, kind, amount: 0.4 }]),
    ),
  ]
  const failed: Report[] = []
  for (const plan of plans) {
    const report = await runSeed(seed, { ...options, plan })
    if (report.violations.length > 0) failed.push(report)
  }
  return { runs: plans.length, failed }
}
