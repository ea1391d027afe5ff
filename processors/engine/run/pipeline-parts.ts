import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { EndedCall } from '../asks/call.ts'
import type { Control } from '../generations/control.ts'
import type { Parked } from '../poison/parked-entry.ts'
import type { Verdicts } from '../poison/verdicts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logs } from '../ports/log-admin.ts'
import type { SeriesStores } from '../ports/series.ts'
import type { Store, Stores } from '../ports/store.ts'
import type { BatchResult } from './tally.ts'

/** Receives reports of a pipeline, for metrics and messages. */
export interface PipelineObserver {
  batchFolded(domain: string, generation: number, result: BatchResult): void
  parked(domain: string, parked: Parked): void
  failed(domain: string, error: unknown): void
  /** Receives each call of an ask that has ended. */
  askCalled?(domain: string, call: EndedCall): void
}

export interface PipelineParts {
  readonly domain: Domain
  readonly logs: Logs
  readonly stores: Stores
  /** The series stores. Required if the domain has points. */
  readonly series?: Pick<SeriesStores, 'open'>
  readonly control: Control
  readonly verdicts: Verdicts
  /** The store of the ledger. */
  readonly ledger: Store
  /** The name of this run of this process. The claims and attempts of the process contain this name. */
  readonly processName: string
  readonly codec: Codec
  readonly clock: Clock
  readonly observer: PipelineObserver
  /** True: creates no topic, no table and no row. The control table must list the domain. */
  readonly readOnly?: boolean
  /** How often to read the checkpoints of other processes. Absent if there are no other processes. */
  readonly pollMs?: number
  readonly paces?: Paces
}

/** How often the pipeline polls. */
export interface Paces {
  readonly senderMs: number
  readonly timersMs: number
  readonly fetcherMs: number
  readonly refreshMs: number
  readonly healMs: number
  /** How often to check whether the log was trimmed. Absent: never. */
  readonly checkMs?: number
}

export const PACES: Paces = {
  senderMs: 1_000,
  timersMs: 1_000,
  fetcherMs: 1_000,
  refreshMs: 1_000,
  healMs: 5_000,
  checkMs: 5_000,
}
