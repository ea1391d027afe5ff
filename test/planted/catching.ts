import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { describeWith, ifLong } from '../services/available.ts'
import type { Mistakes } from './mistake.ts'
import { planted } from './mutate.mjs'

interface Run {
  /** The name of the mistake that was in the sources. Null: no mistake was in the sources. */
  readonly mistake: string | null
  readonly tests: readonly { readonly name: string; readonly state: string }[]
  readonly errors: readonly string[]
}

const ROOT = join(import.meta.dirname, '..', '..')
const FROM_SOURCE = join(ROOT, 'test', 'from-source.mjs')
const MINUTES = 60_000

const runAll = async (mistakes: Mistakes): Promise<readonly Run[]> => {
  const child = spawn(process.execPath, ['--import', FROM_SOURCE, join(import.meta.dirname, 'run.ts')], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, VITEST: undefined, VITEST_WORKER_ID: undefined, VITEST_POOL_ID: undefined },
    timeout: 7 * MINUTES,
    killSignal: 'SIGKILL',
  })
  child.stdin.end(JSON.stringify(mistakes))
  return (await text(child.stdout))
    .split('\n')
    .filter((line) => line.startsWith('{"mistake"'))
    .map((line) => JSON.parse(line) as Run)
}

/** The test files whose suites are declared in other test files. */
const contracts = readdirSync(join(ROOT, 'test', 'contracts')).map((name) => join('test', 'contracts', name))

/**
 * Tests that the line that each mistake changes is in the sources, and that the test file of the mistake or a contract suite contains the test.
 * A long run also puts each mistake into the sources, and runs its test.
 */
export const testMistakes = (mistakes: Mistakes): void => {
  test.for(Object.entries(mistakes))('there is a line and a test for the mistake that %s', ([, mistake]) => {
    planted(readFileSync(join(ROOT, mistake.file), 'utf8'), mistake)
    const tests = [mistake.by, ...contracts].map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n')
    // The last word can be the value of a table of tests.
    expect(tests, mistake.by).toContain(mistake.test.replace(/ \S+$/, ''))
  })
  describeWith('with the mistake in the sources', ifLong({ ok: true }), () => plantAll(mistakes))
}

/** Declares one test per mistake: the test that the mistake names must fail with the mistake and pass without it. */
const plantAll = (mistakes: Mistakes): void => {
  let runs: readonly Run[]
  beforeAll(async () => {
    runs = await runAll(mistakes)
  }, 8 * MINUTES)

  test.for(Object.keys(mistakes))('a test fails when %s', (name) => {
    const wanted = mistakes[name]?.test ?? ''
    const withoutMistake = runs
      .filter(({ mistake }) => mistake === null)
      .flatMap(({ tests }) => tests)
      .filter((result) => result.name.includes(wanted))
    expect(
      withoutMistake.map(({ state }) => state),
      `without the mistake: ${wanted}`,
    ).toEqual(['passed'])
    const [withMistake] = runs.filter(({ mistake }) => mistake === name)
    expect(withMistake?.errors).toEqual([])
    expect(
      withMistake?.tests.filter(({ name: full }) => full.includes(wanted)).map(({ state }) => state),
      `with the mistake: ${wanted}`,
    ).toEqual(['failed'])
  })
}
