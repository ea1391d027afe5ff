import type { Change, Domain, Get, Result } from '../projections/projection.ts'
import type { Event } from '../schemas/event.ts'
import type { Bug } from './bug.ts'

export type Fold = (event: Event, get: Get) => Result

/** Returns functions that create bugs in the folds of a domain. Processors, rebuilds and the reference model all use these wrong folds. */
export const rulesOf = (domain: string) => {
  const ruling = (change: (fold: Fold, type: string) => Fold): Bug => ({
    options: { domain, moves: [], rates: {} },
    detectedBy: 'domain',
    rules: (right: Domain) => ({
      ...right,
      projections: right.projections.map((projection) => ({
        ...projection,
        folds: Object.fromEntries(
          Object.entries(projection.folds).map(([type, fold]) => [type, fold && change(fold, type)]),
        ),
      })),
    }),
  })
  const writing = (change: (item: Change) => readonly Change[], types?: readonly string[]): Bug =>
    ruling((fold, type) => (event, get) => {
      const { items, ...rest } = fold(event, get)
      return items === undefined || types?.includes(type) === false
        ? { items: items ?? [], ...rest }
        : { ...rest, items: items.flatMap(change) }
    })
  return { ruling, writing }
}
