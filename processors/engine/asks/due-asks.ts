import type { Stored } from '../../../projections/item.ts'
import { pages, type Reader } from '../../../projections/table.ts'
import type { AskRow } from '../outgoing/asks.ts'
import { askPartition } from '../outgoing/keys.ts'

/** An ask in the table of a generation. `_pos` is the offset of the event that asked. */
export interface StoredAsk {
  readonly row: AskRow & Stored
  readonly partition: number
}

export interface AskQuery {
  readonly partitions: number
  readonly priority: number
  /** The time until which the asks are due. Default: all asks. */
  readonly until?: number
}

/** The priorities of asks, in the order in which the fetcher calls them. */
export const PRIORITIES: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const LIMIT = 100

/** Yields the asks of one priority from all partitions, in the order of their times. */
export async function* asksOf(reader: Pick<Reader, 'query'>, query: AskQuery): AsyncGenerator<StoredAsk> {
  const sources = Array.from({ length: query.partitions }, (_, partition) => asksIn(reader, query, partition))
  const heads = await Promise.all(sources.map((source) => source.next()))
  for (;;) {
    let first: number | undefined
    for (const [index, head] of heads.entries())
      if (head.done !== true && (first === undefined || isBefore(head, heads[first]))) first = index
    const head = heads[first ?? -1]
    const source = sources[first ?? -1]
    if (first === undefined || head === undefined || head.done === true || source === undefined) return
    yield head.value
    heads[first] = await source.next()
  }
}

type Head = IteratorResult<StoredAsk, void>

const isBefore = (head: Head, other: Head | undefined): boolean =>
  head.done !== true && other !== undefined && other.done !== true && head.value.row.SK < other.value.row.SK

async function* asksIn(
  reader: Pick<Reader, 'query'>,
  { priority, until }: AskQuery,
  partition: number,
): AsyncGenerator<StoredAsk, void> {
  const range = until === undefined ? {} : { from: '', to: `${new Date(until).toISOString()}~` }
  for await (const items of pages(reader, { pk: askPartition(partition, priority), ...range, limit: LIMIT }))
    for (const item of items) yield { row: item as AskRow & Stored, partition }
}
