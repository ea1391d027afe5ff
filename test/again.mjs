// Decides which test files `npm test` may run a second time, alone, after they failed while other files ran at the same time.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Folders of deterministic tests. A child process is no reason to run a test file of these folders a second time. */
const NEVER_FOR_A_PROCESS = ['processors', 'projections', 'schemas', 'planted', 'disk', 'simulation'].map(
  (folder) => join(root, 'test', folder) + sep,
)

/** The helper file through which test files start the built program. */
const PROGRAM = join(root, 'test', 'e2e', 'program.ts')
const SERVICES = join(root, 'test', 'services') + sep

const importsOf = (file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s(?!type\s)[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm,
    ),
  ].map(([, from, bare]) => from ?? bare)

/** Returns the file and all files of test/ that it imports, directly or through other files. */
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

/**
 * Returns the reason why a test file may run a second time: it uses real `services`, the built `program`, or another `process`. Returns undefined
 * if the file must not run a second time.
 */
export const reasonToRunAgain = (file) => {
  const reached = [...reachedFrom(resolve(root, file))]
  if (reached.some((each) => each.startsWith(SERVICES) && startsProcesses(each))) return 'services'
  if (reached.includes(PROGRAM)) return 'program'
  if (NEVER_FOR_A_PROCESS.some((folder) => resolve(root, file).startsWith(folder))) return undefined
  return reached.some(startsProcesses) ? 'process' : undefined
}

/** If more files than this fail, the load of the machine is not the probable cause, and no file runs a second time. */
const MOST_FILES = 2

/**
 * Returns the files to run a second time. Returns none if a file failed that must not run again, or if more than `MOST_FILES` failed.
 * `failed` contains the failed files of vitest's JSON report.
 */
export const filesToRunAgain = (failed) =>
  failed.length <= MOST_FILES && failed.every(({ name }) => reasonToRunAgain(name) !== undefined)
    ? failed.map(({ name }) => name)
    : []

/**
 * Merges the reports of both runs. The second run replaces the report of a file that it contains. A test that failed in the first run counts as
 * failed unless it passed in the second run: a skipped test counts as failed, too.
 */
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

/** Returns how many tests of the files `again` failed in the first run. A file that could not be loaded has no failed tests, and counts as one. */
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
