import type { Variables } from '../../producers/variables.ts'
import type { Env } from './variables.ts'

/** Variables that docker-compose.yml and the tests use. The program does not read these variables, and reports no mistake for them. */
const OTHERS = /^TRIBUTARY_(KAFKA_PORT|DYNAMODB_PORT|TIMESTREAM_PORT|REQUIRE_\w+|TEST_\w+)$/

/** Returns one mistake per variable that begins with `TRIBUTARY_` and that the program does not read. Most often such a name is misspelt. */
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
  // A known name is near if at most a third of the letters after the prefix differ. In a short name one letter may always differ.
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
