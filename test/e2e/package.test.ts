import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'
import { cleanEnv, freshFolder } from './program.ts'

const root = join(import.meta.dirname, '..', '..')
/** Puts the Node that runs this test first, so that npm and the packed programs run on it. */
const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
const BENCH_NEEDS_A_CLONE =
  'tributary: bad-usage: Benchmarks need a clone of the repository with its development dependencies. In the clone, run npm install, then npm run bench NAME.\n'

interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
}

const pack = (folder: string, scripts: '--ignore-scripts' | '--foreground-scripts=false'): Packed => {
  const to = freshFolder()
  const [{ filename, files }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', scripts, '--pack-destination', to], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string; files: readonly { path: string }[] }]
  return { tarball: join(to, filename), files: files.map(({ path }) => path) }
}

/** Runs a program of the package in `folder`. */
const runIn = (folder: string, script: string, args: readonly string[]) =>
  spawnSync(process.execPath, [join(folder, script), ...args], {
    cwd: folder,
    env: { ...cleanEnv({}), PATH },
    encoding: 'utf8',
  })

test('the package contains what its commands need, and neither tests nor benchmarks', { timeout: 120_000 }, () => {
  const { tarball, files } = pack(root, '--ignore-scripts')
  const program = files.filter((file) => !file.startsWith('templates/'))
  expect(program.filter((file) => /(^|\/)(test|bench)\/|\.test\.|\.map$|(?<!\.d)\.ts$|tsbuildinfo/.test(file))).toEqual(
    [],
  )

  // Runs the unpacked package with the dependencies of this clone, which needs no registry.
  const folder = freshFolder()
  execFileSync('tar', ['-xf', tarball, '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const tributary = (...args: readonly string[]) => runIn(join(folder, 'package'), 'bin/tributary.js', args)
  expect(tributary('schemas', 'check')).toMatchObject({ status: 0, stderr: expect.stringMatching(/^\d+ schemas: /) })
  expect(tributary('bench', 'rebuild')).toMatchObject({ status: 2, stdout: '', stderr: BENCH_NEEDS_A_CLONE })
})

/** Skipped except in long runs or with TRIBUTARY_TEST_INSTALL, because it needs a package registry. */
const installTest = test.skipIf(!isLong && process.env['TRIBUTARY_TEST_INSTALL'] === undefined)

/** Installs the tarball into an empty folder, and returns the folder. */
const install = (tarball: string): string => {
  const folder = freshFolder()
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], {
    cwd: folder,
    env: { ...process.env, PATH },
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  expect(stderr).not.toMatch(/EBADENGINE|npm warn deprecated/)
  return folder
}

/** Starts a program. Resolves to its lines up to the first that matches `last`. Kills the program at the end of the test. */
const startIn = async (folder: string, args: readonly string[], last: RegExp): Promise<readonly string[]> => {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      ...cleanEnv({ TRIBUTARY_HTTP: '127.0.0.1:0', TRIBUTARY_ADMIN: '127.0.0.1:0', TRIBUTARY_MQTT: '127.0.0.1:0' }),
      PATH,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (last.test(line)) break
  }
  return lines
}

installTest(
  'the package installs into an empty folder without warnings, and its commands work',
  { timeout: 600_000 },
  async () => {
    const folder = install(pack(root, '--ignore-scripts').tarball)
    const program = 'node_modules/.bin/tributary'
    const tributary = (...args: readonly string[]) => runIn(folder, program, args)
    expect(tributary('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: tributary') })
    expect(tributary('simulate', '--seeds', '5')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^5 seeds, .* no rule broken\n$/),
    })
    expect(tributary('bench', 'rebuild')).toMatchObject({ status: 2, stderr: BENCH_NEEDS_A_CLONE })
    expect(await startIn(folder, [program, 'start'], /^a first token:/)).toContainEqual(
      expect.stringMatching(/^a first token: npx tributary token create /),
    )
    expect(tributary('doctor').stdout).toContain('used by a running server')
    for (const domain of ['meals', 'scales', 'expenses'])
      expect(tributary('demo', '--domain', domain, '--seconds', '1')).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('0 failed'),
      })
    expect(tributary('verify')).toMatchObject({ status: 0 })
    expect(await startIn(folder, ['node_modules/.bin/timestream-local', '--port', '0'], /./)).toEqual([
      expect.stringMatching(/^timestream-local listens on /),
    ])
  },
)

installTest('timestream-local packs and installs alone', { timeout: 600_000 }, async () => {
  const { tarball, files } = pack(join(root, 'timestream-local'), '--foreground-scripts=false')
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'bin/timestream-local.js', 'dist/main.js', 'dist/server.d.ts']),
  )
  const folder = install(tarball)
  expect(runIn(folder, 'node_modules/.bin/timestream-local', ['--help'])).toMatchObject({ status: 0, stderr: '' })
  expect(await startIn(folder, ['node_modules/.bin/timestream-local', '--port', '0'], /./)).toEqual([
    expect.stringMatching(/^timestream-local listens on http:.*, in memory$/),
  ])
  writeFileSync(
    join(folder, 'use.mjs'),
    "import { startTimestreamLocal } from 'timestream-local'\nconst server = await startTimestreamLocal({ port: 0 })\nconsole.log(server.endpoint)\nawait server.close()\n",
  )
  expect(runIn(folder, 'use.mjs', [])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^http:/) })
})
