import { crc32 } from 'node:zlib'
import { Fault } from '../../../schemas/fault.ts'
import type { Query } from '../../../projections/table.ts'

/** Where a query reads, as LMDB keys: `low` inclusive, `high` exclusive. `\0` cannot occur inside a key's parts. */
export interface Span {
  readonly low: string
  readonly high: Uint8Array
}

const after = (key: string): Uint8Array => {
  const bytes = Buffer.from(key)
  // The last byte of UTF-8 is never 0xff, so this is the first key that does not begin with `key`.
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) + 1
  return bytes
}

export const spanOf = (query: Query): Span => {
  const partition = `${query.pk}\u0000`
  if (query.prefix !== undefined) return { low: partition + query.prefix, high: after(partition + query.prefix) }
  return {
    low: partition + (query.from ?? ''),
    // Index keys go on with \0 and the item's own key, so "up to and with `to`" ends before `to\u0001`.
    high: query.to === undefined ? after(partition) : Buffer.from(`${partition}${query.to}\u0001`),
  }
}

export const isEmpty = ({ low, high }: Span): boolean => Buffer.compare(Buffer.from(low), high) >= 0

export const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

export const within = (key: string, { low, high }: Span): boolean => {
  const bytes = Buffer.from(key)
  return Buffer.compare(bytes, Buffer.from(low)) >= 0 && Buffer.compare(bytes, high) < 0
}

const identity = (query: Query): number =>
  crc32(JSON.stringify([query.index ?? null, query.pk, query.prefix ?? null, query.from ?? null, query.to ?? null, query.reverse === true]))

const badCursor = (): Fault =>
  new Fault('bad-cursor', 'The cursor is not one that this query gave out. Ask again without a cursor, or with the one of the page before.')

/** Bound to the query by its hash, so that a cursor cannot be carried to another partition or direction. */
export const cursorAt = (query: Query, key: string): string => Buffer.from(JSON.stringify([identity(query), key])).toString('base64url')

export const keyOfCursor = (query: Query, cursor: string, span: Span): string => {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw badCursor()
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) throw badCursor()
  const [of, key]: unknown[] = parsed
  if (of !== identity(query) || typeof key !== 'string' || !within(key, span)) throw badCursor()
  return key
}
