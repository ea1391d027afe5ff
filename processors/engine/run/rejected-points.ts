import type { Point } from '../../../projections/series.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Series } from '../ports/series.ts'

/** Reports each point that the store rejects. The event of the point is folded anyway. */
export const reportRejected = (series: Series, failed: (error: unknown) => void): Pick<Series, 'write'> => ({
  write: async (points) => {
    const rejected = await series.write(points)
    for (const { point, reason } of rejected) failed(rejectedPoint(point, reason))
    return rejected
  },
})

const rejectedPoint = ({ measure, dims, at }: Point, reason: string): Fault =>
  new Fault(
    'series-rejected',
    `The series store rejects the ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}: ${reason}. The event is in the log. To store the point, increase the table's retention and rebuild the series.`,
  )
