import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const FOLDS = [[/foldVersion: (\d+)/, (_, version) => `foldVersion: ${Number(version) + 1}`]]

/** The changes of each release. Its folds have the next version. */
const RELEASES = {
  'five-am': [
    ['/projections/meals/day.js', [['{ 1: { startMinutes: 4 * 60 } }', '{ 1: { startMinutes: 4 * 60 }, 2: { startMinutes: 5 * 60 } }'], ['DAY_RULE_VERSION = 1', 'DAY_RULE_VERSION = 2']]],
    ['/processors/meals/domain.js', FOLDS],
  ],
  'large-pours': [
    ['/projections/scales/settings.js', [['pour_min_gallons: 0.05', 'pour_min_gallons: 0.5']]],
    ['/processors/scales/domain.js', FOLDS],
    ['/processors/scales/series.js', FOLDS],
  ],
}

let changed = []

export const initialize = (release) => {
  changed = RELEASES[release]
}

export const load = async (url, context, next) => {
  const changes = changed.find(([path]) => url.endsWith(path))?.[1]
  if (changes === undefined) return next(url, context)
  let source = await readFile(fileURLToPath(url), 'utf8')
  for (const [from, to] of changes) {
    const before = source
    source = source.replace(from, to)
    if (source === before) throw new Error(`${url} no longer holds ${from}`)
  }
  return { format: 'module', source, shortCircuit: true }
}
