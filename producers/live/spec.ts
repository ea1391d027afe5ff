import type { Item, Key } from '../../projections/item.ts'
import type { Query } from '../../projections/table.ts'
import type { Call, JsonSchema } from '../http/route.ts'

/** What of a domain can be watched as it changes: a page of data, like its routes. */
export interface LiveSpec {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and what it acts on, unique in the whole program. */
  readonly operationId: string
  readonly summary: string
  readonly query: JsonSchema
  /** What the caller wants to watch, if they may; else a Problem. */
  admit(call: Call): Promise<string>
  /** Where everything of it lies. */
  partitions(topic: string): readonly Query[]
  /** What an item is a part of; undefined where nobody watches it. */
  topicOf(key: Key): string | undefined
  /** How a client calls an item. */
  nameOf(key: Key): string
  /** An item as a client sees it. */
  show(item: Item): Readonly<Record<string, unknown>>
}

/** The highest position seen of a topic, in a generation: whoever comes back with it hears what changed since. */
export interface Cursor {
  readonly epoch: number
  readonly version: number
}

export const cursorText = ({ epoch, version }: Cursor): string => `${epoch}.${version}`

/** Undefined where it is none of ours: then everything is sent. */
export const cursorOf = (text: string | undefined): Cursor | undefined => {
  const [, epoch, version] = /^(\d{1,9})\.(-?\d{1,15})$/.exec(text ?? '') ?? []
  return epoch === undefined ? undefined : { epoch: Number(epoch), version: Number(version) }
}

/** One item that is there, or is no longer. */
export interface Shown {
  readonly key: string
  readonly version: number
  readonly item: Readonly<Record<string, unknown>> | null
  /** It went because its time was over. */
  readonly expired?: true
}

/** `more`: the message goes on in the next one. */
export type LiveMessage =
  | { readonly type: 'snapshot'; readonly epoch: number; readonly cursor: string; readonly items: readonly Shown[]; readonly more?: true }
  /** What is not among `keys` is gone. */
  | { readonly type: 'resumed'; readonly epoch: number; readonly cursor: string; readonly keys: readonly string[]; readonly changes: readonly Shown[] }
  | { readonly type: 'changes'; readonly epoch: number; readonly cursor: string; readonly changes: readonly Shown[] }
