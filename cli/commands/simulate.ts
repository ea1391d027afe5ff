import { runSeed } from '../../test/simulation/run.ts'
import type { Report } from '../../test/simulation/run.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

export interface SimulateOptions {
  readonly seeds?: number
  readonly seed?: number
  readonly minutes?: number
  readonly json?: true
}

const DEFAULT_SEEDS = 1_000

/** Seed after seed; the first that fails ends it, with the line that shows it again. */
export const simulate = async ({ output, signal }: Context, options: SimulateOptions): Promise<Exit> => {
  const { seed, minutes, json } = options
  const first = seed ?? 1
  const until = minutes === undefined ? Infinity : systemClock.now() + minutes * 60_000
  const count = seed !== undefined ? 1 : (options.seeds ?? (minutes === undefined ? DEFAULT_SEEDS : Infinity))
  let ran = 0
  let events = 0
  for (let at = first; ran < count && systemClock.now() < until && !signal.aborted; at += 1) {
    const report = await runSeed(at, seed === undefined ? {} : { record: true })
    ran += 1
    events += report.events
    if (report.violations.length > 0) return failed({ output, report, json: json === true })
    output.progress(`${ran} seeds, ${events} events, no rule broken`)
    await breathe()
  }
  if (json === true) output.line(JSON.stringify({ seeds: ran, events, violations: 0 }))
  else output.line(`${ran} seeds, ${events} events, no rule broken`)
  return signal.aborted ? EXIT.interrupted : EXIT.fine
}

/** Lets a signal in. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const failed = ({ output, report, json }: { output: Context['output']; report: Report; json: boolean }): Exit => {
  const repro = `tributary simulate --seed ${report.seed}`
  if (json) {
    output.line(JSON.stringify({ seed: report.seed, repro, violations: report.violations, faults: report.faults }))
    return EXIT.failed
  }
  for (const line of report.lines) output.note(output.dim(line))
  for (const { checker, detail } of report.violations) output.line(`seed ${report.seed}: ${checker}: ${detail}`)
  output.line(`again: ${repro}`)
  return EXIT.failed
}
