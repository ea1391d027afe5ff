import { FORGOTTEN } from '../../schemas/event.ts'
import type { CommonEvent, PatIssued, PatRevoked, PatUsed } from '../../schemas/generated/common.ts'
import {
  DUPLICATE,
  NOTHING,
  removed,
  type Change,
  type Folds,
  type Get,
  type Result,
} from '../../projections/projection.ts'
import { bare, type Item } from '../../projections/item.ts'
import { dayNumberOf, isoOf } from '../../projections/instant.ts'
import type { GonePatItem, PatItem } from '../../projections/access/items.ts'
import { goneTokens, isHash, isName, TOKEN_METADATA, tokenHash, tokens } from '../../projections/access/keys.ts'
import { refuse } from '../../projections/access/refusals.ts'
import { apiUsageSampled } from './usage.ts'

/** Stores a token by the hash of its secret. A token that exists or was revoked is a duplicate. */
export const patIssued = ({ data, meta, personal }: PatIssued, get: Get): Result => {
  if (!isName(data.patId) || !isHash(data.hash))
    return refuse('token-invalid', 'A token has an id and the SHA-256 of its secret, in hex.')
  const key = tokens.key(meta.key, data.patId)
  const present = get<PatItem>(key)
  const gone = get(goneTokens.key(meta.key, data.patId))
  if (present !== undefined || gone !== undefined) return DUPLICATE
  const item: PatItem = {
    ...key,
    patId: data.patId,
    name: personal === null || personal === FORGOTTEN ? null : personal.name,
    scopes: data.scopes,
    createdAt: isoOf(meta.occurredAt),
    GSI1PK: tokenHash(data.hash),
    GSI1SK: TOKEN_METADATA,
  }
  return { items: [item] }
}

const patRevoked = ({ data, meta }: PatRevoked, get: Get): Result => {
  const gone = goneTokens.key(meta.key, data.patId)
  const present = get(tokens.key(meta.key, data.patId))
  if (get<GonePatItem>(gone) !== undefined) return DUPLICATE
  if (present === undefined) return refuse('token-not-found', `There is no token ${data.patId}.`)
  return { items: [removed(present), { ...gone, revokedAt: isoOf(meta.occurredAt) } satisfies GonePatItem] }
}

/** Stores the day on which the token was last used. An earlier day never replaces a later one. Changes nothing if the token was revoked. */
const patUsed = ({ data, meta }: PatUsed, get: Get): Result => {
  const present = get(tokens.key(meta.key, data.patId))
  if (present === undefined || dayNumberOf(data.date) === undefined || (present.lastUsedAt ?? '') >= data.date)
    return NOTHING
  return { items: [{ ...bare(present), lastUsedAt: data.date }] }
}

/** The folds of tokens and usage. The first projection of every domain contains them. */
export const accessFolds: Omit<Folds<CommonEvent>, 'PersonForgotten'> = {
  PatIssued: patIssued,
  PatRevoked: patRevoked,
  PatUsed: patUsed,
  ApiUsageSampled: apiUsageSampled,
}

/** The events that every domain shares. Their log key is the id of a person. */
export const ACCESS_EVENTS: readonly string[] = [...Object.keys(accessFolds), 'PersonForgotten']

/** Revokes the token of a forgotten person, because the name of a token is personal data. */
export const tokenForgotten = (user: string, item: Item, at: string): readonly Change[] => [
  removed(item),
  { ...goneTokens.key(user, item.SK.slice(tokens.prefix.length)), revokedAt: at } satisfies GonePatItem,
]
