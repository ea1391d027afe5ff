import { meals } from '../../../processors/meals/domain.ts'
import type { Item, Key } from '../../../projections/item.ts'
import type { Result } from '../../../projections/projection.ts'
import type { Event } from '../../../schemas/event.ts'
import { contents as contentsBy, foldsOf, type Table } from '../../../testing/folds.ts'

export type { Table } from '../../../testing/folds.ts'

/** The name of an item in tests: its sort key. Most tests of meals have one user, so the partition key is not needed. */
const nameOf = ({ SK }: Key): string => SK
const folds = foldsOf(meals, nameOf)

export const { tableOf, given } = folds
export const contents = (table: Table): Record<string, Item> => contentsBy(table, nameOf)

/** Folds an event into the table. Returns the only result, because meals have one projection. */
export const foldInto = (table: Table, event: Event, position: number): Result =>
  folds.foldInto(table, event, position)[0] ?? {}
