import { scalesSeries } from '../../../processors/scales/series.ts'
import type { Versioned } from '../../../processors/engine/ports/series.ts'
import type { Event } from '../../../schemas/event.ts'
import { foldInto, type Table } from './given.ts'

/** Folds events. Returns the items, and the points of the series with their versions. */
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
