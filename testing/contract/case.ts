import type fc from 'fast-check'
import type { DomainRecord } from '../../domains/record.ts'
import type { Domain } from '../../projections/projection.ts'
import type { NamedSchema } from '../../schemas/avro.ts'
import type { Event } from '../../schemas/event.ts'
import type { MemoryEdge } from '../edge/edge.ts'

/** The suite chooses the values for the fields of events from these lists. Use few values, so that several events have the same key or id. */
export interface Pools {
  /** Log keys. */
  readonly keys: readonly string[]
  /** People: actors, subjects, and the log keys of the events that are keyed by people. Default: the keys. */
  readonly people?: readonly string[]
  /** Returns values for the fields of events of a log key, by the name of the field: ids, instants, days and amounts. */
  readonly fields?: (key: string) => Readonly<Record<string, readonly unknown[]>>
}

/** The parts of a domain's record that the suite tests. */
export type ContractRecord = Pick<DomainRecord, 'domain' | 'series' | 'also' | 'edge'>

/** The settings with which the suite generates random events of a domain. */
export interface EventCase {
  readonly pools: Pools
  /** Generates histories that are more plausible than random events. The suite adds some random events to each. Default: random events only. */
  readonly history?: fc.Arbitrary<readonly Event[]>
  /**
   * Returns true if a second delivery of the event must change nothing. `changed` contains one entry per projection that folds the event: true if
   * the first delivery changed items or returned derived events. Default: true if one of the entries is true.
   */
  readonly isApplied?: (event: Event, changed: readonly boolean[]) => boolean
  /** True if the domain stores data about people, but no text of a personal field. The suite then expects that no item contains such a text. */
  readonly storesNoTexts?: true
}

/** A domain for the contract suite. */
export interface ContractCase extends EventCase {
  readonly record: ContractRecord
  /** True if the domain is a further domain of a record. Such a domain folds only some events of the other domain's log. */
  readonly isFurther?: true
  /**
   * Replaces the pools, the history or `isApplied` for further domains of the record, by name. Their default of `isApplied` is the default of
   * `EventCase`, not the one of this case.
   */
  readonly further?: Readonly<Record<string, Partial<EventCase>>>
  /** The data and the values with which the suite tests the edge of the record. Default: no data, and `pools.fields` of the first key. */
  readonly http?: HttpCase
  /** Schemas in addition to those of the domain. */
  readonly schemas?: readonly NamedSchema[]
}

/** Values by the name of a path parameter, a query parameter or a field of a body. */
export type Values = Readonly<Record<string, readonly unknown[]>>

/** An open edge with some data in it. */
export interface Scene {
  readonly edge: MemoryEdge
  /** The token of a person who can read and write the data. */
  readonly token: string
  /** Ids of the data, and values that the rules of the domain accept. */
  readonly values: Values
}

/** The settings with which the suite tests the edge of a domain. */
export interface HttpCase {
  /** Creates data through the edge. Default: issues a token to the first person of the pools, and uses the values of the pools. */
  readonly prepare?: (edge: MemoryEdge) => Promise<Omit<Scene, 'edge'>>
  /** Codes of answers with a 5xx status that are correct in this scene. */
  readonly unavailable?: readonly string[]
  /** Called after the requests of each rule. Throws if the data of the edge breaks a rule of the domain. */
  readonly check?: (scene: Scene) => Promise<void>
}

/** One rule of the contract. Throws if the domain breaks it. */
export type Rule<Case = ContractCase> = (subject: Case) => void | Promise<void>

/** The types of the events that a domain folds. */
export const foldedTypes = ({ projections }: Domain): ReadonlySet<string> =>
  new Set(projections.flatMap(({ folds }) => Object.keys(folds)))
