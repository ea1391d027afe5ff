/** So many in the long run, and so many at once. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Until when what was taken so far, and `count` more, is paid for at that rate; later than `now`: too fast. */
export const paidUntil = (before: number, { count, now }: { count: number; now: number }, { perSecond, burst }: Rate): number =>
  Math.max(before, now - (burst / perSecond) * 1000) + (count / perSecond) * 1000
