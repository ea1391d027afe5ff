import type { TableSpec } from '../table.ts'
import { TOKEN_INDEX } from './keys.ts'

export const mealsTable: TableSpec = {
  name: 'chatkcal',
  ttl: 'ttl',
  indexes: [{ name: TOKEN_INDEX, pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] }],
}
