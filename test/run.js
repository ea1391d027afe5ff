// `npm test`. Builds the program for the end-to-end tests, reports missing services of this machine and how to get them, runs all tests,
// and ends with one line: N passed, N failed, N skipped, N run twice.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterSecondRun, countRunTwice, filesToRunAgain, lastLine, nameOf } from './again.mjs'

const root = join(import.meta.dirname, '..')
const bin = (name) => join(root, 'node_modules', ...name)
const node = (args, env = {}) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1
const answers = (command, args) => spawnSync(command, args, { stdio: 'ignore', timeout: 20_000 }).status === 0

const close = (counts, code) => {
  console.log(`\n${lastLine({ twice: 0, ...counts })}`)
  process.exit(code === 0 && counts.failed > 0 ? 1 : code)
}

/** Skips the tests on services even if this machine has them, as .ci/run does for other Node versions. */
const isWithoutServices = process.env.TRIBUTARY_TEST_WITHOUT_SERVICES !== undefined
const hasJava = !isWithoutServices && answers('java', ['-version']) && answers('mvn', ['-version'])
const hasContainers = !isWithoutServices && answers('docker', ['info'])
const lacks = [
  [
    hasJava,
    'Java 17 and Maven are not here: tests on real Kafka and DynamoDB Local need them or a container engine. Debian: apt-get install openjdk-17-jre-headless maven',
  ],
  [
    ['mosquitto', '/usr/sbin/mosquitto'].some(
      (path) => spawnSync(path, ['-h'], { stdio: 'ignore' }).error === undefined,
    ),
    'Mosquitto is not here: tests on a real MQTT broker need it. Debian: apt-get install mosquitto',
  ],
  [
    ['promtool', join(root, '.cache', 'prometheus', 'usr', 'bin', 'promtool')].some((path) =>
      answers(path, ['--version']),
    ),
    'Prometheus is not here: tests of the alert rules need it. Debian: apt-get install prometheus',
  ],
  [
    answers('gcc', ['--version']),
    'gcc is not here: the tests that observe the disk compile their observer with it. Debian: apt-get install gcc libc6-dev',
  ],
  [
    ['bash', 'zsh', 'fish'].every((shell) => answers(shell, ['--version'])),
    'bash, zsh or fish is not here: the tests of shell completion run each of them. Debian: apt-get install bash zsh fish',
  ],
  [
    hasContainers,
    'No container engine answers: tests of docker-compose.yml and of the container providers need one. See https://docs.docker.com/engine/install',
  ],
]
  .filter(([there]) => !there)
  .map(([, how]) => how)
if (isWithoutServices)
  lacks.splice(0, Infinity, 'TRIBUTARY_TEST_WITHOUT_SERVICES is set: the tests on services do not run.')
for (const how of lacks) console.log(`SKIPPED HERE: ${how}`)

if (node([bin(['typescript', 'bin', 'tsc']), '-p', 'tsconfig.build.json']) !== 0) {
  console.error('The program does not build; nothing was tested.')
  close({ passed: 0, failed: 1, skipped: 0 }, 1)
}

const vitest = (args) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-tests-'))
  const report = join(folder, 'report.json')
  const unhandled = join(folder, 'unhandled')
  const code = node(
    [
      bin(['vitest', 'vitest.mjs']),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--reporter=./test/unhandled.mjs',
      ...args,
    ],
    {
      TRIBUTARY_TEST_UNHANDLED: unhandled,
      ...(!hasJava && !hasContainers && { TRIBUTARY_TEST_WITHOUT_SERVICES: '1' }),
    },
  )
  try {
    return {
      code,
      files: JSON.parse(readFileSync(report, 'utf8')).testResults,
      unhandled: Number(readFileSync(unhandled, 'utf8')),
    }
  } catch {
    return { code: code || 1 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const args = process.argv.slice(2)
const firstOption = args.findIndex((arg) => arg.startsWith('-'))
const options = firstOption < 0 ? [] : args.slice(firstOption)
const first = vitest(args)
if (first.files === undefined) {
  console.error('The test runner ended without a report.')
  close({ passed: 0, failed: 1, skipped: 0 }, first.code)
}

const failing = first.files.filter(({ status }) => status === 'failed')
// A test of real services or whole processes can fail only because the machine is busy. It runs a second time alone, and that result counts.
const again = first.unhandled > 0 ? [] : filesToRunAgain(failing)
for (const name of again) console.log(`\nFAILED NEXT TO OTHERS, RUNS ONCE MORE ALONE: ${nameOf(name)}`)
const second = again.length > 0 ? vitest([...again, ...options]) : undefined
const code = second?.code ?? first.code
const files = second?.files === undefined ? first.files : afterSecondRun(first.files, second.files)
const unhandled = second === undefined ? first.unhandled : (second.unhandled ?? 1)
if (unhandled > 0) console.log(`errors outside of any test: ${unhandled}`)

const tests = files.flatMap(({ assertionResults }) => assertionResults)
const skipped = tests.filter(({ status }) => status === 'pending' || status === 'skipped' || status === 'todo')
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`)
// A file that could not be loaded has no failed tests, and its failure is reported here.
const broken = files.filter(
  ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
)
for (const { name } of broken) console.log(`failed to run: ${name}`)
if (skipped.length > 0 && !process.env['TRIBUTARY_LONG'])
  console.log('SKIPPED HERE: what takes many minutes runs with TRIBUTARY_LONG=1 npm test, and in .ci/run.')
for (const how of skipped.length > 0 ? lacks : []) console.log(`SKIPPED HERE: ${how}`)
for (const name of again) console.log(`run twice: ${nameOf(name)}`)
close(
  {
    twice: countRunTwice(failing, again),
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length + broken.length + unhandled,
    skipped: skipped.length,
  },
  code,
)
