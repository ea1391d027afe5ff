import type { Key } from '../../../projections/item.ts'
import type { Position } from '../ports/log.ts'

/** The rows that a fold writes besides the items of the domain. Domains never write under these prefixes. */
export const IDEM = 'IDEM#'
export const OUTCOME = 'OUTCOME#'

export const idempotencyKey = (actor: string, request: string, key: string): Key => ({
  PK: `${IDEM}${actor}#${request}`,
  SK: key,
})

export const outcomeKey = ({ partition, offset }: Position): Key => ({
  PK: `${OUTCOME}${partition}#${offset}`,
  SK: 'OUTCOME',
})
export const isOutcome = ({ PK }: Key): boolean => PK.startsWith(OUTCOME)
