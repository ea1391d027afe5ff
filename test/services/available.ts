import { describe, test } from 'vitest'

/** A service that tests want: there, or one line that says how to get it. */
export type Available = { readonly ok: true } | { readonly ok: false; readonly how: string }

/**
 * A suite that needs a service. Without it the suite is skipped, and its name in the report says why;
 * where TRIBUTARY_REQUIRE_SERVICES is set (as in CI) a missing service is a failure instead.
 */
export const describeWith = (name: string, available: Available, suite: () => void): void => {
  if (available.ok) {
    describe(name, suite)
  } else if (process.env['TRIBUTARY_REQUIRE_SERVICES']) {
    test(name, () => {
      throw new Error(`required here, but missing: ${available.how}`)
    })
  } else {
    process.stderr.write(`SKIPPED ${name}: ${available.how}\n`)
    test.skip(`${name} (skipped: ${available.how})`, () => {})
  }
}
