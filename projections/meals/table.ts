import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import { IMPORTS, MEALS, SUMMARIES, TARGETS_AS_OF } from './keys.ts'

export const mealsTable: TableSpec = {
  name: 'chatkcal',
  ttl: TTL,
  indexes: [TOKEN_INDEX],
  kinds: [
    { name: 'meal', sk: MEALS },
    { name: 'deleted meal', sk: `GONE#${MEALS}` },
    { name: 'day pointer', sk: 'DAY#' },
    { name: 'day summary', sk: SUMMARIES },
    { name: 'targets', sk: 'CONFIG#TARGETS' },
    { name: 'targets of a day', sk: TARGETS_AS_OF },
    ...ACCESS_KINDS,
    { name: 'import', sk: IMPORTS },
    { name: 'event seen', sk: 'SEEN#' },
  ],
}
