import { sameValue } from '../../../projections/item.ts'
import { compare, only, type Pair } from './compare.ts'
import { type Series } from '../ports/series.ts'
import { sideBySide } from './side-by-side.ts'
import { type Point, type SeriesSpec, seriesName } from '../../../projections/series.ts'

type PointKey = Pick<Point, 'measure' | 'dims' | 'at'>

/** A stored point that differs from the fold of the log. */
export interface PointDifference extends PointKey {
  readonly kind: 'missing' | 'extra' | 'changed'
  readonly stored?: Point['values']
  readonly folded?: Point['values']
}

export interface VerifiedPoints {
  readonly points: number
  readonly differences: readonly PointDifference[]
}

interface VerifyPointsParts {
  readonly spec: SeriesSpec
  readonly stored: Pick<Series, 'list' | 'retainedFrom'>
  readonly folded: Pick<Series, 'list'>
  /** Folds all events that the stored points can contain now. */
  readonly advance: () => Promise<void>
}

const ROUNDS = 3

/**
 * Compares stored and folded points in both directions. Points can change during the comparison, so a difference is reported only if the
 * difference stays the same after more events were folded.
 */
export const verifyPoints = async ({ spec, stored, folded, advance }: VerifyPointsParts): Promise<VerifiedPoints> => {
  const differences: PointDifference[] = []
  let points = 0
  const nameOf = (point: PointKey): string => `${point.measure}\u0000${seriesName(point, spec.dims)}`
  const idOf = (point: PointKey): string => `${nameOf(point)}\u0000${point.at}`
  const order = (a: Point, b: Point): number => {
    const [first, second] = [nameOf(a), nameOf(b)]
    return first === second ? a.at - b.at : first < second ? -1 : 1
  }
  /** Reads all pairs. Both sides list points in the same order, so one pass is enough. */
  const scan = async (see: (pair: Pair<PointKey, Point>) => void): Promise<void> => {
    const oldest = stored.retainedFrom?.() ?? 0
    const isRetained = ({ at }: Point) => at >= oldest
    points = 0
    await sideBySide<Point>({
      left: only(stored.list(), isRetained),
      right: only(folded.list(), isRetained),
      order,
      pair: (left, right) => {
        if (left !== undefined) points += 1
        see({ key: (left ?? right) as Point, left, right })
      },
    })
  }
  await compare<PointKey, Point>({
    idOf,
    advance,
    scan,
    rounds: ROUNDS,
    reread: (pairs, see) => scan((pair) => pairs.has(idOf(pair.key)) && see(pair)),
    settle: (pair, before) => {
      if (isEqual(pair.left, pair.right)) return true
      if (before === undefined || !isEqual(pair.left, before.left) || !isEqual(pair.right, before.right)) return false
      differences.push(differenceOf(pair))
      return true
    },
  })
  return { points, differences }
}

const isEqual = (a: Point | undefined, b: Point | undefined): boolean => sameValue(a?.values, b?.values)

const differenceOf = ({ key: { measure, dims, at }, left, right }: Pair<PointKey, Point>): PointDifference => {
  const kind = left === undefined ? 'missing' : right === undefined ? 'extra' : 'changed'
  return { kind, measure, dims, at, ...(left && { stored: left.values }), ...(right && { folded: right.values }) }
}
