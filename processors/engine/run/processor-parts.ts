import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Decider } from '../fold/decide.ts'
import type { CrashingEvent } from '../poison/crash-guard.ts'
import type { DeliveryAttempts } from '../poison/delivery-attempts.ts'
import type { Parked } from '../poison/parked-entry.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Series } from '../ports/series.ts'
import type { Store } from '../ports/store.ts'
import type { PartitionState } from './partition-state.ts'
import type { BatchResult } from './tally.ts'

export interface ProcessorParts {
  readonly domain: Domain
  readonly generation: number
  readonly log: Log
  readonly store: Store
  /** The store of the domain's points. While it does not accept points, this generation waits. Absent if the domain has no points. */
  readonly series?: Pick<Series, 'write'> | undefined
  readonly codec: Codec
  readonly clock: Clock
  /**
   * Stores the first batch of each assigned partition as an attempt, so that the crash guard finds an event that crashes processes.
   * Default: no crash guard.
   */
  readonly attempts?: DeliveryAttempts
  /** Stores the verdict that an event crashes processes. */
  readonly recordCrashing?: (event: CrashingEvent) => Promise<void>
  readonly batchFolded?: (result: BatchResult) => void
  readonly failed?: (error: unknown) => void
  readonly parked?: (parked: Parked) => void
}

/** The arguments to fold events of one partition: for a batch, or for the healing of parked keys. */
export interface PartitionWork {
  readonly parts: ProcessorParts
  readonly deciders: readonly Decider[]
  readonly state: PartitionState
  readonly signal: AbortSignal
}
