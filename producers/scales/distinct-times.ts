import type { Event } from '../../schemas/event.ts'

/**
 * Moves consecutive readings with equal times a millisecond apart, in their order. A device without a clock gives all readings of a message the
 * same time. A tap stores one reading per instant, so without this the other readings would be lost.
 */
export const withDistinctTimes = (events: readonly Event[]): readonly Event[] => {
  let [reported, assigned] = [NaN, NaN]
  return events.map((event) => {
    if (event.type !== 'ReadingReported') return event
    const { at } = event.data as { readonly at: number }
    assigned = at === reported ? assigned + 1 : at
    reported = at
    return assigned === at
      ? event
      : { ...event, meta: { ...event.meta, occurredAt: assigned }, data: { ...(event.data as object), at: assigned } }
  })
}
