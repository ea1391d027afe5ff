import type { Key } from '../item.ts'

export type PatItem = Key & {
  readonly patId: string
  /** Null if the person was forgotten. */
  readonly name: string | null
  readonly scopes: readonly string[]
  readonly lastUsedAt?: string
  readonly createdAt: string
  readonly GSI1PK: string
  readonly GSI1SK: string
}

export type GonePatItem = Key & { readonly revokedAt: string }

export type UsageItem = Key & {
  readonly reads: number
  readonly writes: number
  readonly ttl: number
  /** Short forms of the ids of the last counted events, so that a repeated event is not counted twice. */
  readonly _heard: readonly string[]
}
