import type { Event } from '../../schemas/event.ts'

/**
 * Readings that came together and tell the same instant, as those that tell none do, are a millisecond apart in the order in which they
 * were said: a tap has one reading at an instant, and of several the others would be lost.
 */
export const spaced = (events: readonly Event[]): readonly Event[] => {
  let [said, given] = [NaN, NaN]
  return events.map((event) => {
    if (event.type !== 'ReadingReported') return event
    const { at } = event.data as { readonly at: number }
    given = at === said ? given + 1 : at
    said = at
    return given === at ? event : { ...event, meta: { ...event.meta, occurredAt: given }, data: { ...(event.data as object), at: given } }
  })
}
