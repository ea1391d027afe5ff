import type { Series } from '../processors/engine/ports/series.ts'
import { verifyPoints, type PointDifference } from '../processors/engine/proof/verify-points.ts'
import type { Point } from '../projections/series.ts'
import type { DomainAccess } from '../host/ipc/domain-access.ts'

/** The differences between the points of two generations. */
export interface PointsDiffed {
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly same: number
  readonly sample: readonly PointChange[]
}

export interface PointChange extends Pick<Point, 'measure' | 'dims' | 'at'> {
  readonly change: 'added' | 'removed' | 'changed'
  readonly before?: Point['values']
  readonly after?: Point['values']
}

export interface PointsParts {
  /** Opens the points of the new generation. */
  readonly after: () => Promise<Pick<Series, 'list' | 'close'> | undefined>
  /** Folds the new generation up to the position of the serving generation. */
  readonly advance: () => Promise<unknown>
  readonly sample: number
}

export const diffPoints = async (
  { domain: { series: spec }, serving, series }: DomainAccess,
  { after, advance, sample }: PointsParts,
): Promise<PointsDiffed | undefined> => {
  const stored = await series(serving)
  if (spec === undefined || stored === undefined) return undefined
  const { points, differences } = await verifyPoints({
    spec,
    stored,
    folded: { list: () => listed(after) },
    advance: async () => void (await advance()),
  })
  const count = (kind: PointDifference['kind']): number => differences.filter((each) => each.kind === kind).length
  const [added, removed, changed] = [count('missing'), count('extra'), count('changed')]
  return {
    added,
    removed,
    changed,
    same: points - removed - changed,
    sample: differences.slice(0, sample).map(changeOf),
  }
}

/** Lists the points and closes their series at the end, because the next fold opens the same series to write to it. */
async function* listed(open: PointsParts['after']): AsyncGenerator<readonly Point[]> {
  const series = await open()
  if (series === undefined) return
  try {
    yield* series.list()
  } finally {
    await series.close()
  }
}

const CHANGES = { missing: 'added', extra: 'removed', changed: 'changed' } as const

const changeOf = ({ kind, measure, dims, at, stored, folded }: PointDifference): PointChange => ({
  change: CHANGES[kind],
  measure,
  dims,
  at,
  ...(stored && { before: stored }),
  ...(folded && { after: folded }),
})
