import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import type { Attempts } from './attempts.ts'
import type { Gate } from './gate.ts'
import type { Tally } from './tally.ts'

/** One open table: what its reads and writes share. */
export interface Table {
  readonly name: string
  readonly spec: TableSpec
  readonly client: DynamoDB
  /** Around every single request, so that a backoff holds no place. */
  readonly gate: Gate
  readonly attempts: Attempts
  readonly tally: Tally
  /** A token nobody used before. */
  readonly newToken: () => string
}

/** Options of a request that the signal ends. */
export const abortedBy = (signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } => (signal === undefined ? {} : { abortSignal: signal })

/** Checkpoints lie in the table under a key of their own, and are nobody's items. */
export const CHECKPOINTS = 'CHECKPOINT#'

export const isReserved = (pk: string): boolean => pk.startsWith(CHECKPOINTS)

/** What of an item lies in an index beside its keys. The TTL attribute always does: index reads hide expired items too. */
export const projectedAttributes = (spec: TableSpec, { project }: IndexSpec): 'all' | readonly string[] =>
  project === 'all' ? 'all' : [...new Set([...project, spec.ttl])]
