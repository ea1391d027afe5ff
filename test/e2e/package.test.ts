import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv, freshFolder } from './program.ts'

const root = join(import.meta.dirname, '..', '..')

/** The folder of the package as npm installs it. It uses the dependencies of this clone. */
const installPackage = (): string => {
  const folder = freshFolder()
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as [{ filename: string }]
  execFileSync('tar', ['-xf', join(folder, filename), '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'package')
}

test('the installed package reads its schemas, and explains how to get the benchmarks', { timeout: 120_000 }, () => {
  const folder = installPackage()
  const tributary = (...args: readonly string[]) => spawnSync(process.execPath, [join(folder, 'bin/tributary.js'), ...args], { cwd: folder, env: cleanEnv({}), encoding: 'utf8' })
  expect(existsSync(join(folder, 'dist/bench'))).toBe(false)
  expect(tributary('schemas', 'check')).toMatchObject({ status: 0, stderr: expect.stringMatching(/^\d+ schemas: /) })
  expect(tributary('bench', 'rebuild')).toMatchObject({ status: 2, stdout: '', stderr: 'tributary: bad-usage: Benchmarks need a clone of the repository with its development dependencies. In the clone, run npm install, then npm run bench NAME.\n' })
})
