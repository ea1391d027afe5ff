import type { Item, Key } from '../item.ts'
import type { Page, Query, Reader } from '../table.ts'
import type { GonePatItem, PatItem, UsageItem } from './items.ts'
import { goneTokenKey, TOKEN_METADATA, tokenHash, tokenKey, TOKENS, usageKey, userPartition } from './keys.ts'
import { TOKEN_INDEX } from './table.ts'

/** The access patterns of tokens and usage, alike in every domain's table. */
export const accessQueries = (reader: Reader) => ({
  /** By the index, which may be late: confirm by reading the token at this key. */
  tokenByHash: async (hash: string): Promise<Key | undefined> => {
    const { items: [item] } = await reader.query({ index: TOKEN_INDEX.name, pk: tokenHash(hash), prefix: TOKEN_METADATA, limit: 1 })
    return item && { PK: item.PK, SK: item.SK }
  },
  tokenAt: (key: Key) => find<PatItem>(reader, key),
  token: (user: string, patId: string) => find<PatItem>(reader, tokenKey(user, patId)),
  /** Left by a token that was revoked. */
  goneToken: (user: string, patId: string) => find<GonePatItem>(reader, goneTokenKey(user, patId)),
  tokens: async (user: string, paging: Pick<Query, 'limit' | 'cursor'>) => (await reader.query({ pk: userPartition(user), prefix: TOKENS, ...paging })) as Page<PatItem>,
  usageOf: (user: string, utcDay: string) => find<UsageItem>(reader, usageKey(user, utcDay)),
})

const find = async <I extends Item>(reader: Reader, key: Key): Promise<I | undefined> => (await reader.get(key)) as I | undefined
