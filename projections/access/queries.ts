import type { Key } from '../item.ts'
import type { Reader } from '../table.ts'
import { TOKEN_METADATA, tokenHash } from './keys.ts'
import { TOKEN_INDEX } from './table.ts'

/**
 * Finds the key of the token with this hash in the index. Undefined if the index does not contain it. The index can be out of date, so the caller
 * must read the token at this key before it trusts the result.
 */
export const tokenByHash = async (reader: Reader, hash: string): Promise<Key | undefined> => {
  const {
    items: [item],
  } = await reader.query({ index: TOKEN_INDEX.name, pk: tokenHash(hash), prefix: TOKEN_METADATA, limit: 1 })
  return item && { PK: item.PK, SK: item.SK }
}
