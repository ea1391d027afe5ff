import type { Series, Versioned } from '../ports/series.ts'

/** Collects points, so that the series store receives many in one write. */
export interface PointBuffer {
  add(point: Versioned): void
  isFull(): boolean
  flush(): Promise<void>
  /** The number of points that the store rejected so far. */
  rejected(): number
}

const FULL = 5_000

export const createPointBuffer = (series: Pick<Series, 'write'> | undefined): PointBuffer => {
  let buffered: Versioned[] = []
  let rejected = 0
  const flush = async () => {
    const points = buffered
    buffered = []
    if (points.length > 0 && series !== undefined) rejected += (await series.write(points)).length
  }
  return {
    add: (point) => void buffered.push(point),
    isFull: () => buffered.length >= FULL,
    flush,
    rejected: () => rejected,
  }
}
