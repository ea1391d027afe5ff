import { activities } from '../../../processors/activities/domain.ts'
import type { Item, Key } from '../../../projections/item.ts'
import { contents as contentsBy, foldsOf, type Table } from '../../../testing/folds.ts'

/** The name of an item in tests: its sort key. Items of other partitions than a person's have their whole key. */
const nameOf = ({ PK, SK }: Key): string => (PK.startsWith('USER#') ? SK : `${PK} ${SK}`)

export const { foldInto, tableOf, given } = foldsOf(activities, nameOf)
export const contents = (table: Table): Record<string, Item> => contentsBy(table, nameOf)
