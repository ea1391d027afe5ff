import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import type { Get, PersonalItems, Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { tokenForgotten } from './tokens.ts'

/** Where a domain keeps no words of people but the names of their tokens: every token that is named is revoked. */
export const tokensForgotten = ({ data, meta }: PersonForgotten, get: Get): Result => {
  const at = isoOf(meta.occurredAt)
  const PK = userPartition(meta.key)
  const names = new Set(data.items.filter(({ pk, sk }) => pk === PK && sk.startsWith(tokens.prefix)).map(({ sk }) => sk))
  return { items: [...names].flatMap((SK) => {
    const item = get({ PK, SK })
    return item === undefined ? [] : tokenForgotten(meta.key, item, at)
  }) }
}

export const tokenItems: PersonalItems = {
  partitions: (key) => [userPartition(key)],
  holds: ({ SK }) => SK.startsWith(tokens.prefix),
}
