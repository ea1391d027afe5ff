import type { Key } from '../item.ts'

/** Where people lie in every domain's table: their tokens and what they used. No user id holds a `#`. */
let lastUser = ''
let lastPartition = 'USER#'

/** A fold spells one user's keys several times over: the last user's partition is the same string again, its hash known. */
export const userPartition = (user: string): string => {
  if (user !== lastUser) {
    lastUser = user
    lastPartition = `USER#${user}`
  }
  return lastPartition
}

/** Whose partition it is; undefined where it is nobody's. */
export const userIn = (partition: string): string | undefined => (partition.startsWith('USER#') ? partition.slice('USER#'.length) : undefined)

export const userKey = (user: string, SK: string): Key => ({ PK: userPartition(user), SK })

export const TOKENS = 'PAT#'
export const tokenKey = (user: string, patId: string): Key => userKey(user, `PAT#${patId}`)
export const goneTokenKey = (user: string, patId: string): Key => userKey(user, `GONE#PAT#${patId}`)
export const usageKey = (user: string, day: string): Key => userKey(user, `USAGE#${day}`)

export const tokenHash = (hash: string): string => `PATHASH#${hash}`
export const TOKEN_METADATA = 'METADATA'

/** Ids that others chose, of tokens and imports. */
export const isName = (id: string): boolean => /^[A-Za-z0-9_.:-]{1,128}$/.test(id)
/** Ids of people, as tokens are made for them. */
export const isUser = (id: string): boolean => /^[A-Za-z0-9_.:@-]{1,64}$/.test(id)
export const isHash = (hash: string): boolean => /^[0-9a-f]{64}$/.test(hash)
