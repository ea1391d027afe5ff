import type { RateWindow, ReportedUse } from '../../../projections/ask.ts'

const QUARTER_MS = 15 * 60_000
const DAY_MS = 86_400_000
const DEFAULT_QUARTER = 200

/**
 * The windows in which Strava counts calls, with its default limits. All calls count in `15m` and `day`. Calls that only read also count in
 * `read-15m` and `read-day`. Every call of this program that the budget counts only reads.
 */
export const STRAVA_WINDOWS: readonly RateWindow[] = [
  { name: '15m', ms: QUARTER_MS, limit: DEFAULT_QUARTER },
  { name: 'day', ms: DAY_MS, limit: 2_000 },
  { name: 'read-15m', ms: QUARTER_MS, limit: 100 },
  { name: 'read-day', ms: DAY_MS, limit: 1_000 },
]

const HEADERS = [
  { limit: 'x-ratelimit-limit', usage: 'x-ratelimit-usage', windows: ['15m', 'day'] },
  { limit: 'x-readratelimit-limit', usage: 'x-readratelimit-usage', windows: ['read-15m', 'read-day'] },
] as const

const PAIR = /^\s*(\d{1,9})\s*,\s*(\d{1,9})\s*$/

/** The limits and the use in the headers of an answer, such as `X-RateLimit-Limit: 200,2000`. Ignores headers that are absent or malformed. */
export const useIn = (headers: Pick<Headers, 'get'>): readonly ReportedUse[] =>
  HEADERS.flatMap(({ limit, usage, windows: [short, day] }) => {
    const [limits, used] = [PAIR.exec(headers.get(limit) ?? ''), PAIR.exec(headers.get(usage) ?? '')]
    return limits === null || used === null
      ? []
      : [
          { window: short, limit: Number(limits[1]), used: Number(used[1]) },
          { window: day, limit: Number(limits[2]), used: Number(used[2]) },
        ]
  })

/** The reported use of an answer 429. If the headers show no window that is used up, marks the quarter of an hour as used up. */
export const useAtLimit = (use: readonly ReportedUse[]): readonly ReportedUse[] => {
  if (use.some(({ limit, used }) => used >= limit)) return use
  const limit = use.find(({ window }) => window === '15m')?.limit ?? DEFAULT_QUARTER
  return [...use.filter(({ window }) => window !== '15m'), { window: '15m', limit, used: limit }]
}
