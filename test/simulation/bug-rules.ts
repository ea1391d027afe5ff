import type { Change, Domain, Get, Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type { Bug } from './bug.ts'

export type Fold = (event: Event, get: Get) => Result

/** Mistakes in the rules of a domain, for live, rebuild and reference alike: only its own promises can tell. */
export const rulesOf = (domain: 'scales' | 'expenses') => {
  const ruling = (change: (fold: Fold, type: string) => Fold): Bug => ({
    under: { domain, moves: [], rates: {} },
    noticedBy: domain,
    rules: (right: Domain) => ({
      ...right,
      projections: right.projections.map((one) => ({
        ...one, folds: Object.fromEntries(Object.entries(one.folds).map(([type, fold]) => [type, fold && change(fold, type)])),
      })),
    }),
  })
  const writing = (change: (item: Change) => readonly Change[], types?: readonly string[]): Bug => ruling((fold, type) => (event, get) => {
    const { items, ...rest } = fold(event, get)
    return items === undefined || types?.includes(type) === false ? { items: items ?? [], ...rest } : { ...rest, items: items.flatMap(change) }
  })
  return { ruling, writing }
}
