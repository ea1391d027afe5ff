import type { IndexSpec, KindSpec } from '../table.ts'
import { goneTokens, tokens, usages } from './keys.ts'

/** The index of every domain's table that finds a token by the hash of its secret. */
export const TOKEN_INDEX: IndexSpec = { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] }

/** The TTL attribute of every domain's table. */
export const TTL = 'ttl'

/** The kinds of items that `accessFolds` writes, for `kinds` of a TableSpec. */
export const ACCESS_KINDS: readonly KindSpec[] = [tokens.kind, goneTokens.kind, usages.kind]
