import type { Clock } from '../processors/engine/ports/clock.ts'
import type { Control } from '../processors/engine/generations/control.ts'
import type { KeyStore } from '../processors/engine/ports/key-store.ts'
import type { Series } from '../processors/engine/ports/series.ts'
import type { Store } from '../processors/engine/ports/store.ts'
import type { Domain } from '../projections/projection.ts'
import type { Violation } from './checkers.ts'
import type { Topic } from './log-model.ts'
import type { Random } from './random.ts'
import type { RunOptions } from './run.ts'
import type { Process } from './process.ts'
import type { SeriesTable } from './series-model.ts'
import type { Table } from './store-model.ts'
import type { Tables } from './tables.ts'
import type { OpenTopic } from '../processors/engine/ports/log-admin.ts'

/** A planted bug: wrappers around the parts that nodes and operators receive. */
export interface Bug {
  /** Run options with which few runs are enough to detect the bug. */
  readonly options?: Pick<RunOptions, 'domain' | 'rates' | 'moves'>
  readonly log?: (log: OpenTopic, context: BugContext) => OpenTopic
  /** Wraps the item store of a generation. */
  readonly store?: (store: Store, context: BugContext) => Store
  /** Wraps the series store of a generation. */
  readonly series?: (series: Series, opened: OpenedSeries) => Series
  readonly ledger?: (store: Store, context: BugContext) => Store
  readonly control?: (control: Control, context: BugContext) => Control
  readonly domain?: (domain: Domain, context: BugContext) => Domain
  /** Changes the folds of processors, rebuilds and the reference model alike. So only the invariants of the domain can detect such a bug. */
  readonly rules?: (domain: Domain) => Domain
  /** The checker that must detect the bug. Default: any checker. */
  readonly detectedBy?: Violation['checker']
  readonly clock?: (clock: Clock, context: BugContext) => Clock
  readonly keys?: (keys: KeyStore, context: BugContext) => KeyStore
}

/** The parts of the simulation that a planted bug can use. */
export interface BugContext {
  /** The table of the wrapped store: a generation's table, the ledger or the control table. For a part without a table: the ledger. */
  readonly table: Table
  readonly tables: Tables
  readonly topic: Topic
  readonly random: Random
  readonly process: Process
}

export interface OpenedSeries {
  readonly table: SeriesTable
  /** Returns the series store of another generation, without the bug. */
  other(generation: number): Series
}
