import { isSecret, NAMES } from './variables.ts'
import type { Env } from './variables.ts'

const LATER = ['SCHEMA_REGISTRY', 'OIDC_ISSUER', 'STRAVA_'].map((name) => `TRIBUTARY_${name}`)

/** Of docker-compose.yml and of the tests: not ours to read, and no mistake. */
const OTHERS = /^TRIBUTARY_(KAFKA_PORT|DYNAMODB_PORT|TIMESTREAM_PORT|REQUIRE_\w+|TEST_\w+)$/

/** A variable of ours by its prefix that nobody reads is a mistake, most often of spelling. */
export const unknownNames = (env: Env): string[] => {
  const known = new Set<string>([...NAMES, ...NAMES.filter(isSecret).map((name) => `${name}_FILE`)])
  return Object.keys(env)
    .filter((name) => name.startsWith('TRIBUTARY_') && !known.has(name) && !OTHERS.test(name))
    .sort()
    .map((name) => LATER.some((prefix) => name.startsWith(prefix))
      ? `${name} configures a part that this version does not have; unset it.`
      : `${name} is not a variable of this program${nearest(name)}; unset it or mend its name.`)
}

const PREFIX = 'TRIBUTARY_'

const nearest = (name: string): string => {
  const scored = NAMES.map((known) => ({ known, distance: editDistance(name, known) })).sort((a, b) => a.distance - b.distance)
  const best = scored[0]
  // A third of what was written may be wrong; in a short name, one or two letters.
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
