import { rateLimitExceeded, type Answer } from './answer.ts'
import type { LocalStrava } from './strava.ts'

/** Adds the headers of both rate limits. */
export const withLimitHeaders = (strava: LocalStrava, answer: Answer): Answer => ({
  ...answer,
  headers: { ...strava.limits.headers(), ...answer.headers },
})

/** Counts a call, and answers it if no limit is exceeded. A refused call counts too. */
export const counted = async (strava: LocalStrava, answer: () => Answer | Promise<Answer>): Promise<Answer> => {
  const exceeded = strava.limits.count()
  return withLimitHeaders(strava, exceeded === undefined ? await answer() : rateLimitExceeded(exceeded))
}
