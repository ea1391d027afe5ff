import type { Item } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Point } from '../../projections/series.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Event, EventMeta } from '../../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { Topic } from './log-model.ts'
import type { Random } from './random.ts'

/** Something a client sends, or a stranger puts on the topic. */
export interface Send {
  /** The event's id, by which the log is searched afterwards; null for what is no event. */
  readonly id: string | null
  /** Null goes to any partition, past every producer. */
  readonly key: string | null
  /** What is no event is bytes. */
  readonly what: Event | Uint8Array
}

export interface Workload {
  readonly domain: Domain
  /** Others that follow the same log; they refuse nothing and send nothing. */
  readonly beside?: readonly Domain[]
  readonly codec: Codec
  /** One list a client; each is sent in order. */
  readonly clients: readonly (readonly Send[])[]
  /** The folds want events said for other keys, so that somebody has to send them. */
  readonly sends: boolean
  /** Whose tokens are tried; none where there are no tokens. */
  readonly users: readonly string[]
  /** The releases that mend what the ones before could not read or fold, in order; absent where nothing can be mended. */
  readonly mends?: readonly Mending[]
  /** What is personal is sealed; then `codec` is without keys, and each process has its own. */
  readonly sealed?: true
  /** Who asks to be forgotten. */
  readonly forgets?: readonly string[]
  /** What the domain itself promises, whatever the engine does; of the log, by the rules as this run has them. */
  readonly check?: (told: Told) => readonly Violation[]
}

interface Mending {
  /** With which codes the mended keys are parked, beside those of every release. */
  readonly codes: readonly string[]
  bring(): void
}

export interface Told {
  readonly topic: Topic
  readonly codec: Codec
  /** The points of every generation that follows. */
  readonly stored: readonly Stored[]
  readonly rules: (domain: Domain) => Domain
}

export interface Stored {
  readonly name: string
  readonly points: ReadonlyMap<string, Point>
  readonly items: ReadonlyMap<string, Item>
}

export const EPOCH = Date.UTC(2026, 0, 5, 12)

export interface Said {
  readonly type: string
  readonly key: string
  readonly data: unknown
  readonly personal?: unknown
  readonly request?: EventMeta['request']
  /** Who says so, of themselves; else whoever the key is. */
  readonly by?: string
}

/** How event time goes by. */
export interface Pace {
  readonly from: number
  readonly stepMs: number
  /** How often days go by, so that what expires by event time does. */
  readonly leaps: number
}

/** Makes events as an edge would: ids and times from the run's own chance. */
export const createSpeaker = (random: Random, { from, stepMs, leaps }: Pace = { from: EPOCH, stepMs: 90_000, leaps: 0.03 }) => {
  let at = from
  let count = 0
  return {
    now: () => at,
    say: ({ type, key, data, personal = null, request = null, by = key }: Said): Event => {
      at += random.chance(leaps) ? 30 * 3_600_000 : random.between(0, stepMs)
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

/** Each word with a mark of its own, by which its traces are found. */
export const marked = (personal: object, count: number): object =>
  Object.fromEntries(Object.entries(personal).map(([name, word], index) => [name, word === null ? null : `${String(word)} ¤${count * 10 + index}`]))

/** Clients, and what each sends; some of it twice, some of it nothing anybody can read. */
export const dealt = (random: Random, { events, keys, poisoned = keys }: { events: readonly Event[]; keys: readonly string[]; poisoned?: readonly string[] }): Workload['clients'] => {
  const sends: Send[] = events.map((event) => ({ id: event.meta.eventId, key: event.meta.key, what: event }))
  const again = sends.filter(() => random.chance(0.05))
  const rubbish = random.chance(0.25) ? [alien(random, poisoned)] : []
  const all = [...sends]
  for (const extra of [...again, ...rubbish]) all.splice(random.between(Math.floor(all.length / 4), all.length), 0, extra)
  const clients = random.between(1, 3)
  // A user mostly speaks through one client, and is then heard in order.
  const clientOf = (send: Send) => (send.key === null || random.chance(0.1) ? random.between(0, clients - 1) : keys.indexOf(send.key) % clients)
  const byClient: Send[][] = Array.from({ length: clients }, () => [])
  for (const send of all) byClient[Math.max(0, clientOf(send))]?.push(send)
  return byClient
}

const alien = (random: Random, keys: readonly string[]): Send => ({
  id: null,
  key: random.chance(0.5) || keys.length === 0 ? null : random.pick(keys),
  // Undecodable bytes, a schema nobody knows, an array that claims a billion entries, nothing at all.
  what: random.pick([Buffer.from([0xff, 1, 2]), Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 1]), Buffer.from([0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 7]), Buffer.alloc(0)]),
})
