import { describe, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'

/** The result of a check for a service: it is available, or a line describes how to get it. */
export type Available =
  | { readonly ok: true }
  /** `requiredBy`: if this variable is set, as in CI, tests fail without the service. Default: TRIBUTARY_REQUIRE_SERVICES. */
  | {
      readonly ok: false
      readonly how: string
      readonly requiredBy?: 'TRIBUTARY_REQUIRE_SERVICES' | 'TRIBUTARY_REQUIRE_CONTAINERS'
    }

/** If TRIBUTARY_TEST_WITHOUT_SERVICES is set, services count as not available, even if this machine has them. If it is not set, returns undefined. */
export const withoutServices = (): Available | undefined =>
  process.env['TRIBUTARY_TEST_WITHOUT_SERVICES'] === undefined
    ? undefined
    : { ok: false, how: 'unset TRIBUTARY_TEST_WITHOUT_SERVICES' }

/** Declares a test that only long runs execute. A shorter test finds nearly the same mistakes in every run. */
export const longTest = test.skipIf(!isLong)

/** For suites that take many minutes. In a long run, returns the argument. In other runs, the suite counts as not available. */
export const ifLong = (available: Available): Available =>
  isLong
    ? available
    : { ok: false, how: 'it takes many minutes; TRIBUTARY_LONG=1 npm test runs it, and so does .ci/run' }

/**
 * Declares a suite that needs a service. Without the service, the suite is skipped, and its name in the report contains the reason. If the service
 * is required, the suite fails instead.
 */
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
