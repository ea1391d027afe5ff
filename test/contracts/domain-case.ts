import type fc from 'fast-check'
import type { Places } from '../../cli/domains.ts'
import type { Domain } from '../../projections/projection.ts'
import type { NamedSchema } from '../../schemas/avro.ts'
import type { Event } from '../../schemas/event.ts'
import type { EdgeCase } from './domain-requests.ts'

/** Values from which events are drawn: few, so that events meet each other. */
export interface Pools {
  /** Log keys. */
  readonly keys: readonly string[]
  /** People: actors, subjects, and the log keys of the events that are keyed by people. Default: the keys. */
  readonly people?: readonly string[]
  /** The values of fields in events of a log key, by the name of the field: ids, instants, days and amounts. */
  readonly fields?: (key: string) => Readonly<Record<string, readonly unknown[]>>
}

/** A domain and the values from which the contract suite draws its events. */
export interface DomainCase {
  readonly domain: Domain
  /** Where the items of a log key are, as `cli/domains.ts` declares it. */
  readonly partition: Pick<Places, 'of' | 'keyIn'>
  readonly pools: Pools
  /** Histories that are more plausible than those drawn from the schemas and the pools. Some drawn events follow them. */
  readonly history?: fc.Arbitrary<readonly Event[]>
  /** Whether an event that is repeated later must change nothing, by which of its projections changed something. Default: one of them did. */
  readonly isApplied?: (event: Event, changed: readonly boolean[]) => boolean
  /** Schemas that are not in `schemas/`. */
  readonly schemas?: readonly NamedSchema[]
  /** Its HTTP edge. Absent: the domain has none. */
  readonly edge?: EdgeCase
}

/** One rule of the contract. Throws if the domain breaks it. */
export type Rule<Case = DomainCase> = (subject: Case) => void | Promise<void>

export const projectionTypes = ({ projections }: Domain): ReadonlySet<string> => new Set(projections.flatMap(({ folds }) => Object.keys(folds)))
