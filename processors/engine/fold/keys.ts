import type { Key } from '../../../projections/item.ts'
import type { Position } from '../ports/log.ts'

/** Prefixes of engine rows: `IDEM#` for repeated requests, `OUTCOME#` for refusals and duplicates. Domains never write under these prefixes. */
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
