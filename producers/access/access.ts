import type { CommonEvent } from '../../schemas/generated/common.ts'
import type { PatItem } from '../../projections/access/items.ts'
import { tokenHash, usages, userPartition } from '../../projections/access/keys.ts'
import { tokenByHash } from '../../projections/access/queries.ts'
import type { Item, Key } from '../../projections/item.ts'
import type { Access, Pat } from '../http/auth.ts'
import { drafts } from '../http/drafts.ts'
import { SCOPES, type Scope } from './pat.ts'
import { tokenRoutes } from './token-routes.ts'

const PARTITION = userPartition('')
const HASH = tokenHash('')

const event = drafts<CommonEvent>()

/** Returns the owner of the token whose item has this key. */
export const userOfToken = ({ PK }: Key): string => PK.slice(PARTITION.length)

/** The functions with which every domain stores tokens and usage in its table. */
export const access: Access = {
  find: tokenByHash,
  pat: (item) => (isPat(item) ? patOf(item) : undefined),
  userOf: userOfToken,
  usageKey: usages.key,
  routes: tokenRoutes,
  used: (patId, date) => event('PatUsed', { patId, date }),
  sampled: ({ day: date, reads, writes, weight }) => event('ApiUsageSampled', { date, reads, writes, weight }),
}

const isPat = (item: Item): item is PatItem =>
  typeof item['patId'] === 'string' && typeof item['GSI1PK'] === 'string' && Array.isArray(item['scopes'])

const patOf = ({ PK, SK, patId, GSI1PK, scopes, lastUsedAt }: PatItem): Pat => ({
  id: patId,
  user: userOfToken({ PK, SK }),
  hash: GSI1PK.slice(HASH.length),
  scopes: scopes.filter((scope): scope is Scope => SCOPES.some((known) => known === scope)),
  lastUsedAt,
})
