import { generateActivity } from './activity.ts'
import { announceActivity } from './announcing.ts'
import type { LocalStrava } from './strava.ts'

const TICK_MS = 10

/** Sends events of generated activities at a rate, to measure a receiver. The activities exist and are not stored. */
export interface Load {
  /** Replaces a running load. Announces activity 0 of each linked athlete, then activity 1 of each, and so on. */
  start(options: { readonly perSecond: number; readonly count: number }): void
  state(): { readonly sent: number; readonly left: number }
  stop(): void
}

export const createLoad = (strava: LocalStrava): Load => {
  let timer: NodeJS.Timeout | undefined
  let sent = 0
  let left = 0

  /** Every generated activity of every linked athlete, in the order of the announcements. */
  const activities = function* () {
    for (let n = 0; ; n++) {
      let found = false
      for (const athlete of strava.athletes.all()) {
        if (n >= athlete.generator.count || strava.tokens.grantOfAthlete(athlete.id) === undefined) continue
        found = true
        yield generateActivity(athlete, n)
      }
      if (!found) return
    }
  }
  const stop = (): void => {
    clearInterval(timer)
    left = 0
  }
  return {
    stop,
    state: () => ({ sent, left }),
    start: ({ perSecond, count }) => {
      stop()
      sent = 0
      left = count
      const source = activities()
      const startedAt = performance.now()
      timer = setInterval(() => {
        const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * perSecond))
        while (sent < due) {
          const { value, done } = source.next()
          if (done === true) return stop()
          announceActivity(strava, undefined, value)
          sent++
          left = count - sent
        }
        if (left === 0) stop()
      }, TICK_MS)
    },
  }
}
