import type { Point, SeriesSpec } from '../../projections/series.ts'
import { sameValue } from '../../projections/item.ts'
import { seriesName, type Series } from './series.ts'
import { sideBySide } from './side-by-side.ts'

/** A stored point that is not what its log folds to. */
export interface PointDifference extends Pick<Point, 'measure' | 'dims' | 'at'> {
  readonly kind: 'missing' | 'extra' | 'changed'
  readonly stored?: Point['values']
  readonly folded?: Point['values']
}

export interface VerifiedPoints {
  readonly points: number
  readonly differences: readonly PointDifference[]
}

export interface VerifyPointsParts {
  readonly spec: SeriesSpec
  readonly stored: Pick<Series, 'list' | 'keepsFrom'>
  readonly folded: Pick<Series, 'list'>
  /** Folds on to where the stored ones are by now. */
  readonly advance: () => Promise<void>
}

const ROUNDS = 3

/** Compares both ways. Live points are written meanwhile: only what differs in the same way again, when more was folded, is told. */
export const verifyPoints = async (parts: VerifyPointsParts): Promise<VerifiedPoints> => {
  let { points, differences } = await compare(parts)
  for (let round = 1; round < ROUNDS && differences.size > 0; round += 1) {
    await parts.advance()
    const again = await compare(parts)
    const lasting = [...again.differences].filter(([id, now]) => sameDifference(now, differences.get(id)))
    points = again.points
    differences = new Map(lasting)
  }
  return { points, differences: [...differences.values()] }
}

const sameDifference = (now: PointDifference, before: PointDifference | undefined): boolean =>
  before !== undefined && sameValue(now.stored, before.stored) && sameValue(now.folded, before.folded)

/** Both are listed in the same order. */
const compare = async ({ spec, stored, folded }: VerifyPointsParts): Promise<{ readonly points: number; readonly differences: ReadonlyMap<string, PointDifference> }> => {
  const oldest = stored.keepsFrom?.() ?? 0
  const differences = new Map<string, PointDifference>()
  let points = 0
  await sideBySide<Point>({
    left: stored.list(),
    right: folded.list(),
    counts: ({ at }) => at >= oldest,
    order: orderBy(spec),
    pair: (was, is) => {
      if (was !== undefined) points += 1
      if (!sameValue(was?.values, is?.values)) note(differences, { was, is, spec })
    },
  })
  return { points, differences }
}

const orderBy = ({ dims }: SeriesSpec) => (a: Point, b: Point): number => {
  const [mine, theirs] = [`${a.measure}\u0000${seriesName(a, dims)}`, `${b.measure}\u0000${seriesName(b, dims)}`]
  return mine === theirs ? a.at - b.at : mine < theirs ? -1 : 1
}

interface Noted {
  readonly was: Point | undefined
  readonly is: Point | undefined
  readonly spec: SeriesSpec
}

const note = (differences: Map<string, PointDifference>, { was, is, spec }: Noted): void => {
  const point = was ?? is
  if (point === undefined) return
  const { measure, dims, at } = point
  const kind = was === undefined ? 'missing' : is === undefined ? 'extra' : 'changed'
  differences.set(`${measure}\u0000${seriesName(point, spec.dims)}\u0000${at}`, { kind, measure, dims, at, ...(was && { stored: was.values }), ...(is && { folded: is.values }) })
}
