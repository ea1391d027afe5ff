import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { describeWith, ifLong } from '../services/available.ts'
import type { Mistakes } from './mistake.ts'
import { planted } from './mutate.mjs'

interface Ran {
  /** Null: the sources as they are. */
  readonly mistake: string | null
  readonly tests: readonly { readonly name: string; readonly state: string }[]
  readonly errors: readonly string[]
}

const ROOT = join(import.meta.dirname, '..', '..')
const FROM_SOURCE = join(ROOT, 'test', 'from-source.mjs')
const MINUTES = 60_000

const runAll = async (mistakes: Mistakes): Promise<readonly Ran[]> => {
  const child = spawn(process.execPath, ['--import', FROM_SOURCE, join(import.meta.dirname, 'run.ts')], { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, VITEST: undefined, VITEST_WORKER_ID: undefined, VITEST_POOL_ID: undefined }, timeout: 7 * MINUTES, killSignal: 'SIGKILL' })
  child.stdin.end(JSON.stringify(mistakes))
  return (await text(child.stdout)).split('\n').filter((line) => line.startsWith('{"mistake"')).map((line) => JSON.parse(line) as Ran)
}

/** Every run tests that the places of the mistakes and the names of their tests exist. The mistakes are planted where there is time. */
export const catches = (mistakes: Mistakes): void => {
  test.for(Object.entries(mistakes))('there is a place and a test for the mistake that %s', ([, mistake]) => {
    planted(readFileSync(join(ROOT, mistake.file), 'utf8'), mistake)
    expect(existsSync(join(ROOT, mistake.by)), mistake.by).toBe(true)
  })
  describeWith('with the mistake in the sources', ifLong({ ok: true }), () => plantAll(mistakes))
}

/** One test for each mistake: the test that is named with it fails when the mistake is in the sources, and passes when it is not. */
const plantAll = (mistakes: Mistakes): void => {
  let ran: readonly Ran[]
  beforeAll(async () => {
    ran = await runAll(mistakes)
  }, 8 * MINUTES)

  test.for(Object.keys(mistakes))('it is noticed when %s', (name) => {
    const wanted = mistakes[name]?.test ?? ''
    const sound = ran.filter(({ mistake }) => mistake === null).flatMap(({ tests }) => tests).filter((one) => one.name.includes(wanted))
    expect(sound.map(({ state }) => state), `without the mistake: ${wanted}`).toEqual(['passed'])
    const [broken] = ran.filter(({ mistake }) => mistake === name)
    expect(broken?.errors).toEqual([])
    expect(broken?.tests.filter(({ name: full }) => full.includes(wanted)).map(({ state }) => state), `with the mistake: ${wanted}`).toEqual(['failed'])
  })
}
