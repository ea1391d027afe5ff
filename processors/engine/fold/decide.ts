import { isExpired, type Item, type Key } from '../../../projections/item.ts'
import {
  MAX_CHANGES,
  type Change,
  type Domain,
  type Get,
  type Outcome,
  type Projection,
  type Result,
} from '../../../projections/projection.ts'
import { NOTHING_DUE, type Due, type OutgoingRows } from '../../../projections/outgoing-rows.ts'
import type { Find, OwnItems } from '../../../projections/own-items.ts'
import type { Point } from '../../../projections/series.ts'
import { HASHED_KEY, type Event } from '../../../schemas/event.ts'
import type { KeyOf } from '../../../projections/entity.ts'
import type { Position } from '../ports/log.ts'
import { idempotencyKey, outcomeKey } from './keys.ts'

/** A decoded event and its position in the log. */
export interface LoggedEvent extends Position {
  readonly event: Event
}

export interface Decision {
  readonly outcome: Outcome
  readonly changes: readonly Change[]
  readonly points: readonly Point[]
  readonly due: Due
}

/** Functions of other engine folders for the rows that an event writes. The caller passes them, so that `fold/` imports no other folder. */
export interface RowRules {
  /** Returns the changes of rows for the derived events, timers and asks of a result. Undefined if it has none. */
  readonly outgoing: (cause: Cause, result: Result, get: Get) => OutgoingRows | undefined
  /** Returns the size of a change in bytes. Throws a fault that parks the key if no store can store the change. */
  readonly measure: (change: Change) => number
  /** True if only one event ever writes this row. Such a row is not loaded before it is written. */
  readonly isWrittenOnce: (key: Key) => boolean
  /** True if a removal of this row writes a tombstone. */
  readonly leavesTombstone: (key: Key) => boolean
  readonly ownItems: OwnItems
}

/** An event whose fold returned a result, and the projection of the fold. */
export interface Cause extends LoggedEvent {
  readonly projection: string
}

export interface Decider extends RowRules {
  readonly projection: Projection
  /** The event types whose outcome this projection decides. */
  readonly decides: ReadonlySet<string>
  /** The name of the table's TTL attribute. */
  readonly ttl: string
}

const DAY_SECONDS = 24 * 60 * 60
export const APPLIED: Outcome = { kind: 'applied' }
const NO_CHANGES: readonly Change[] = []
const NO_POINTS: readonly Point[] = []

/** Returns one decider (projection and rules) per projection. The first projection that folds an event type decides the outcome of its events. */
export const decidersOf = ({ projections, table }: Domain, rules: RowRules): readonly Decider[] => {
  const decided = new Set<string>()
  return projections.map((projection) => {
    const decides = new Set(Object.keys(projection.folds).filter((type) => !decided.has(type)))
    for (const type of decides) decided.add(type)
    return { projection, decides, ttl: table.ttl, ...rules }
  })
}

/** Decides the outcome and the changes of an event from the stored items. A pure function: each replay makes the same decision. */
export type Decide = (logged: LoggedEvent) => Decision

interface Reading {
  readonly find: Find
  /** Reads an item as it is visible at the time of the event: an expired item and a tombstone are absent. */
  readonly get: Get
  /** As `get`, for folds. Fault: `foreign-item` if the item belongs to another log key. */
  readonly getOwn: Get
}

/** Creates the functions that read items once, and not per event, because a rebuild decides millions of events. */
export const createDecide = (decider: Decider, find: Find): Decide => {
  const { ownItems, ttl } = decider
  let at = 0
  let logKey = ''
  const get: Get = <I extends Item>(key: Key) => {
    const item = find(key)
    return item === undefined || isExpired(item, ttl, at) ? undefined : (item as I)
  }
  const getOwn: Get = <I extends Item>(key: KeyOf<I>) => {
    ownItems.requireRead(key, logKey, find)
    return get(key)
  }
  const reading = { find, get, getOwn }
  return (logged) => {
    at = logged.event.meta.recordedAt
    logKey = logged.event.meta.key
    return decide(decider, logged, reading)
  }
}

const decide = (decider: Decider, logged: LoggedEvent, reading: Reading): Decision => {
  const request = decider.decides.has(logged.event.type) ? logged.event.meta.request : null
  if (request === null) return judge(decider, logged, reading)
  const key = idempotencyKey(logged.event.meta.actorId ?? '', request.key, logged.event.meta.key)
  const earlier = reading.get<RememberedRequest>(key)
  if (earlier !== undefined) return repeatedRequest(decider, logged, earlier)
  const decision = judge(decider, logged, reading)
  const remembered = requestRow(decider, logged, { key, outcome: decision.outcome })
  return { ...decision, changes: [...decision.changes, remembered] }
}

const judge = (decider: Decider, logged: LoggedEvent, { find, get, getOwn }: Reading): Decision => {
  const result = decider.projection.folds[logged.event.type]?.(logged.event, getOwn) ?? {}
  if (result.refusal !== undefined) return notApplied(decider, logged, { kind: 'refused', refusal: result.refusal })
  if (result.duplicate) return notApplied(decider, logged, { kind: 'duplicate', of: logged.event.meta.eventId })
  const items = result.items ?? NO_CHANGES
  for (const change of items) decider.ownItems.requireWrite(change, logged.event.meta.key, find)
  const { derived, timers, asks } = result
  const rows =
    derived === undefined && timers === undefined && asks === undefined
      ? undefined
      : decider.outgoing({ ...logged, projection: decider.projection.name }, result, get)
  const count = items.length + (rows?.count ?? 0)
  if (count > MAX_CHANGES) return notApplied(decider, logged, { kind: 'refused', refusal: tooManyChanges(count) })
  return {
    outcome: APPLIED,
    changes: rows === undefined ? items : [...items, ...rows.changes],
    points: result.points ?? NO_POINTS,
    due: rows?.due ?? NOTHING_DUE,
  }
}

const tooManyChanges = (count: number) => ({
  code: 'too-many-changes',
  detail: `The event would change ${count} items at once; at most ${MAX_CHANGES} fit one commit. Send it in smaller parts.`,
})

type RememberedRequest = Key & {
  readonly event: string
  readonly hash: string
  readonly refusal?: { readonly code: string; readonly detail: string }
}

const repeatedRequest = (decider: Decider, logged: LoggedEvent, earlier: RememberedRequest): Decision => {
  if (earlier.hash !== logged.event.meta.request?.hash)
    return notApplied(decider, logged, { kind: 'refused', refusal: reusedKey(logged) })
  if (earlier.refusal !== undefined) return notApplied(decider, logged, { kind: 'refused', refusal: earlier.refusal })
  return notApplied(decider, logged, { kind: 'duplicate', of: earlier.event })
}

/** The refusal names the Idempotency-Key if the event contains the key itself, as in older releases. Newer events contain only a hash of the key. */
const reusedKey = ({ event }: LoggedEvent) => {
  const key = event.meta.request?.key ?? ''
  const named = key.startsWith(HASHED_KEY) ? 'This Idempotency-Key' : `The Idempotency-Key "${key}"`
  return {
    code: 'idempotency-key-reused',
    detail: `${named} was used before with another body. Use a new key for a new request.`,
  }
}

/** The row by which a repeated request is recognised. It expires after a day. */
const requestRow = (
  { ttl }: Decider,
  { event }: LoggedEvent,
  { key, outcome }: { key: Key; outcome: Outcome },
): Item => ({
  ...key,
  event: event.meta.eventId,
  hash: event.meta.request?.hash,
  ...(outcome.kind === 'refused' ? { refusal: { ...outcome.refusal } } : {}),
  [ttl]: expiryOf(event),
})

/** Decision for a refusal or a duplicate: its only change is a row with the outcome, or none if another projection decides this event type. */
const notApplied = ({ decides, ttl }: Decider, logged: LoggedEvent, outcome: Outcome): Decision => ({
  outcome,
  changes: decides.has(logged.event.type)
    ? [{ ...outcomeKey(logged), ...attributesOf(outcome), [ttl]: expiryOf(logged.event) }]
    : NO_CHANGES,
  points: NO_POINTS,
  due: NOTHING_DUE,
})

const attributesOf = (outcome: Outcome): { readonly [name: string]: string } => {
  if (outcome.kind === 'refused')
    return { kind: outcome.kind, code: outcome.refusal.code, detail: outcome.refusal.detail }
  if (outcome.kind === 'duplicate') return { kind: outcome.kind, of: outcome.of }
  return { kind: outcome.kind }
}

const expiryOf = (event: Event): number => Math.floor(event.meta.recordedAt / 1000) + DAY_SECONDS
