/** The number of kills: `short` in `npm test` and `npm run kill-cycles`, `long` in CI or with TRIBUTARY_LONG=1. */
export const KILL_CYCLES = { short: 4, long: 30 } as const
