/** The number of seeds that the tests simulate. `short`: in every `npm test`. `long`: in CI, or with TRIBUTARY_LONG=1. */
export const SEEDS = { short: 150, long: 2_000 } as const
