import type { Change } from './projection.ts'

/** By role: the earliest time at which a row that an event writes is due, in epoch milliseconds. Absent: the event writes no row for the role. */
export type Due = { readonly [R in Role]?: number }
type Role = 'sender' | 'timers' | 'fetcher'

/** The rows that the engine writes for the derived events, the timers and the asks of an event. */
export interface OutgoingRows {
  readonly changes: readonly Change[]
  /** The number of changes that count towards `MAX_CHANGES`. It is the same in a build, which writes fewer rows. */
  readonly count: number
  readonly due: Due
}

export const NOTHING_DUE: Due = {}

/** Merges the due times of two events. */
export const earliest = (a: Due, b: Due): Due => {
  if (a === NOTHING_DUE || b === NOTHING_DUE) return a === NOTHING_DUE ? b : a
  const least: { [R in Role]?: number } = { ...a }
  for (const role of ['sender', 'timers', 'fetcher'] as const) {
    const at = b[role]
    if (at !== undefined) least[role] = Math.min(least[role] ?? Infinity, at)
  }
  return least
}
