import { describe, test } from 'vitest'

/** A service that tests want: there, or one line that says how to get it. */
export type Available =
  | { readonly ok: true }
  /** `requiredBy`: the variable that, set (as in CI), makes its absence a failure; TRIBUTARY_REQUIRE_SERVICES unless told. */
  | { readonly ok: false; readonly how: string; readonly requiredBy?: 'TRIBUTARY_REQUIRE_SERVICES' | 'TRIBUTARY_REQUIRE_CONTAINERS' }

/** Whether there is time for what takes many minutes: in CI, or when asked for. */
export const isLong = Boolean(process.env['TRIBUTARY_LONG'] ?? process.env['TRIBUTARY_REQUIRE_SERVICES'])

/** How many random inputs a fuzz or property test tries: all of them where there is time, a fifth elsewhere. `TRIBUTARY_TEST_TRIES=N` tries N times as many. */
export const tries = (count: number): number => (isLong ? count : count / 5) * Number(process.env['TRIBUTARY_TEST_TRIES'] ?? 1)

/** A test that takes long beside one that tells nearly the same: skipped by name where there is no time. */
export const longTest = test.skipIf(!isLong)

/** What takes many minutes is not for every `npm test`. */
export const ifLong = (available: Available): Available =>
  isLong ? available : { ok: false, how: 'it takes many minutes; TRIBUTARY_LONG=1 npm test runs it, and so does .ci/run' }

/** A suite that needs a service. Without it the suite is skipped, out loud, and its name in the report says why; or it fails, where it is required. */
export const describeWith = (name: string, available: Available, suite: () => void): void => {
  if (available.ok) {
    describe(name, suite)
  } else if (process.env[available.requiredBy ?? 'TRIBUTARY_REQUIRE_SERVICES']) {
    test(name, () => {
      throw new Error(`required here, but missing: ${available.how}`)
    })
  } else {
    process.stderr.write(`SKIPPED ${name}: ${available.how}\n`)
    test.skip(`${name} (skipped: ${available.how})`, () => {})
  }
}
