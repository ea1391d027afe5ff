import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import { dayPointers, dayTargets, goneMeals, imports, meals, importedEvents, summaries, targets } from './keys.ts'

export const mealsTable: TableSpec = {
  name: 'chatkcal',
  ttl: TTL,
  indexes: [TOKEN_INDEX],
  kinds: [
    ...[meals, goneMeals, dayPointers, summaries, targets, dayTargets, imports, importedEvents].map(({ kind }) => kind),
    ...ACCESS_KINDS,
  ],
}
