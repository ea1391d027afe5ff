import type { _Record, RejectedRecord } from '@aws-sdk/client-timestream-write'
import type { SeriesSpec } from '../../../projections/series.ts'
import type { Rejected, Versioned } from '../../engine/ports/series.ts'

/** The maximum number of records per call. */
const BATCH = 100

export const batchesOf = (points: readonly Versioned[]): readonly (readonly Versioned[])[] =>
  Array.from({ length: Math.ceil(points.length / BATCH) }, (_, index) =>
    points.slice(index * BATCH, (index + 1) * BATCH),
  )

/** The request for a batch of points, with one multi-measure record per point (S66). Dimensions that all points share are common attributes. */
export const recordsOf = (
  points: readonly Versioned[],
  { dims, measures }: SeriesSpec,
): { readonly CommonAttributes: _Record; readonly Records: _Record[] } => {
  const isShared = (dim: string): boolean => points.every((point) => point.dims[dim] === points[0]?.dims[dim])
  const dimensions = (point: Versioned, of: readonly string[]) =>
    of.map((Name) => ({ Name, Value: point.dims[Name] ?? '' }))
  const [shared, own] = [dims.filter(isShared), dims.filter((dim) => !isShared(dim))]
  return {
    CommonAttributes: {
      MeasureValueType: 'MULTI',
      TimeUnit: 'MILLISECONDS',
      ...(points[0] !== undefined && shared.length > 0 && { Dimensions: dimensions(points[0], shared) }),
    },
    Records: points.map((point) => ({
      ...(own.length > 0 && { Dimensions: dimensions(point, own) }),
      MeasureName: point.measure,
      MeasureValues: Object.entries(measures[point.measure] ?? {}).flatMap(([Name, type]) => {
        const value = point.values[Name] ?? null
        return value === null
          ? []
          : [{ Name, Value: String(value), Type: type === 'number' ? ('DOUBLE' as const) : ('VARCHAR' as const) }]
      }),
      Time: String(point.at),
      Version: point.version,
    })),
  }
}

/** Returns the points that Timestream will never accept. A point is omitted if Timestream already stores a newer version of it. */
export const rejectedOf = (points: readonly Versioned[], rejected: readonly RejectedRecord[]): readonly Rejected[] =>
  rejected.flatMap(({ RecordIndex = -1, Reason = 'Timestream gave no reason', ExistingVersion }) => {
    const point = points[RecordIndex]
    return point === undefined || (ExistingVersion !== undefined && ExistingVersion > point.version)
      ? []
      : [{ point, reason: Reason }]
  })
