import { expect, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'
import { KILL_CYCLES } from './kill-count.ts'
import { killCycles } from './kill-cycles.ts'
import { freshFolder } from './program.ts'

/** Runs as configured: `KILL_CYCLES=300 KILL_SEED=7 npm run kill-cycles` makes 300 kills at other moments. */
const isConfigured = process.env['KILL_CYCLES'] !== undefined
const CYCLES = Number(process.env['KILL_CYCLES'] ?? (isLong ? KILL_CYCLES.long : KILL_CYCLES.short))
const SEED = Number(process.env['KILL_SEED'] ?? 1)
const A_CYCLE_MS = 30_000

test(
  `kill -9 of the program ${CYCLES} times, in load, rebuilds, resumes, flips and drops: no acknowledged event is lost, and none is folded twice`,
  async () => {
    let last = 'before the first cycle'
    const report = (line: string): void => {
      last = line
      if (isConfigured) process.stderr.write(`${line}\n`)
    }
    const killed = await killCycles({ env: { TRIBUTARY_DATA: freshFolder() }, cycles: CYCLES, seed: SEED, report })
    const { cycles, acknowledged, moments, problems } = killed
    process.stdout.write(
      [
        `seed ${SEED}: ${cycles} kills, ${acknowledged} requests acknowledged, ${problems.length} problems`,
        ...[...moments].sort().map(([moment, count]) => `${String(count).padStart(6)}  ${moment}`),
        '',
      ].join('\n'),
    )
    expect(problems, `seed ${SEED}, ${last}`).toEqual([])
    // Only a long run is certain to kill during rebuilds and flips, too.
    for (const doing of CYCLES < KILL_CYCLES.long ? ['load'] : ['load', 'rebuild', 'flip'])
      expect(
        [...moments.keys()].some((moment) => moment.startsWith(doing)),
        doing,
      ).toBe(true)
  },
  CYCLES * A_CYCLE_MS + 120_000,
)
