/** How many seeds the simulation runs: in every `npm test`, and in CI or with TRIBUTARY_LONG=1. */
export const SEEDS = { short: 150, long: 2_000 } as const
