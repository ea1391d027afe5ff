import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import { dayPointers, dayTargets, goneMeals, imports, meals, seen, summaries, targets } from './keys.ts'

export const mealsTable: TableSpec = {
  name: 'chatkcal',
  ttl: TTL,
  indexes: [TOKEN_INDEX],
  kinds: [...[meals, goneMeals, dayPointers, summaries, targets, dayTargets, imports, seen].map(({ kind }) => kind), ...ACCESS_KINDS],
}
