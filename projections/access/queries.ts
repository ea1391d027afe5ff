import type { Key } from '../item.ts'
import type { Reader } from '../table.ts'
import { TOKEN_METADATA, tokenHash } from './keys.ts'
import { TOKEN_INDEX } from './table.ts'

/** Finds the key of the token with this hash. The index can be late: confirm by reading the token at this key. */
export const tokenByHash = async (reader: Reader, hash: string): Promise<Key | undefined> => {
  const {
    items: [item],
  } = await reader.query({ index: TOKEN_INDEX.name, pk: tokenHash(hash), prefix: TOKEN_METADATA, limit: 1 })
  return item && { PK: item.PK, SK: item.SK }
}
