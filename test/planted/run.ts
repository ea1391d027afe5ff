// A child process of the planted-bug tests. For each mistake it runs the test that must fail, with the mistake in the sources. It also runs
// these tests without any mistake. Prints one line of JSON per test file and run: the mistake, the tests with their states, and the errors.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest, type TestSpecification } from 'vitest/node'
import type { Caught, Mistakes } from './mistake.ts'
import { planted } from './mutate.mjs'

const ROOT = join(import.meta.dirname, '..', '..')
const WITHOUT_MISTAKE = 'without a mistake'
const mistakes = JSON.parse(readFileSync(0, 'utf8')) as Mistakes
const names = Object.keys(mistakes)

const projectOf = (name: string, mistake?: Caught) => ({
  root: ROOT,
  plugins:
    mistake === undefined
      ? []
      : [
          {
            name: 'planted',
            enforce: 'pre' as const,
            transform: (code: string, id: string) =>
              id.split('?')[0] === join(ROOT, mistake.file) ? planted(code, mistake) : undefined,
          },
        ],
  test: { name, include: [], testTimeout: 20_000, hookTimeout: 120_000, retry: 0, pool: 'forks' as const },
})

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const vitest = await createVitest(
  'test',
  { root: ROOT, config: false, watch: false, reporters: [{}], maxWorkers: 2, silent: true },
  {
    test: {
      projects: [projectOf(WITHOUT_MISTAKE), ...names.map((name, index) => projectOf(`bug-${index}`, mistakes[name]))],
    },
  },
)
const projects = new Map(vitest.projects.map((project) => [project.name, project]))
const specOf = (project: string, file: string, tests: readonly string[]): TestSpecification => {
  const found = projects.get(project)
  if (found === undefined) throw new Error(`no project ${project}`)
  return found.createSpecification(join(ROOT, file), { testNamePattern: new RegExp(tests.map(escapeRegExp).join('|')) })
}
const all = Object.values(mistakes)
const files = [...new Set(all.map(({ by }) => by))]
await vitest.runTestSpecifications([
  ...files.map((file) =>
    specOf(
      WITHOUT_MISTAKE,
      file,
      all.filter(({ by }) => by === file).map(({ test }) => test),
    ),
  ),
  ...names.map((name, index) =>
    specOf(`bug-${index}`, (mistakes[name] as Caught).by, [(mistakes[name] as Caught).test]),
  ),
])
for (const module of vitest.state.getTestModules()) {
  const bug = /^bug-(\d+)$/.exec(module.project.name)?.[1]
  const tests = [...module.children.allTests()]
    .filter((test) => test.result().state !== 'skipped')
    .map((test) => ({ name: test.fullName, state: test.result().state }))
  const errors = module.errors().map(({ message }) => message)
  process.stdout.write(`${JSON.stringify({ mistake: bug === undefined ? null : names[Number(bug)], tests, errors })}\n`)
}
await vitest.close()
