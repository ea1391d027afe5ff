import type { Event } from '../schemas/event.ts'
import type { KeyOf } from './entity.ts'
import type { Item, Key } from './item.ts'
import type { Point, SeriesSpec } from './series.ts'
import type { TableSpec } from './table.ts'

/** An item of the fold's own projection and the event's own key, as of the event's time: expired is absent. */
export type Get = <I extends Item>(key: KeyOf<I>) => I | undefined

/** The rule that refused an event. `code` is stable; the caller receives both. */
interface Refusal {
  readonly code: string
  readonly detail: string
}

/** An event for another key. Its id is uuidv5 of the causing event and `purpose`, so a replay gives the same. */
export interface Derived {
  readonly purpose: string
  readonly event: { readonly type: string; readonly key: string; readonly data: unknown; readonly personal?: unknown; readonly subjectId?: string }
}

/** An event for this key when the time comes; the fold of that event removes it, or another arms it anew under the same name. */
export interface Timer {
  readonly name: string
  /** Epoch milliseconds, or null to disarm. */
  readonly at: number | null
  readonly event?: Derived['event']
}

export type Removed = Key & { readonly _removed: true }

/** Whole items to put and keys to remove. What a reader could miss later becomes a `GONE#` item beside the removal. */
export type Change = Item | Removed

export const removed = ({ PK, SK }: Key): Removed => ({ PK, SK, _removed: true })

/** The most changes that one event can make: one commit holds them and up to five rows of the engine. */
export const MAX_CHANGES = 95

/** Everything an event did. A refusal or a duplicate changes no items. */
export interface Result {
  readonly items?: readonly Change[]
  readonly derived?: readonly Derived[]
  readonly timers?: readonly Timer[]
  /** For the domain's series. A point has no other key's dimensions, and none comes twice. */
  readonly points?: readonly Point[]
  readonly refusal?: Refusal
  /** The event's natural key was seen before, with this event; nothing changes. */
  readonly duplicate?: true
}

export const DUPLICATE: Result = { duplicate: true }
export const NOTHING: Result = {}

/** Pure and total: one fold per event type. The projection subscribes to these types. */
export type Folds<E extends Event> = {
  readonly [T in E['type']]: (event: Extract<E, { type: T }>, get: Get) => Result
}

export interface Projection {
  readonly name: string
  // Method syntax keeps the parameter bivariant, so that a projection of one domain's events is a Projection.
  readonly folds: { readonly [type: string]: { fold(event: Event, get: Get): Result }['fold'] | undefined }
}

export const projection = <E extends Event>(name: string, folds: Folds<E>): Projection => ({ name, folds })

/** Finds the items that contain words of a person, so that `PersonForgotten` can name them. */
export interface PersonalItems {
  /** Every partition with items of this log key that can contain words of this person. */
  partitions(key: string, subject: string): readonly string[]
  /** True if the item contains words of this person, or is their token. */
  holds(item: Item, subject: string): boolean
}

export interface Domain {
  readonly name: string
  readonly topic: string
  readonly table: TableSpec
  /** Raised only when the results of events already folded change. */
  readonly foldVersion: number
  /**
   * The oldest fold version whose edge reads the items of this fold version correctly. An older edge answers 503 while a generation of
   * this version serves. Raise it when an attribute changes its meaning or disappears. Default: 1, because items otherwise only gain attributes.
   */
  readonly readableFrom?: number
  readonly projections: readonly Projection[]
  /** The series of its points. Absent if it has none. */
  readonly series?: SeriesSpec
  /**
   * The event types whose key is a person. Kafka records of the other types name their key in the header `ce_subject`.
   * Default: the key of every event is a person.
   */
  readonly keyedByPeople?: readonly string[]
  /** Finds people's words. Absent if the domain stores none. */
  readonly personal?: PersonalItems
}

/** The outcome of an event, as its sender receives it. */
export type Outcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'duplicate'; readonly of: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** `behind`: an earlier event of its key could not be folded, not this one. */
  | { readonly kind: 'parked'; readonly reason: string; readonly behind?: true }
