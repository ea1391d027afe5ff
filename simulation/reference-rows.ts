import { v5 } from 'uuid'
import type { Ask, AskKinds } from '../projections/ask.ts'
import { keyOf, type Item } from '../projections/item.ts'
import { removed, type Change, type Timer } from '../projections/projection.ts'
import { NAMESPACE } from '../processors/engine/outgoing/outbox.ts'
import type { Position } from '../processors/engine/ports/log.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'

/** The event whose rows are computed, and the state of the reference model before it. */
interface RowCause {
  readonly event: Event
  readonly record: Position
  readonly projection: string
  readonly items: ReadonlyMap<string, Item>
}

/** The id of a derived event, of a timer's event or of an ask. */
export const idOf = ({ meta }: Event, purpose: string): string => v5(`${meta.eventId}:${purpose}`, NAMESPACE)

/**
 * Returns the changes of an event's timers. An armed timer has two rows: a `TIMER#` row by due time, with the encoded event, and an `ARMED#`
 * row by name, with the due time.
 */
export const timerChanges = (
  { event, record, items }: RowCause,
  codec: Codec,
  timers: readonly Timer[],
): readonly Change[] =>
  timers.flatMap(({ name, at, event: next }) => {
    const { key, correlationId, eventId } = event.meta
    const row = (due: number) => ({
      PK: `TIMER#${record.partition}`,
      SK: `${new Date(due).toISOString()}#${key}#${name}`,
    })
    const armed = { PK: `ARMED#${key}`, SK: name }
    const armedBefore = items.get(keyOf(armed))
    const clear = armedBefore === undefined ? [] : [removed(row(armedBefore['at'] as number))]
    if (at === null || next === undefined) return armedBefore === undefined ? [] : [...clear, removed(armed)]
    const id = idOf(event, `timer:${name}:${at}`)
    const meta = {
      eventId: id,
      key,
      occurredAt: at,
      recordedAt: at,
      source: 'timer',
      correlationId: correlationId ?? eventId,
      causationId: eventId,
      actorId: null,
      subjectId: null,
      request: null,
    }
    const value = Buffer.from(codec.encode({ type: next.type, meta, data: next.data, personal: null })).toString(
      'base64',
    )
    return [...clear.filter(({ SK }) => SK !== row(at).SK), { ...row(at), id, key, value }, { ...armed, at }]
  })

/** The place of an ask: its priority and its due time. */
interface AskPlace {
  readonly at: number
  readonly priority: number
}

/** Returns the changes of an event's asks. An ask has two rows: an `ASK#` row by priority and due time, and an `ASKED#` row by name. */
export const askChanges = (
  { event, record, projection, items }: RowCause,
  kinds: AskKinds,
  asks: readonly Ask[],
): readonly Change[] =>
  asks.flatMap(({ name, at, kind = '', body = null, queue, priority = 5, once }) => {
    const { key, eventId, correlationId, recordedAt } = event.meta
    const rowAt = (place: AskPlace) => ({
      PK: `ASK#${record.partition}#${place.priority}`,
      SK: `${new Date(place.at).toISOString()}#${key}#${name}`,
    })
    const named = { PK: `ASKED#${key}`, SK: name }
    const before = items.get(keyOf(named)) as (Item & AskPlace) | undefined
    const clear = before === undefined ? [] : [removed(rowAt(before))]
    if (at === null) return before === undefined ? [] : [...clear, removed(named)]
    const row = {
      ...rowAt({ at, priority }),
      id: idOf(event, `ask:${name}:${at}`),
      name,
      kind,
      key,
      projection,
      body: JSON.stringify(body),
      queue: queue ?? key,
      priority,
      at,
      armedAt: recordedAt,
      ...(kinds[kind]?.changes && { changes: true }),
      ...(once && { once }),
      cause: eventId,
      correlation: correlationId ?? eventId,
    }
    return [...clear.filter((each) => keyOf(each) !== keyOf(row)), row, { ...named, at, priority }]
  })
