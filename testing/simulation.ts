import type { DomainRecord } from '../domains/record.ts'
import { formatFailure, simulate, type Summary } from '../simulation/simulate.ts'

/** Options of `simulateDomain`. */
export interface SimulateDomainOptions {
  /** The number of runs. Each run has its own seed. */
  readonly seeds: number
  /** The first seed. Default: 1. */
  readonly first?: number
}

/**
 * Runs the deterministic simulation over one domain: the real engine over modelled ports, with crashes, redelivery, paused processes and
 * lost answers. After each run it checks the promises of the engine, and the invariants of the domain's own workload.
 * Throws an error with the broken rules, the fewest faults that break them, and the line that repeats the run.
 * Throws if the record has no simulation.
 */
export const simulateDomain = async (
  { domain: { name }, simulation }: Pick<DomainRecord, 'domain' | 'simulation'>,
  { seeds, first = 1 }: SimulateDomainOptions,
): Promise<Omit<Summary, 'failures'>> => {
  if (simulation === undefined)
    throw new Error(
      `The record of ${name} has no simulation. Add one: simulation: async () => ({ workload: workloadOf(…) }).`,
    )
  const { failures, ...summary } = await simulate({
    seeds,
    first,
    domains: { [name]: await simulation() },
    domain: name,
    maxFailures: 1,
  })
  const [failure] = failures
  if (failure === undefined) return summary
  const { seed } = failure.report
  throw new Error(formatFailure({ ...failure, repro: `await simulateDomain(record, { seeds: 1, first: ${seed} })` }))
}
