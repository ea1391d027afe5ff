import type { LocalClock } from './clock.ts'
import type { Settings } from './settings.ts'

const QUARTER_MS = 900_000
const DAY_MS = 86_400_000

/** The calls of the present window of 15 minutes and of the present day. */
export interface Usage {
  readonly quarter: number
  readonly day: number
}

/** The rate limits of the application. Windows begin at minutes 0, 15, 30 and 45, and at 00:00 UTC. */
export interface RateLimits {
  /** Counts a call, also if a limit is exceeded. Returns the limit that the call exceeds. */
  count(): 'overall' | 'read' | undefined
  headers(): Readonly<Record<string, string>>
  usage(): Usage
  setUsage(usage: Usage): void
}

/** Every endpoint of this service is a read: Strava excludes only uploads and the creation of activities. */
export const createRateLimits = (clock: LocalClock, settings: Settings): RateLimits => {
  const counted = { quarterStart: 0, quarter: 0, dayStart: 0, day: 0 }
  const roll = (): void => {
    const now = clock.now()
    const quarterStart = now - (now % QUARTER_MS)
    const dayStart = now - (now % DAY_MS)
    if (counted.quarterStart !== quarterStart) Object.assign(counted, { quarterStart, quarter: 0 })
    if (counted.dayStart !== dayStart) Object.assign(counted, { dayStart, day: 0 })
  }
  const isExceeded = ([quarter, day]: readonly [number, number]): boolean =>
    counted.quarter > quarter || counted.day > day
  return {
    count: () => {
      roll()
      counted.quarter++
      counted.day++
      if (isExceeded(settings.limits.overall)) return 'overall'
      return isExceeded(settings.limits.read) ? 'read' : undefined
    },
    headers: () => {
      roll()
      const usage = `${counted.quarter},${counted.day}`
      return {
        'X-RateLimit-Limit': settings.limits.overall.join(),
        'X-RateLimit-Usage': usage,
        'X-ReadRateLimit-Limit': settings.limits.read.join(),
        'X-ReadRateLimit-Usage': usage,
      }
    },
    setUsage: (usage) => {
      roll()
      Object.assign(counted, usage)
    },
    usage: () => {
      roll()
      return { quarter: counted.quarter, day: counted.day }
    },
  }
}
