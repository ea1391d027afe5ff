import type { Event } from '../../schemas/event.ts'

/** The last instant that a timer or an ask can have. */
const LAST = Date.UTC(9999, 11, 31)

/** The time of a timer or an ask: `delayMs` after the event. Default of `delayMs`: 0, which means that it is due at once. */
export const dueAfter = ({ meta: { occurredAt } }: Event, delayMs = 0): number =>
  Math.min(Math.max(occurredAt + delayMs, 0), LAST)

/** The time of the event in epoch seconds. */
export const secondOf = ({ meta: { occurredAt } }: Event): number => Math.floor(occurredAt / 1000)

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
