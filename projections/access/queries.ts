import type { Key } from '../item.ts'
import type { Paging } from '../entity.ts'
import type { Reader } from '../table.ts'
import { goneTokens, TOKEN_METADATA, tokenHash, tokens, usages } from './keys.ts'
import { TOKEN_INDEX } from './table.ts'

/** Finds the key of the token with this hash. The index can be late: confirm by reading the token at this key. */
export const tokenByHash = async (reader: Reader, hash: string): Promise<Key | undefined> => {
  const { items: [item] } = await reader.query({ index: TOKEN_INDEX.name, pk: tokenHash(hash), prefix: TOKEN_METADATA, limit: 1 })
  return item && { PK: item.PK, SK: item.SK }
}

/** The access patterns of tokens and usage, alike in every domain's table. */
export const accessQueries = (reader: Reader) => ({
  token: (user: string, patId: string) => tokens.get(reader, user, patId),
  /** Left by a token that was revoked. */
  goneToken: (user: string, patId: string) => goneTokens.get(reader, user, patId),
  tokens: (user: string, paging: Paging) => tokens.page(reader, user, paging),
  usageOf: (user: string, utcDay: string) => usages.get(reader, user, utcDay),
})
