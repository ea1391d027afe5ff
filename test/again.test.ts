import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { afterSecondRun, countRunTwice, filesToRunAgain, lastLine, reasonToRunAgain } from './again.mjs'

const root = join(import.meta.dirname, '..')
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
const under = (...folders: readonly string[]): readonly string[] =>
  files.filter((file) => folders.some((folder) => file.startsWith(join('test', folder))))
const repeated = (list: readonly string[]): readonly string[] =>
  list.filter((file) => reasonToRunAgain(file) !== undefined)

const failed = (name: string, ...statuses: readonly string[]) => ({
  name: join(root, name),
  assertionResults: statuses.map((status) => ({ status })),
})

describe('a test file may run a second time', () => {
  test('never if it tests folds, the engine, schemas, embedded adapters, their planted bugs or the simulation', () => {
    const pure = under(
      'processors/engine',
      'processors/meals',
      'processors/scales',
      'processors/expenses',
      'processors/adapters/lmdb',
      'processors/adapters/duckdb',
      'processors/adapters/key-file',
      'projections',
      'schemas',
      'simulation',
      'disk',
      'planted/embedded.test.ts',
    )
    expect(pure.length).toBeGreaterThan(50)
    expect(repeated(pure)).toEqual([])
  })

  test('only if it imports code that starts real services, the built program or another process', () => {
    expect(reasonToRunAgain('test/services/kafka/contract.test.ts')).toBe('services')
    expect(reasonToRunAgain('test/planted/services.test.ts')).toBe('services')
    expect(reasonToRunAgain('test/e2e/generations-services.test.ts')).toBe('services')
    expect(reasonToRunAgain('test/e2e/verify.test.ts')).toBe('program')
    expect(reasonToRunAgain('test/docs/tutorial.test.ts')).toBe('program')
    expect(reasonToRunAgain('test/e2e/timestream-local.test.ts')).toBe('process')
    // These tests start no other process: they only check if a service is available, or run a server in the test process.
    expect(reasonToRunAgain('test/simulation/simulation.test.ts')).toBeUndefined()
    expect(reasonToRunAgain('test/producers/expenses/ton/toncenter.test.ts')).toBeUndefined()
    expect(reasonToRunAgain('test/cli/output.test.ts')).toBeUndefined()
    // The workers of a build are threads of the test process, and so no reason to run the test again.
    expect(under('e2e').filter((file) => reasonToRunAgain(file) === undefined)).toEqual([
      'test/e2e/build-workers.test.ts',
    ])
  })

  test('only if all failed files may run again, and not if many failed', () => {
    const [program, services, fold, more] = [
      failed('test/e2e/verify.test.ts', 'failed', 'passed', 'failed'),
      failed('test/e2e/services.test.ts'),
      failed('test/processors/meals/logged.test.ts', 'failed'),
      failed('test/e2e/meals.test.ts', 'failed'),
    ]
    expect(filesToRunAgain([program, services])).toEqual([program.name, services.name])
    expect(filesToRunAgain([program, fold])).toEqual([])
    expect(filesToRunAgain([program, services, more])).toEqual([])
    expect(countRunTwice([program, services], [program.name, services.name])).toBe(3)
    expect(countRunTwice([fold], [])).toBe(0)
  })

  test('and a test that failed before must then pass and not be skipped', () => {
    const run = (...statuses: readonly string[]) => ({
      name: 'a',
      assertionResults: statuses.map((status, index) => ({ fullName: `test ${index}`, status })),
    })
    const statuses = (...second: readonly string[]) =>
      afterSecondRun([run('failed', 'passed'), { ...run('passed'), name: 'b' }], [run(...second)]).map(
        ({ assertionResults }) => assertionResults.map(({ status }) => status),
      )
    expect(statuses('passed', 'passed')).toEqual([['passed'], ['passed', 'passed']])
    expect(statuses('skipped', 'skipped')).toEqual([['passed'], ['failed', 'skipped']])
  })

  test('and the last line counts the repeated tests', () =>
    expect(lastLine({ passed: 3, failed: 0, skipped: 1, twice: 2 })).toBe('3 passed, 0 failed, 1 skipped, 2 run twice'))
})
