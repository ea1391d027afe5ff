import type { Item } from '../projections/item.ts'
import type { Domain } from '../projections/projection.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import type { DomainSimulation } from './domain.ts'
import type { Random } from './random.ts'
import { expectedOf } from './reference.ts'
import { assignToClients, createEventFactory, tagTexts, type CheckInput, type EventDraft } from './workload.ts'

/** The state of a workload when it creates the next event. */
export interface DrawState {
  /** The only source of random numbers. */
  readonly random: Random
  /** The time of the previous event, in epoch milliseconds. */
  readonly now: number
  /** The events that `draw` has returned so far. */
  readonly events: readonly Event[]
}

/** The log and the items at the end of a run. */
export interface FinalState {
  /** The events that were not refused and not duplicates, in the order in which they were folded. */
  readonly applied: readonly Event[]
  readonly items: readonly Item[]
}

/** Options of `workloadOf`. */
export interface WorkloadOptions {
  /** Further domains that fold the same log (`also` of the record). Default: none. */
  readonly also?: readonly Domain[]
  /** Checks the invariants of the domain. Returns a sentence for each broken invariant. Default: no check. */
  readonly check?: (state: FinalState) => readonly string[]
}

/**
 * Returns the workload of a domain for the simulation. `draw` returns one random event per call. Choose keys and ids from short lists, so that
 * several events have the same key or id, and use only the random numbers of the state. The workload sends the events from several clients,
 * repeats some events, and adds records that are no events. If the domain stores personal data, some runs seal this data and forget people.
 * A run fails if an event does not fit its schema.
 */
export const workloadOf = (
  domain: Domain,
  draw: (state: DrawState) => EventDraft,
  { also = [], check }: WorkloadOptions = {},
): DomainSimulation['workload'] => {
  const codec = openCodec({ folder: domain.schemas })
  return (random, length) => {
    const factory = createEventFactory(random)
    const events: Event[] = []
    while (events.length < length) {
      const { personal, ...event } = draw({ random, now: factory.now(), events })
      const created = factory.create({ ...event, personal: personal ? tagTexts(personal, events.length) : null })
      // Throws if the event does not fit its schema. Without this check, no client could append the event, and the run would test nothing.
      codec.encode(created)
      events.push(created)
    }
    const isSealed = domain.personal !== undefined && random.chance(0.5)
    const people = [...new Set(events.flatMap(({ meta }) => meta.subjectId ?? []))]
    const subjectsToForget = isSealed && random.chance(0.6) ? people.slice(0, random.between(1, 2)) : []
    const keys = [...new Set(events.map(({ meta }) => meta.key))]
    return {
      domain,
      sameLogDomains: also,
      codec,
      // An undecodable record parks its key, and personal data cannot be removed from the items of a parked key. So if people are forgotten, the
      // undecodable records have no key.
      clients: assignToClients(random, { events, keys, ...(subjectsToForget.length > 0 ? { poisoned: [] } : {}) }),
      hasOutgoingEvents: true,
      users: [],
      subjectsToForget,
      ...(check && { check: (input) => violationsOf(domain, check, input) }),
      ...(isSealed ? { isSealed } : {}),
    }
  }
}

const violationsOf = (
  domain: Domain,
  check: NonNullable<WorkloadOptions['check']>,
  { topic, codec, rules }: CheckInput,
): ReturnType<NonNullable<ReturnType<DomainSimulation['workload']>['check']>> => {
  const applied = new Set<Event>()
  const { items } = expectedOf({
    domain: rules(domain),
    codec,
    topic,
    watch: ({ event, result: { refusal, duplicate } }) => {
      if (refusal === undefined && !duplicate) applied.add(event)
    },
  })
  return check({ applied: [...applied], items: [...items.values()] }).map((detail) => ({ checker: 'domain', detail }))
}
