// Which test files `npm test` may run a second time, alone, if they fail beside others.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Tests of folds, the engine, embedded adapters and their planted bugs: here a child process alone is no reason to run a test again. */
const NEVER_FOR_A_PROCESS = ['processors', 'projections', 'schemas', 'planted', 'disk', 'simulation'].map(
  (folder) => join(root, 'test', folder) + sep,
)

/** The built program, which other test files start through this one. */
const PROGRAM = join(root, 'test', 'e2e', 'program.ts')
const SERVICES = join(root, 'test', 'services') + sep

const importsOf = (file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s(?!type\s)[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm,
    ),
  ].map(([, from, bare]) => from ?? bare)

/** The file and all files of test/ that it imports, directly or through others. */
const reachedFrom = (file, seen = new Set()) => {
  if (seen.has(file) || !existsSync(file)) return seen
  seen.add(file)
  for (const name of importsOf(file)) {
    const target = name.startsWith('.') ? resolve(dirname(file), name) : undefined
    if (target?.startsWith(join(root, 'test') + sep)) reachedFrom(target, seen)
  }
  return seen
}

const startsProcesses = (file) =>
  importsOf(file).some((name) => name === 'node:child_process' || name === 'testcontainers')

/** `services`, `program` or `process`: what the test runs beside itself. Undefined if it may never be run a second time. */
export const reasonToRunAgain = (file) => {
  const reached = [...reachedFrom(resolve(root, file))]
  if (reached.some((each) => each.startsWith(SERVICES) && startsProcesses(each))) return 'services'
  if (reached.includes(PROGRAM)) return 'program'
  if (NEVER_FOR_A_PROCESS.some((folder) => resolve(root, file).startsWith(folder))) return undefined
  return reached.some(startsProcesses) ? 'process' : undefined
}

/** More files than this fail for a reason of their own. */
const MOST_FILES = 2

/**
 * The files to run once more: none if a file failed that may not be run again, or if too many failed.
 * `failed` are the failed files of vitest's JSON report.
 */
export const filesToRunAgain = (failed) =>
  failed.length <= MOST_FILES && failed.every(({ name }) => reasonToRunAgain(name) !== undefined)
    ? failed.map(({ name }) => name)
    : []

/** The files of both runs. A test that failed in the first run and did not pass in the second has failed, also if the second skipped it. */
export const afterSecondRun = (first, second) => {
  const judged = second.map((file) => {
    const before = first.find(({ name }) => name === file.name)
    const failed = new Set(
      (before?.assertionResults ?? []).filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    )
    return {
      ...file,
      assertionResults: file.assertionResults.map((test) =>
        failed.has(test.fullName) && test.status !== 'passed' ? { ...test, status: 'failed' } : test,
      ),
    }
  })
  return [...first.filter(({ name }) => !second.some((file) => file.name === name)), ...judged]
}

/** How many tests of these files failed in the first run; a file that could not be loaded counts once. */
export const countRunTwice = (failed, again) =>
  failed
    .filter(({ name }) => again.includes(name))
    .reduce(
      (sum, { assertionResults }) =>
        sum + Math.max(1, assertionResults.filter(({ status }) => status === 'failed').length),
      0,
    )

export const lastLine = ({ passed, failed, skipped, twice }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped, ${twice} run twice`

export const nameOf = (file) => relative(root, file)
