import type { Variables } from '../../producers/variables.ts'
import type { Env } from './variables.ts'

/** Variables of docker-compose.yml and of the tests. The program does not read them, and they are no mistake. */
const OTHERS = /^TRIBUTARY_(KAFKA_PORT|DYNAMODB_PORT|TIMESTREAM_PORT|REQUIRE_\w+|TEST_\w+)$/

/** Returns a mistake for each variable with our prefix that the program does not read. Most often its name is misspelt. */
export const unknownNames = (env: Env, variables: Variables): string[] => {
  const names = Object.keys(variables)
  const known = new Set([
    ...names,
    ...names.filter((name) => variables[name]?.secret === true).map((name) => `${name}_FILE`),
  ])
  return Object.keys(env)
    .filter((name) => name.startsWith('TRIBUTARY_') && !known.has(name) && !OTHERS.test(name))
    .sort()
    .map((name) => `${name} is not a variable of this program${nearest(name, names)}; unset it or correct its name.`)
}

const PREFIX = 'TRIBUTARY_'

const nearest = (name: string, names: readonly string[]): string => {
  const scored = names
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance)
  const best = scored[0]
  // At most a third of the letters may differ, and at least one.
  const most = Math.max(1, Math.floor((name.length - PREFIX.length) / 3))
  return best !== undefined && best.distance <= most ? ` (did you mean ${best.known}?)` : ''
}

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
