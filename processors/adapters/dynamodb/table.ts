import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import type { Attempts } from './attempts.ts'
import type { Gate } from './gate.ts'
import type { Tally } from './tally.ts'

/** An open table. Its reads and writes share these parts. */
export interface Table {
  readonly name: string
  readonly spec: TableSpec
  readonly client: DynamoDB
  /** Limits the number of concurrent requests. Each attempt passes the gate again, so an operation that pauses between attempts does not count. */
  readonly gate: Gate
  readonly attempts: Attempts
  readonly tally: Tally
  /** Returns a token that was never used before. */
  readonly newToken: () => string
}

/** The request options that abort the request when the signal is aborted. */
export const abortedBy = (signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } =>
  signal === undefined ? {} : { abortSignal: signal }

/** The partition key of the checkpoints. They are in the table and are not items of the domain. */
export const CHECKPOINTS = 'CHECKPOINT#'

export const isReserved = (pk: string): boolean => pk.startsWith(CHECKPOINTS)

/** The attributes that an index contains besides the keys. The TTL attribute is always among them, so that index reads can hide expired items. */
export const projectedAttributes = (spec: TableSpec, { project }: IndexSpec): 'all' | readonly string[] =>
  project === 'all' ? 'all' : [...new Set([...project, spec.ttl])]
