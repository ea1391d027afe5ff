import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICES_FOLDER } from '../services/shared.ts'

type Change = readonly [from: string | RegExp, to: string | ((all: string, version: string) => string)]

const NEXT_FOLDS: readonly Change[] = [[/foldVersion: (\d+)/, (_, version) => `foldVersion: ${Number(version) + 1}`]]

/** Later releases of the program: changes of the built files, by release. Each changes one rule and raises the fold version. */
const RELEASES = {
  /** A day begins at five in the morning instead of four. */
  'five-am': {
    'projections/meals/day.js': [
      ['{ 1: { startMinutes: 4 * 60 } }', '{ 1: { startMinutes: 4 * 60 }, 2: { startMinutes: 5 * 60 } }'],
      ['DAY_RULE_VERSION = 1', 'DAY_RULE_VERSION = 2'],
    ],
    'processors/meals/domain.js': NEXT_FOLDS,
  },
  /** Pours of less than half a gallon are not detected. */
  'large-pours': {
    'projections/scales/settings.js': [['pour_min_gallons: 0.05', 'pour_min_gallons: 0.5']],
    'processors/scales/domain.js': NEXT_FOLDS,
    'processors/scales/series.js': NEXT_FOLDS,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly Change[]>>>>

export type Release = keyof typeof RELEASES

const root = join(import.meta.dirname, '..', '..')
const folders = new Map<Release, string>()

/** Returns the folder of a release: a changed copy of the built program. Changes by a loader hook would double the CPU time of each start. */
export const folderOf = (release: Release): string => {
  const folder = folders.get(release) ?? copyOf(release)
  folders.set(release, folder)
  return folder
}

/** Creates the copy, or finds the copy of another test process of this run. The copy gets its final name when it is complete. */
const copyOf = (release: Release): string => {
  const run = process.env[SERVICES_FOLDER] ?? tmpdir()
  const aside = mkdtempSync(join(run, `${release}-`))
  for (const name of ['bin', 'dist', 'schemas', 'package.json'])
    cpSync(join(root, name), join(aside, name), {
      recursive: true,
      filter: (path) => !/\/dist\/(bench|test)$/.test(path),
    })
  symlinkSync(join(root, 'node_modules'), join(aside, 'node_modules'))
  for (const [path, changes] of Object.entries<readonly Change[]>(RELEASES[release]))
    change(join(aside, 'dist', path), changes)
  const folder = join(run, `release-${release}`)
  try {
    renameSync(aside, folder)
  } catch {
    // Another process has created the same copy in the meantime, so this one is not needed.
    rmSync(aside, { recursive: true })
  }
  return folder
}

const change = (path: string, changes: readonly Change[]): void => {
  const text = changes.reduce(
    (before, [from, to]) => {
      const after = before.replace(from, to as string)
      if (after === before) throw new Error(`${path} no longer contains ${String(from)}`)
      return after
    },
    readFileSync(path, 'utf8'),
  )
  writeFileSync(path, text)
}
