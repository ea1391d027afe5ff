import type { Clock } from '../../processors/engine/clock.ts'
import type { Control } from '../../processors/engine/control.ts'
import type { KeyStore } from '../../processors/engine/key-store.ts'
import type { Log } from '../../processors/engine/log.ts'
import type { Series } from '../../processors/engine/series.ts'
import type { Store } from '../../processors/engine/store.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Violation } from './checkers.ts'
import type { Topic } from './log-model.ts'
import type { Random } from './random.ts'
import type { RunOptions } from './run.ts'
import type { Process } from './scheduler.ts'
import type { SeriesTable } from './series-model.ts'
import type { Table } from './store-model.ts'
import type { Tables } from './tables.ts'

/** Wrappers around what a node or an operator is given. */
export interface Bug {
  /** Where it shows soon. */
  readonly under?: Pick<RunOptions, 'domain' | 'rates' | 'moves'>
  readonly log?: (log: Log, context: BugContext) => Log
  /** A generation's items. */
  readonly store?: (store: Store, context: BugContext) => Store
  /** A generation's points. */
  readonly series?: (series: Series, opened: OpenedSeries) => Series
  readonly ledger?: (store: Store, context: BugContext) => Store
  readonly control?: (control: Control, context: BugContext) => Control
  readonly domain?: (domain: Domain, context: BugContext) => Domain
  /** The rules themselves are wrong, for everybody: only what the domain promises can tell. */
  readonly rules?: (domain: Domain) => Domain
  /** Who must notice, where it is not all one. */
  readonly noticedBy?: Violation['checker']
  readonly clock?: (clock: Clock, context: BugContext) => Clock
  readonly keys?: (keys: KeyStore, context: BugContext) => KeyStore
}

export interface BugContext {
  /** The generation's; of ledger and control their own. */
  readonly table: Table
  readonly tables: Tables
  readonly topic: Topic
  readonly random: Random
  readonly process: Process
}

export interface OpenedSeries {
  readonly table: SeriesTable
  /** Another generation's, as it should be. */
  other(generation: number): Series
}
