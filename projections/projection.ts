import type { Event } from '../schemas/event.ts'
import type { Ask, AskKinds } from './ask.ts'
import type { KeyOf } from './entity.ts'
import type { Item, Key } from './item.ts'
import type { Point, SeriesSpec } from './series.ts'
import type { TableSpec } from './table.ts'

/**
 * Reads an item for a fold. The item must belong to the fold's own projection and to the log key of the event. Undefined
 * if the item does not exist, or if its TTL has passed at the time of the event.
 */
export type Get = <I extends Item>(key: KeyOf<I>) => I | undefined

/** The rule that refused an event. The caller receives `code`, which never changes its meaning, and `detail`, a text for people. */
interface Refusal {
  readonly code: string
  readonly detail: string
}

/** An event for another key. Its id is uuidv5 of the causing event and `purpose`, so a replay derives the same id. */
export interface Derived {
  readonly purpose: string
  readonly event: {
    readonly type: string
    readonly key: string
    readonly data: unknown
    readonly personal?: unknown
    readonly subjectId?: string
  }
}

/**
 * An event that the engine appends at the given time, under the log key of the fold that set the timer. When that event
 * is folded, the engine removes the timer. A later event can set a timer with the same name again.
 */
export interface Timer {
  readonly name: string
  /** The time in epoch milliseconds. Null removes the timer. */
  readonly at: number | null
  readonly event?: Derived['event']
}

export type Removed = Key & { readonly _removed: true }

/**
 * A whole item to put, or a key to remove. If a later event must recognise the removed item, the fold also puts a
 * `GONE#` item.
 */
export type Change = Item | Removed

/** The change that removes an item. */
export const removed = ({ PK, SK }: Key): Removed => ({ PK, SK, _removed: true })

/** The maximum number of changes by one event. One commit contains these changes and up to five rows of the engine. */
export const MAX_CHANGES = 95

/** The result of a fold. A refusal or a duplicate changes no items. */
export interface Result {
  readonly items?: readonly Change[]
  readonly derived?: readonly Derived[]
  readonly timers?: readonly Timer[]
  readonly asks?: readonly Ask[]
  /**
   * Points for the domain's series. The fold must return each point once. Events of other log keys must not return points
   * with the same dimensions.
   */
  readonly points?: readonly Point[]
  readonly refusal?: Refusal
  /** The fold has applied this event before. Nothing changes. */
  readonly duplicate?: true
}

/** The result of a fold for an event that was folded before under another offset. */
export const DUPLICATE: Result = { duplicate: true }
/** The result of a fold that changes nothing. */
export const NOTHING: Result = {}

/** One fold per event type. A fold is pure, and returns a result for every event of its type. The projection receives only these types. */
export type Folds<E extends Event> = { readonly [T in E['type']]: (event: Extract<E, { type: T }>, get: Get) => Result }

/** A set of folds. If one of them throws, the engine parks the event's key in this projection, not in the whole domain. */
export interface Projection {
  readonly name: string
  // Method syntax, because TypeScript then checks the type of the parameter less strictly (bivariantly). So a projection that
  // accepts only the events of one domain is also a Projection.
  readonly folds: { readonly [type: string]: { fold(event: Event, get: Get): Result }['fold'] | undefined }
}

/** Declares a projection: its name, and one pure fold for each event type. */
export const projection = <E extends Event>(name: string, folds: Folds<E>): Projection => ({ name, folds })

/** Finds the items with personal data of a person, so that `PersonForgotten` can name them. */
export interface PersonalItems {
  /** Every partition with items of this log key that can contain personal data of this person. */
  partitions(key: string, subject: string): readonly string[]
  /** True if the item contains personal data of this person, or is a token of this person. */
  hasPersonalData(item: Item, subject: string): boolean
}

/** Relates the partitions of a domain's table to the keys of its log. */
export interface Partitions {
  /** Every partition that contains items of one log key. Absent if the log key does not determine all of its partitions. */
  readonly of?: (key: string) => readonly string[]
  /**
   * The log key from which all items of a partition are derived. Undefined if the partition key does not determine it. With `item`: the log key
   * from which this item is derived. The engine parks an event whose fold uses an item of another log key (fault `foreign-item`).
   */
  readonly keyIn: (pk: string, item?: Item) => string | undefined
  /** A partition key for error texts, such as `USER#ada`. */
  readonly example: string
}

/** The part of a domain that the engine uses: its name, topic, table, schemas and folds. */
export interface Domain {
  readonly name: string
  readonly topic: string
  readonly table: TableSpec
  readonly partitions: Partitions
  /** The folder with the `.avdl` files and the `lock.json` of the domain, for a domain in its own package. Default: the schemas of this program. */
  readonly schemas?: URL
  /** The number of the fold version. Raise it only if the folds return other results for events that are already folded. */
  readonly foldVersion: number
  /**
   * The oldest fold version whose edge reads the items of this fold version correctly. An older edge answers 503 while a generation of
   * this version serves. Raise it when an attribute changes its meaning or disappears. Default: 1, because items otherwise only gain attributes.
   */
  readonly readableFrom?: number
  readonly projections: readonly Projection[]
  /** The series of the domain's points. Absent if the folds of the domain return no points. */
  readonly series?: SeriesSpec
  /**
   * The event types whose key is a person. Kafka records of the other types name their key in the header `ce_subject`.
   * Default: the key of every event is a person.
   */
  readonly keyedByPeople?: readonly string[]
  /** Finds personal data. Absent if the domain stores no personal data. */
  readonly personal?: PersonalItems
  /**
   * True for items whose removal leaves no tombstone, because their key contains personal data. Each event that writes or removes such an item must
   * also write or remove another item: its position shows that the event was applied. Default: every removal leaves a tombstone.
   */
  readonly withoutTombstone?: (key: Key) => boolean
  /** The kinds of asks that the folds return, besides `ENGINE_ASKS`. Absent: the folds return no asks. */
  readonly asks?: AskKinds
}

/** The outcome of an event, as the sender of the event receives it. */
export type Outcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'duplicate'; readonly of: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** `behind`: this event waits, because an earlier event of its key could not be folded. */
  | { readonly kind: 'parked'; readonly reason: string; readonly behind?: true }
