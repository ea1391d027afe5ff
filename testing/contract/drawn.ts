import type { Domain, Result } from '../../projections/projection.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Event } from '../../schemas/event.ts'
import { foldsOf, type Table } from '../folds.ts'

/**
 * Returns a function that folds an event with random content. Such an event can name an item of another log key, if the partition of the item
 * does not determine its log key. The engine parks this event, so the function returns no result.
 */
export const foldDrawn = (domain: Domain) => {
  const { foldInto } = foldsOf(domain)
  const { keyIn } = domain.partitions
  const isForeign = (table: Table, { meta }: Event): boolean =>
    [...table.values()].some((item) => keyIn(item.PK) === undefined && keyIn(item.PK, item) !== meta.key)
  return (table: Table, event: Event, position: number): readonly Result[] => {
    try {
      return foldInto(table, event, position)
    } catch (error) {
      if (isFault(error, 'foreign-item') && isForeign(table, event)) return []
      throw error
    }
  }
}
