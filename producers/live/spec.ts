import type { Item, Key } from '../../projections/item.ts'
import type { Query, TableSpec } from '../../projections/table.ts'
import type { Call, JsonSchema } from '../http/route.ts'

/** A WebSocket route that pushes the changes of a domain's items. Each connection watches one topic, for example a location. */
export interface LiveSpec {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and its object, unique in the whole program. */
  readonly operationId: string
  /** The name of its channel in `/asyncapi.json`. Default: the name of the domain and `Live`. */
  readonly channel?: string
  readonly summary: string
  readonly query: JsonSchema
  /** Returns the topic that the caller requests. Throws a Problem if the caller must not watch it. */
  admit(call: Call): Promise<string>
  /** The queries that return all items of a topic. */
  partitions(topic: string): readonly Query[]
  /** The topic to which an item belongs. Undefined if the item belongs to no topic. */
  topicOf(key: Key): string | undefined
  /** The name of an item in messages. */
  nameOf(key: Key): string
  /** The item as messages contain it. */
  show(item: Item): Readonly<Record<string, unknown>>
  readonly connections: ConnectionStorage
}

/** The storage of a domain's open connections: one item per connection. The item is removed when the connection ends. */
export interface ConnectionStorage {
  readonly table: TableSpec
  keyOf(id: string): Key
  itemOf(connection: Connection): Item
}

/** An open connection to a live feed. */
export interface Connection {
  readonly id: string
  readonly topic: string
  readonly user: string
  /** The time at which the connection was opened, in epoch milliseconds. */
  readonly at: number
  /** The latest time at which the connection ends, in epoch milliseconds. */
  readonly until: number
}

/** The highest version that a client has received in a generation (`epoch`). A client that returns with its cursor receives only later changes. */
export interface Cursor {
  readonly epoch: number
  readonly version: number
}

export const cursorText = ({ epoch, version }: Cursor): string => `${epoch}.${version}`

/** Undefined if the text is not a cursor. The client then receives a snapshot. */
export const cursorOf = (text: string | undefined): Cursor | undefined => {
  const [, epoch, version] = /^(\d{1,9})\.(-?\d{1,15})$/.exec(text ?? '') ?? []
  return epoch === undefined ? undefined : { epoch: Number(epoch), version: Number(version) }
}

/** An item in a message. `item` is null if the item was removed. */
export interface LiveItem {
  readonly key: string
  readonly version: number
  readonly item: Readonly<Record<string, unknown>> | null
  /** The item was removed because its time to live had passed. */
  readonly expired?: true
}

/** A message to a client. `more`: the next message continues the snapshot. `keys`: the names of all items. The client removes all other items. */
export type LiveMessage =
  | {
      readonly type: 'snapshot'
      readonly epoch: number
      readonly cursor: string
      readonly items: readonly LiveItem[]
      readonly more?: true
    }
  | {
      readonly type: 'resumed'
      readonly epoch: number
      readonly cursor: string
      readonly keys: readonly string[]
      readonly changes: readonly LiveItem[]
    }
  | { readonly type: 'changes'; readonly epoch: number; readonly cursor: string; readonly changes: readonly LiveItem[] }
