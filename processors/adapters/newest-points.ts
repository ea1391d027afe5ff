import { seriesName } from '../../projections/series.ts'
import type { Versioned } from '../engine/ports/series.ts'

/** Keeps only the point with the highest version among all points with the same measure, dimensions and instant. */
export const newestOf = (points: readonly Versioned[], dims: readonly string[]): readonly Versioned[] => {
  const newest = new Map<string, Versioned>()
  for (const point of points) {
    const id = `${point.measure}\u0000${point.at}\u0000${seriesName(point, dims)}`
    if ((newest.get(id)?.version ?? -1) < point.version) newest.set(id, point)
  }
  return [...newest.values()]
}
