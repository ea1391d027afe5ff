import { describe, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'

/** A service of tests: available, or one line that describes how to get it. */
export type Available =
  | { readonly ok: true }
  /** `requiredBy`: if this variable is set, as in CI, a missing service is a failure. Default: TRIBUTARY_REQUIRE_SERVICES. */
  | {
      readonly ok: false
      readonly how: string
      readonly requiredBy?: 'TRIBUTARY_REQUIRE_SERVICES' | 'TRIBUTARY_REQUIRE_CONTAINERS'
    }

/** If the variable is set, the tests that need Kafka, DynamoDB Local, Mosquitto or containers are skipped, even if this machine has them. */
export const withoutServices = (): Available | undefined =>
  process.env['TRIBUTARY_TEST_WITHOUT_SERVICES'] === undefined
    ? undefined
    : { ok: false, how: 'unset TRIBUTARY_TEST_WITHOUT_SERVICES' }

/** A long test with a short test that finds nearly the same mistakes. Skipped unless the run is long. */
export const longTest = test.skipIf(!isLong)

/** For a suite of many minutes: not available unless the run is long. */
export const ifLong = (available: Available): Available =>
  isLong
    ? available
    : { ok: false, how: 'it takes many minutes; TRIBUTARY_LONG=1 npm test runs it, and so does .ci/run' }

/** A suite that needs a service. Without the service the suite is skipped, and its name in the report contains the reason. If the service is required, the suite fails. */
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
