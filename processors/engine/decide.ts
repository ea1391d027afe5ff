import type { Item, Key } from '../../projections/item.ts'
import { MAX_CHANGES, type Change, type Domain, type Get, type Outcome, type Projection, type Result, type Timer } from '../../projections/projection.ts'
import type { Point } from '../../projections/series.ts'
import { HASHED_KEY, type Event } from '../../schemas/event.ts'
import { idempotencyKey, outcomeKey } from './keys.ts'
import type { Position } from './log.ts'
import { requireStorable } from './storable.ts'

/** An event as it was heard: decoded, at its position. */
export interface Heard extends Position {
  readonly event: Event
}

export interface Decision {
  readonly outcome: Outcome
  readonly changes: readonly Change[]
  readonly points: readonly Point[]
  /** Whether there is something for the outbox among them. */
  readonly sends: boolean
}

export interface Decider {
  readonly projection: Projection
  /** The event types whose outcome this projection decides. */
  readonly decides: ReadonlySet<string>
  /** The table's TTL attribute. */
  readonly ttl: string
  /** The bytes of a change. Throws a fault that parks the key if no store can hold it. */
  readonly measure: (change: Change) => number
  /** Rows for what is to be sent; none while building, since a replay sends nothing. */
  readonly outbox: ((heard: Heard, result: Result, projection: string) => readonly Item[]) | undefined
  /** Items of the timers that an event arms and disarms. */
  readonly timers: (heard: Heard, timers: readonly Timer[], get: Get) => readonly Change[]
}

const DAY_SECONDS = 24 * 60 * 60
export const APPLIED: Outcome = { kind: 'applied' }
const NOTHING: readonly Change[] = []
const NO_POINTS: readonly Point[] = []

/** One decider a projection. The first of a domain's projections that folds a type decides it. */
export const decidersOf = ({ projections, table }: Domain, rows: Pick<Decider, 'outbox' | 'timers'>): readonly Decider[] => {
  const taken = new Set<string>()
  return projections.map((projection) => {
    const decides = new Set(Object.keys(projection.folds).filter((type) => !taken.has(type)))
    for (const type of decides) taken.add(type)
    return { projection, decides, ttl: table.ttl, measure: (change) => requireStorable(table, change), ...rows }
  })
}

/** What an event does, given what is there: the same on every replay. */
export const decide = (decider: Decider, heard: Heard, get: Get): Decision => {
  const request = decider.decides.has(heard.event.type) ? heard.event.meta.request : null
  if (request === null) return judge(decider, heard, get)
  const key = idempotencyKey(heard.event.meta.actorId ?? '', request.key, heard.event.meta.key)
  const prior = get<Remembered>(key)
  if (prior !== undefined) return repeated(decider, heard, prior)
  const decision = judge(decider, heard, get)
  return { ...decision, changes: [...decision.changes, remember(decider, heard, { key, outcome: decision.outcome })] }
}

const fold = ({ projection }: Decider, { event }: Heard, get: Get): Result => projection.folds[event.type]?.(event, get) ?? {}

const judge = (decider: Decider, heard: Heard, get: Get): Decision => {
  const result = fold(decider, heard, get)
  if (result.refusal !== undefined) return marked(decider, heard, { kind: 'refused', refusal: result.refusal })
  if (result.duplicate) return marked(decider, heard, { kind: 'duplicate', of: heard.event.meta.eventId })
  const items = result.items ?? NOTHING
  const timers = result.timers === undefined ? NOTHING : decider.timers(heard, result.timers, get)
  const rows = decider.outbox?.(heard, result, decider.projection.name) ?? NOTHING
  // Counted by what the fold wants, not by what is written: a build has no outbox and must decide alike.
  const count = items.length + timers.length + (result.derived?.length ?? 0)
  if (count > MAX_CHANGES) return marked(decider, heard, { kind: 'refused', refusal: tooMany(count) })
  return { outcome: APPLIED, changes: timers.length + rows.length === 0 ? items : [...items, ...timers, ...rows], points: result.points ?? NO_POINTS, sends: rows.length > 0 }
}

const tooMany = (count: number) => ({
  code: 'too-many-changes',
  detail: `The event would change ${count} items at once; at most ${MAX_CHANGES} fit one commit. Send it in smaller parts.`,
})

type Remembered = Key & { readonly event: string; readonly hash: string; readonly refusal?: { readonly code: string; readonly detail: string } }

const repeated = (decider: Decider, heard: Heard, prior: Remembered): Decision => {
  if (prior.hash !== heard.event.meta.request?.hash) return marked(decider, heard, { kind: 'refused', refusal: reused(heard) })
  if (prior.refusal !== undefined) return marked(decider, heard, { kind: 'refused', refusal: prior.refusal })
  return marked(decider, heard, { kind: 'duplicate', of: prior.event })
}

/** Events of older releases contain the key itself, and their refusals name it. */
const reused = ({ event }: Heard) => {
  const key = event.meta.request?.key ?? ''
  const named = key.startsWith(HASHED_KEY) ? 'This Idempotency-Key' : `The Idempotency-Key "${key}"`
  return { code: 'idempotency-key-reused', detail: `${named} came before with another body. Use a new key for a new request.` }
}

const remember = ({ ttl }: Decider, { event }: Heard, { key, outcome }: { key: Key; outcome: Outcome }): Item => ({
  ...key,
  event: event.meta.eventId,
  hash: event.meta.request?.hash,
  ...(outcome.kind === 'refused' ? { refusal: { ...outcome.refusal } } : {}),
  [ttl]: expiry(event),
})

/** A refusal or a duplicate leaves a small expiring marker by position, so that its sender hears of it in any process. */
const marked = ({ decides, ttl }: Decider, heard: Heard, outcome: Outcome): Decision => ({
  outcome,
  changes: decides.has(heard.event.type) ? [{ ...outcomeKey(heard), ...flat(outcome), [ttl]: expiry(heard.event) }] : NOTHING,
  points: NO_POINTS,
  sends: false,
})

const flat = (outcome: Outcome): { readonly [name: string]: string } => {
  if (outcome.kind === 'refused') return { kind: outcome.kind, code: outcome.refusal.code, detail: outcome.refusal.detail }
  if (outcome.kind === 'duplicate') return { kind: outcome.kind, of: outcome.of }
  return { kind: outcome.kind }
}

/** The outcome a marker tells; an event without one was applied. */
export const outcomeOf = (marker: Item | undefined): Outcome => {
  if (marker?.['kind'] === 'refused') return { kind: 'refused', refusal: { code: String(marker['code']), detail: String(marker['detail']) } }
  if (marker?.['kind'] === 'duplicate') return { kind: 'duplicate', of: String(marker['of']) }
  return APPLIED
}

const expiry = (event: Event): number => Math.floor(event.meta.recordedAt / 1000) + DAY_SECONDS
