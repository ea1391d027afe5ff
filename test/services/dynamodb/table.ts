import type { TableSpec } from '../../../projections/table.ts'

let created = 0

/** Returns a table with a new name, so that tests share only the service. */
export const freshSpec = (): TableSpec => ({
  name: `test-${process.pid}-${++created}`,
  ttl: 'ttl',
  indexes: [
    { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] },
    { name: 'GSI2', pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
  ],
})
