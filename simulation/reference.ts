import { ENGINE_ASKS, type Ask } from '../projections/ask.ts'
import { isExpired, keyOf, type Item, type Key, type Stored } from '../projections/item.ts'
import { type Domain, type Get, type Outcome, type Result, MAX_CHANGES } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import type { LogRecord, Position } from '../processors/engine/ports/log.ts'
import type { Versioned } from '../processors/engine/ports/series.ts'
import { positionName, type Topic } from './log-model.ts'
import { askChanges, idOf, timerChanges } from './reference-rows.ts'
import { pointName } from './series-model.ts'

/**
 * The state that the engine must reach. This reference model folds the log one event after the other into a Map. It uses the folds and the codec of
 * the program. It parks keys with code of its own, and has no batches, caches, conditional writes or checkpoints.
 */
export interface Expected {
  readonly items: ReadonlyMap<string, Stored>
  readonly outcomes: ReadonlyMap<string, Outcome['kind'] | 'ignored'>
  /**
   * The offset of the first parked event, by `projection#key`. If the codec cannot decode a record, the name is `*#key`, or `*#@offset` for a
   * record without a key.
   */
  readonly parked: ReadonlyMap<string, number>
  /** The derived events of the folds. */
  readonly derived: readonly {
    readonly cause: string
    readonly purpose: string
    readonly key: string
    readonly type: string
  }[]
  /** The points by name. If several points have the same name: the newest one. */
  readonly points: ReadonlyMap<string, Versioned>
  /** The due time of each timer that was ever armed, by the id of its event. */
  readonly timers: ReadonlyMap<string, number>
  /** Each ask that was ever armed, by its id. */
  readonly asks: ReadonlyMap<string, RequestedAsk>
}

interface RequestedAsk {
  readonly at: number
  readonly queue: string
  readonly once: boolean
}

/** An event and the result of its fold, before the changes are applied. `get` reads the items as they are before the event. */
export interface Step {
  readonly projection: string
  readonly event: Event
  readonly result: Result
  readonly get: Get
}

interface Folding {
  readonly watch: ((step: Step) => void) | undefined
  readonly domain: Domain
  readonly codec: Codec
  readonly items: Map<string, Stored>
  readonly outcomes: Map<string, Outcome['kind'] | 'ignored'>
  readonly parked: Map<string, number>
  readonly derived: { cause: string; purpose: string; key: string; type: string }[]
  readonly points: Map<string, Versioned>
  readonly timers: Map<string, number>
  readonly asks: Map<string, RequestedAsk>
}

const DAY_S = 86_400

interface Expecting {
  readonly domain: Domain
  readonly codec: Codec
  readonly topic: Topic
  readonly watch?: (step: Step) => void
}

export const expectedOf = ({ domain, codec, topic, watch }: Expecting): Expected => {
  const folding: Folding = {
    domain,
    codec,
    watch,
    items: new Map(),
    outcomes: new Map(),
    parked: new Map(),
    derived: [],
    points: new Map(),
    timers: new Map(),
    asks: new Map(),
  }
  for (const records of topic.partitions) for (const record of records) foldRecord(folding, record)
  return folding
}

const decoded = (codec: Codec, record: LogRecord): Event | undefined => {
  try {
    const event = codec.decode(record.value)
    return event.meta.key === record.key ? event : undefined
  } catch {
    return undefined
  }
}

const foldRecord = (folding: Folding, record: LogRecord) => {
  const { parked, outcomes, codec, domain } = folding
  const name = positionName(record)
  const isParked = record.key !== null && parked.has(`*#${record.key}`)
  const event = isParked ? undefined : decoded(codec, record)
  if (event === undefined) {
    if (!isParked) parked.set(`*#${record.key ?? `@${record.offset}`}`, record.offset)
    outcomes.set(name, 'parked')
    return
  }
  const projections = domain.projections.filter(({ folds }) => folds[event.type] !== undefined)
  const kinds = projections.map((projection, index) =>
    foldEvent(folding, { projection: projection.name, event, record, isDeciding: index === 0 }),
  )
  outcomes.set(name, kinds.find((kind) => kind === 'parked') ?? kinds[0] ?? 'ignored')
}

interface FoldTarget {
  readonly projection: string
  readonly event: Event
  readonly record: Position
  /** True for the first projection that folds this type. Its outcome is the outcome of the event. */
  readonly isDeciding: boolean
}

const foldEvent = (folding: Folding, target: FoldTarget): Outcome['kind'] => {
  const { parked, items } = folding
  const { event, record, projection } = target
  const parkedName = `${projection}#${event.meta.key}`
  if (parked.has(parkedName)) return 'parked'
  const request = target.isDeciding ? event.meta.request : null
  const requestKey = request && { PK: `IDEM#${event.meta.actorId ?? ''}#${request.key}`, SK: event.meta.key }
  const get = getter(folding, event)
  const prior = requestKey && get(requestKey)
  if (request && prior) return repeat(folding, target, prior, request)
  let result: Result
  try {
    result = folding.domain.projections.find(({ name }) => name === projection)?.folds[event.type]?.(event, get) ?? {}
  } catch {
    parked.set(parkedName, record.offset)
    return 'parked'
  }
  folding.watch?.({ projection, event, result, get })
  const outcome = apply(folding, target, result)
  if (request && requestKey) {
    const refusal = outcome.kind === 'refused' ? { refusal: { ...outcome.refusal } } : {}
    const item = {
      ...requestKey,
      event: event.meta.eventId,
      hash: request.hash,
      ...refusal,
      ...expiry(folding, event),
      _pos: record.offset,
    }
    items.set(keyOf(item), item)
  }
  return outcome.kind
}

const getter =
  ({ items, domain }: Folding, event: Event): Get =>
  <I extends Item>(key: Key) => {
    const item = items.get(keyOf(key))
    return item === undefined || isExpired(item, domain.table.ttl, event.meta.recordedAt)
      ? undefined
      : (item as Item as I)
  }

const repeat = (
  folding: Folding,
  target: FoldTarget,
  prior: Item,
  request: { key: string; hash: string },
): Outcome['kind'] => {
  const refusal = prior['hash'] === request.hash ? prior['refusal'] : reusedRefusal(request.key)
  if (refusal !== undefined)
    return writeOutcome(folding, target, { kind: 'refused', refusal: refusal as { code: string; detail: string } }).kind
  return writeOutcome(folding, target, { kind: 'duplicate', of: String(prior['event']) }).kind
}

const reusedRefusal = (key: string) => ({
  code: 'idempotency-key-reused',
  detail: `The Idempotency-Key "${key}" was used before with another body. Use a new key for a new request.`,
})

const apply = (folding: Folding, target: FoldTarget, result: Result): Outcome => {
  const { event, record } = target
  if (result.refusal) return writeOutcome(folding, target, { kind: 'refused', refusal: result.refusal })
  if (result.duplicate) return writeOutcome(folding, target, { kind: 'duplicate', of: event.meta.eventId })
  const cause = { ...target, items: folding.items }
  const timers = timerChanges(cause, folding.codec, result.timers ?? [])
  const asks = askChanges(cause, { ...ENGINE_ASKS, ...folding.domain.asks }, result.asks ?? [])
  const count = (result.items?.length ?? 0) + timers.length + asks.length + (result.derived?.length ?? 0)
  if (count > MAX_CHANGES) {
    const detail = `The event would change ${count} items at once; at most ${MAX_CHANGES} fit one commit. Send it in smaller parts.`
    return writeOutcome(folding, target, { kind: 'refused', refusal: { code: 'too-many-changes', detail } })
  }
  for (const change of [...(result.items ?? []), ...timers, ...asks]) {
    if ('_removed' in change) folding.items.delete(keyOf(change))
    else folding.items.set(keyOf(change), { ...(change as Item), _pos: record.offset })
  }
  for (const { purpose, event: next } of result.derived ?? []) {
    folding.derived.push({ cause: event.meta.eventId, purpose, key: next.key, type: next.type })
  }
  for (const point of result.points ?? [])
    folding.points.set(pointName(point), { ...point, version: record.offset + 1 })
  for (const { name, at } of result.timers ?? [])
    if (at !== null) folding.timers.set(idOf(event, `timer:${name}:${at}`), at)
  for (const ask of result.asks ?? [])
    if (ask.at !== null) folding.asks.set(idOf(event, `ask:${ask.name}:${ask.at}`), requestedAsk(ask, event))
  return { kind: 'applied' }
}

const requestedAsk = ({ at, queue, once }: Ask, { meta }: Event): RequestedAsk => ({
  at: at ?? 0,
  queue: queue ?? meta.key,
  once: once === true,
})

const writeOutcome = (folding: Folding, { event, record, isDeciding }: FoldTarget, outcome: Outcome): Outcome => {
  if (!isDeciding) return outcome
  const details = outcome.kind === 'refused' ? outcome.refusal : outcome.kind === 'duplicate' ? { of: outcome.of } : {}
  const item = {
    PK: `OUTCOME#${record.partition}#${record.offset}`,
    SK: 'OUTCOME',
    kind: outcome.kind,
    ...details,
    ...expiry(folding, event),
    _pos: record.offset,
  }
  folding.items.set(keyOf(item), item)
  return outcome
}

const expiry = ({ domain }: Folding, event: Event) => ({
  [domain.table.ttl]: Math.floor(event.meta.recordedAt / 1000) + DAY_S,
})
