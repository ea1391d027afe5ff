/** True if there is time for tests that take many minutes: in CI, or with `TRIBUTARY_LONG=1`. */
export const isLong = Boolean(process.env['TRIBUTARY_LONG'] ?? process.env['TRIBUTARY_REQUIRE_SERVICES'])

/**
 * The number of random inputs that a property test or fuzz test tries: `count` if `isLong`, otherwise a fifth of `count`.
 * `TRIBUTARY_TEST_TRIES=N` multiplies the number by N.
 */
export const inputCount = (count: number): number =>
  (isLong ? count : count / 5) * Number(process.env['TRIBUTARY_TEST_TRIES'] ?? 1)

/**
 * The seed of all property tests. Every run tries the same inputs, so that a run fails because of a change and not by chance.
 * `TRIBUTARY_TEST_SEED=N` tries other inputs. Default: 7.
 */
export const PROPERTY_SEED: number = Number(process.env['TRIBUTARY_TEST_SEED'] ?? 7)

/** The parameters of `fc.assert` for a property that tries up to `count` inputs. */
export const propertyRuns = (count: number): { readonly numRuns: number; readonly seed: number } => ({
  numRuns: inputCount(count),
  seed: PROPERTY_SEED,
})
