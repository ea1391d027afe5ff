import type { Item } from '../projections/item.ts'
import type { PatItem } from '../projections/meals/items.ts'
import { tokenHash, usageKey, userPartition } from '../projections/meals/keys.ts'
import { mealsQueries } from '../projections/meals/queries.ts'
import type { Access, Pat } from './http/auth.ts'
import type { DomainEdge } from './http/domain.ts'
import { dayRoutes } from './meals/day-routes.ts'
import { mealRoutes } from './meals/meal-routes.ts'
import { targetRoutes } from './meals/target-routes.ts'
import { tokenRoutes } from './meals/token-routes.ts'
import { SCOPES, type Scope } from './pat.ts'

const PARTITION = userPartition('')
const HASH = tokenHash('')

const access: Access = {
  find: (reader, hash) => mealsQueries(reader).tokenByHash(hash),
  pat: (item) => (isPat(item) ? patOf(item) : undefined),
  userOf: ({ PK }) => PK.slice(PARTITION.length),
  usageKey,
  used: (patId, date) => ({ type: 'PatUsed', data: { patId, date }, personal: null }),
  sampled: ({ day: date, reads, writes, weight }) => ({ type: 'ApiUsageSampled', data: { date, reads, writes, weight }, personal: null }),
}

/** Meals at the edge: what the composition root adds is how to reach the log and the serving generation. */
export const mealsEdge: Pick<DomainEdge, 'name' | 'routes' | 'access'> = {
  name: 'meals',
  routes: [...mealRoutes, ...dayRoutes, ...targetRoutes, ...tokenRoutes],
  access,
}

const isPat = (item: Item): item is PatItem => typeof item['patId'] === 'string' && typeof item['GSI1PK'] === 'string' && Array.isArray(item['scopes'])

const patOf = ({ PK, patId, GSI1PK, scopes, lastUsedAt }: PatItem): Pat => ({
  id: patId,
  user: PK.slice(PARTITION.length),
  hash: GSI1PK.slice(HASH.length),
  scopes: scopes.filter((scope): scope is Scope => SCOPES.some((known) => known === scope)),
  lastUsedAt,
})
