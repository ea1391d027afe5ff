import type { TableSpec } from '../table.ts'
import { IMPORTS, MEALS, SUMMARIES, TARGETS_AS_OF, TOKEN_INDEX, TOKENS } from './keys.ts'

export const mealsTable: TableSpec = {
  name: 'chatkcal',
  ttl: 'ttl',
  indexes: [{ name: TOKEN_INDEX, pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] }],
  kinds: [
    { name: 'meal', sk: MEALS },
    { name: 'deleted meal', sk: `GONE#${MEALS}` },
    { name: 'day pointer', sk: 'DAY#' },
    { name: 'day summary', sk: SUMMARIES },
    { name: 'targets', sk: 'CONFIG#TARGETS' },
    { name: 'targets of a day', sk: TARGETS_AS_OF },
    { name: 'token', sk: TOKENS },
    { name: 'ended token', sk: `GONE#${TOKENS}` },
    { name: 'usage', sk: 'USAGE#' },
    { name: 'import', sk: IMPORTS },
    { name: 'event seen', sk: 'SEEN#' },
  ],
}
