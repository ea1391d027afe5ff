import fc from 'fast-check'

/**
 * Property tests try the same cases in every run, so that a run fails because of a change and not by chance. `TRIBUTARY_TEST_SEED=N` tries
 * other cases.
 */
fc.configureGlobal({ seed: Number(process.env['TRIBUTARY_TEST_SEED'] ?? 7) })
