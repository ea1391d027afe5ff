import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inFolder } from './folder.ts'
import type { PhaseResult } from './rebuild-phases.ts'
import { median, perSecond, printTable, ratio } from './table.ts'

/** The number of rounds. A round over millions of events takes minutes, so there is only one. */
const roundsOf = (events: number): number => (events > 2_000_000 ? 1 : 3)
const SIZES = [1_000_000, 4_000_000]
const script = fileURLToPath(new URL('./rebuild-phases.js', import.meta.url))

type Phase = 'fill' | 'rebuild' | 'verify' | 'decode' | 'same-io'

export interface FilledFolder {
  readonly folder: string
  readonly events: number
  readonly kind: 'plain' | 'sealed'
  /** Default: meals. */
  readonly domain?: string
}

/** Runs one phase in a process of its own. */
export const runPhase = async (
  phase: Phase,
  { folder, events, kind, domain = 'meals' }: FilledFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<PhaseResult> => {
  process.stderr.write(`  ${phase} of ${domain}, ${events.toLocaleString('en')} events …`)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, phase, folder, String(events), kind, domain],
    { maxBuffer: 1 << 20, env: { ...process.env, ...env } },
  )
  const result = JSON.parse(stdout) as PhaseResult
  process.stderr.write(` ${result.seconds.toFixed(1)} s\n`)
  return result
}

interface Round {
  readonly rebuild: PhaseResult
  readonly verify: PhaseResult
  readonly sameIo: PhaseResult
  readonly decode: PhaseResult
}

const measure = (events: number, kind: FilledFolder['kind']): Promise<readonly Round[]> =>
  inFolder(async (folder) => {
    const filled = { folder, events, kind }
    await runPhase('fill', filled)
    const rounds: Round[] = []
    for (let round = 0; round < roundsOf(events); round += 1) {
      for (const output of ['tables', 'copied']) rmSync(join(folder, output), { recursive: true, force: true })
      const rebuild = await runPhase('rebuild', filled)
      const sameIo = await runPhase('same-io', filled)
      const verify = await runPhase('verify', filled)
      rounds.push({ rebuild, verify, sameIo, decode: await runPhase('decode', filled) })
    }
    return rounds
  })

/**
 * Measures a rebuild of the meals, compared with the same I/O without the engine, in interleaved rounds. Prints medians. `bench rebuild 200000` uses
 * 200,000 events. With `--sealed` the personal data in the log is sealed, as the program writes it. Both the rebuild and the comparison then decrypt
 * it.
 */
export const rebuildBench = async (rest: readonly string[]): Promise<void> => {
  const kind = rest.includes('--sealed') ? 'sealed' : 'plain'
  const givenSizes = rest.filter((argument) => !argument.startsWith('--')).map(Number)
  const sizes = givenSizes.length > 0 ? givenSizes : SIZES
  const rows: (string | number)[][] = [
    [
      'events',
      'rebuild/s',
      'same I/O/s',
      'read+decode/s',
      'rebuild ÷ same I/O',
      'rebuild ÷ read+decode',
      'verify ÷ rebuild',
      'items',
      'anonymous MB',
      'µs/event',
    ],
  ]
  for (const events of sizes) {
    const rounds = await measure(events, kind)
    const of = (pick: (round: Round) => number) => median(rounds.map(pick))
    rows.push([
      `${events.toLocaleString('en')} (${rounds.length} ${rounds.length === 1 ? 'round' : 'rounds'})`,
      perSecond(
        events,
        of(({ rebuild }) => rebuild.seconds),
      ),
      perSecond(
        events,
        of(({ sameIo }) => sameIo.seconds),
      ),
      perSecond(
        events,
        of(({ decode }) => decode.seconds),
      ),
      ratio(of(({ rebuild, sameIo }) => sameIo.seconds / rebuild.seconds)),
      ratio(of(({ rebuild, decode }) => decode.seconds / rebuild.seconds)),
      ratio(of(({ rebuild, verify }) => rebuild.seconds / verify.seconds)),
      rounds[0]?.sameIo.items.toLocaleString('en') ?? '',
      Math.max(...rounds.map(({ rebuild }) => rebuild.anonymousMb)),
      of(({ rebuild }) => (rebuild.seconds / events) * 1e6).toFixed(2),
    ])
  }
  printTable(
    `rebuild: every meal and day summary from the log, ${kind === 'sealed' ? 'sealed, ' : ''}embedded (interleaved; medians)`,
    rows,
  )
}
