import type { TableSpec } from '../../../projections/table.ts'

let made = 0

/** A table of its own for each test, so that tests share one service and nothing else. */
export const freshSpec = (): TableSpec => ({
  name: `test-${process.pid}-${++made}`,
  ttl: 'ttl',
  indexes: [
    { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] },
    { name: 'GSI2', pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
  ],
})
