import type { IndexSpec, KindSpec } from '../table.ts'
import { TOKENS } from './keys.ts'

/** What every domain's table has for its tokens: the index that finds one by the hash of its secret. */
export const TOKEN_INDEX: IndexSpec = { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] }

/** The table's TTL attribute, wherever people are metered. */
export const TTL = 'ttl'

export const ACCESS_KINDS: readonly KindSpec[] = [
  { name: 'token', sk: TOKENS },
  { name: 'ended token', sk: `GONE#${TOKENS}` },
  { name: 'usage', sk: 'USAGE#' },
]
