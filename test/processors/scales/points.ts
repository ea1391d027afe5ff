import { scalesSeries } from '../../../processors/scales/series.ts'
import type { Versioned } from '../../../processors/engine/ports/series.ts'
import type { Event } from '../../../schemas/event.ts'
import { foldInto, type Table } from './given.ts'

/** The items and the points that the fold of the series makes from events. */
export const measuredBy = (
  events: readonly Event[],
): { readonly table: Table; readonly points: readonly Versioned[] } => {
  const table: Table = new Map()
  const points = events.flatMap((event, position) =>
    foldInto(table, event, position, scalesSeries).flatMap((result) =>
      (result.points ?? []).map((point) => ({ ...point, version: position + 1 })),
    ),
  )
  return { table, points }
}
