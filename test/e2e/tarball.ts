import { execFileSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'
import { freshFolder } from './program.ts'

/** The value of PATH for npm and the packed programs. It begins with the folder of the Node that runs this test, so they run on the same Node. */
export const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)

interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
}

/** Packs the package in a folder. With `--ignore-scripts`, npm builds nothing and packs the existing files. Default of `to`: a new folder. */
export const pack = (
  folder: string,
  scripts: '--ignore-scripts' | '--foreground-scripts=false',
  to: string = freshFolder(),
): Packed => {
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

const canInstall = isLong || process.env['TRIBUTARY_TEST_INSTALL'] !== undefined
if (!canInstall)
  process.stderr.write(
    'SKIPPED the installation of the packed tarball: TRIBUTARY_TEST_INSTALL=1 npm test runs it, and so does .ci/run\n',
  )

/** A test that installs packages from a registry. Skipped unless the run is long or `TRIBUTARY_TEST_INSTALL` is set. */
export const installTest = test.skipIf(!canInstall)
