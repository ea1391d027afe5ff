import type { AskCall, AskResult } from '../projections/ask.ts'
import type { Item } from '../projections/item.ts'
import type { Domain } from '../projections/projection.ts'
import type { Point } from '../projections/series.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event, EventMeta } from '../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { Topic } from './log-model.ts'
import type { Random } from './random.ts'

/** An event that a client sends, or bytes that an unknown writer puts on the topic. */
export interface Send {
  /** The id of the event. Null if the payload is no event. */
  readonly id: string | null
  /** The log key. Null: the record has no key and gets into any partition. */
  readonly key: string | null
  readonly payload: Event | Uint8Array
}

/** The events and the invariants of one run. `workloadOf` makes it for most domains. */
export interface Workload {
  readonly domain: Domain
  /** Further domains that fold the same log. Their folds return no refusals, derived events or timers. Default: none. */
  readonly sameLogDomains?: readonly Domain[]
  readonly codec: Codec
  /** One list per client. Each client sends its list in order. */
  readonly clients: readonly (readonly Send[])[]
  /** True if the folds return derived events or timers. Then the nodes also run the roles `sender` and `timers`. */
  readonly hasOutgoingEvents: boolean
  /** The answers of the outside service to asks, by kind. Then the nodes also run the role `fetcher`. Asks of other kinds wait. Default: none. */
  readonly answers?: Answers
  /** The users whose tokens the simulation tries. Empty if the domain has no tokens. */
  readonly users: readonly string[]
  /** The releases that are deployed during the run, in order. Each release can decode or fold more events than the one before. Default: none. */
  readonly releases?: readonly FixRelease[]
  /** True if personal data is sealed. Then each process has its own codec with keys, instead of `codec`. */
  readonly isSealed?: true
  /** The people who are forgotten during the run. Default: none. */
  readonly subjectsToForget?: readonly string[]
  /** Checks the invariants of the domain. They hold for every log, and do not depend on the engine. Default: no check. */
  readonly check?: (input: CheckInput) => readonly Violation[]
}

/** Returns the answer to each kind of ask. All random numbers of an answer come from `random`. */
export type Answers = Readonly<Record<string, (ask: AskCall, random: Random) => AskResult>>

interface FixRelease {
  /** The codes of the parked keys that this release can heal. */
  readonly codes: readonly string[]
  deploy(): void
}

/** The log and the points at the end of a run, for the invariants of a domain. */
export interface CheckInput {
  readonly topic: Topic
  readonly codec: Codec
  /** The points of every following generation. */
  readonly stored: readonly StoredSeries[]
  readonly rules: (domain: Domain) => Domain
}

export interface StoredSeries {
  readonly name: string
  readonly points: ReadonlyMap<string, Point>
  readonly items: ReadonlyMap<string, Item>
}

/** The simulated time at which each run begins, in epoch milliseconds. */
export const EPOCH = Date.UTC(2026, 0, 5, 12)

/** An event of a simulated client. The simulation adds the envelope. */
export interface EventDraft {
  readonly type: string
  readonly key: string
  readonly data: unknown
  readonly personal?: unknown
  readonly request?: EventMeta['request']
  /** The actor of the event. If the event has personal data, the actor is also its subject. Default: the key. */
  readonly by?: string
}

/** The times of the events: they begin at `from` (epoch milliseconds), and each event is at most `stepMs` milliseconds after the previous event. */
export interface Pace {
  readonly from: number
  readonly stepMs: number
  /** The probability that an event is 30 hours after the previous event instead, so that items expire. */
  readonly leapChance: number
}

/** Makes events as an edge does. Ids and times come from the random numbers of the run. */
export const createEventFactory = (
  random: Random,
  { from, stepMs, leapChance }: Pace = { from: EPOCH, stepMs: 90_000, leapChance: 0.03 },
) => {
  let at = from
  let count = 0
  return {
    now: () => at,
    create: ({ type, key, data, personal = null, request = null, by = key }: EventDraft): Event => {
      at += random.chance(leapChance) ? 30 * 3_600_000 : random.between(0, stepMs)
      count += 1
      const meta: EventMeta = {
        eventId: `e${String(count).padStart(4, '0')}`,
        key,
        occurredAt: at,
        recordedAt: at,
        source: 'simulation',
        correlationId: null,
        causationId: null,
        actorId: by,
        subjectId: personal === null ? null : by,
        request,
      }
      return { type, meta, data, personal }
    },
  }
}

/** Adds a unique tag to each personal text. A checker finds every trace of the text by its tag. */
export const tagTexts = (personal: object, count: number): object =>
  Object.fromEntries(
    Object.entries(personal).map(([name, text], index) => [
      name,
      typeof text === 'string' ? `${text} ¤${count * 10 + index}` : text,
    ]),
  )

/**
 * Distributes the events to one to three clients. Adds some events a second time, and sometimes an undecodable record. This record has a key
 * from `poisoned` (default: `keys`) or no key.
 */
export const assignToClients = (
  random: Random,
  {
    events,
    keys,
    poisoned = keys,
  }: { events: readonly Event[]; keys: readonly string[]; poisoned?: readonly string[] },
): Workload['clients'] => {
  const sends: Send[] = events.map((event) => ({ id: event.meta.eventId, key: event.meta.key, payload: event }))
  const repeated = sends.filter(() => random.chance(0.05))
  const undecodable = random.chance(0.25) ? [undecodableSend(random, poisoned)] : []
  const all = [...sends]
  for (const extra of [...repeated, ...undecodable])
    all.splice(random.between(Math.floor(all.length / 4), all.length), 0, extra)
  const clients = random.between(1, 3)
  // Mostly one client sends all events of a key, so they stay in order.
  const clientOf = (send: Send) =>
    send.key === null || random.chance(0.1) ? random.between(0, clients - 1) : keys.indexOf(send.key) % clients
  const byClient: Send[][] = Array.from({ length: clients }, () => [])
  for (const send of all) byClient[Math.max(0, clientOf(send))]?.push(send)
  return byClient
}

const undecodableSend = (random: Random, keys: readonly string[]): Send => ({
  id: null,
  key: random.chance(0.5) || keys.length === 0 ? null : random.pick(keys),
  // Payloads that no codec can decode: random bytes, an unknown schema, an array with a length of about a billion, no bytes.
  payload: random.pick([
    Buffer.from([0xff, 1, 2]),
    Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 1]),
    Buffer.from([0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 7]),
    Buffer.alloc(0),
  ]),
})
