/** Limits how often something may happen: `perSecond` in the long run, `burst` at once. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Returns the time from which the sender is within its rate again, after `count` more messages. If this time is later than `now`, the sender
 * exceeds the rate. `before`: the result of the previous call, or 0 at first. All times are in milliseconds.
 */
export const allowedFrom = (
  before: number,
  { count, now }: { count: number; now: number },
  { perSecond, burst }: Rate,
): number => Math.max(before, now - (burst / perSecond) * 1000) + (count / perSecond) * 1000
