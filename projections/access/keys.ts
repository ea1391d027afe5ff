import type { Item } from '../item.ts'
import { partition, type Entity } from '../entity.ts'
import type { Partitions } from '../projection.ts'
import type { GonePatItem, PatItem, UsageItem } from './items.ts'

/** This file declares the entities of a person that every domain's table contains: tokens and usage. A user id contains no `#`. */

let lastUser = ''
let lastPartition = 'USER#'

/**
 * Returns the partition of a user. Caches the last one, because a fold builds several keys of one user. JavaScript then
 * need not compute the hash of the string again.
 */
export const userPartition = (user: string): string => {
  if (user !== lastUser) {
    lastUser = user
    lastPartition = `USER#${user}`
  }
  return lastPartition
}

/** The user id in a partition key. Undefined if the partition does not belong to a user. */
export const userIn = (partition: string): string | undefined =>
  partition.startsWith('USER#') ? partition.slice('USER#'.length) : undefined

/** For a domain whose log keys are people, and whose items are all in the partitions of these people. */
export const USER_PARTITIONS: Partitions = { of: (user) => [userPartition(user)], keyIn: userIn, example: 'USER#ada' }

/** Declares an entity in the partitions of users: `inUser<PatItem, [id: string]>('token', 'PAT#')`. */
export const inUser: <I extends Item, P extends readonly string[] = []>(
  name: string,
  prefix: string,
  suffix?: string,
) => Entity<I, [user: string], P> = partition('USER#', userPartition)

export const tokens = inUser<PatItem, [id: string]>('token', 'PAT#')
/** Remains of revoked tokens. */
export const goneTokens = inUser<GonePatItem, [id: string]>('ended token', 'GONE#PAT#')
export const usages = inUser<UsageItem, [day: string]>('usage', 'USAGE#')

export const tokenHash = (hash: string): string => `PATHASH#${hash}`
export const TOKEN_METADATA = 'METADATA'

/** True for an id of a token or an import. */
export const isName = (id: string): boolean => /^[A-Za-z0-9_.:-]{1,128}$/.test(id)
/** True for the id of a person. */
export const isUser = (id: string): boolean => /^[A-Za-z0-9_.:@-]{1,64}$/.test(id)
export const isHash = (hash: string): boolean => /^[0-9a-f]{64}$/.test(hash)
