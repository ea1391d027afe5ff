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
    low: partition + sortText(query.from ?? ''),
    // Index keys go on with \0 and the item's own key, so "up to and with `to`" ends before `to\u0001`.
    high: query.to === undefined ? after(partition) : Buffer.from(`${partition}${sortText(query.to)}\u0001`),
  }
}

const bits = new DataView(new ArrayBuffer(8))

/** A sort key as text that sorts as it does: of a number, its bits, with the order of the negative ones turned round. */
export const sortText = (sort: string | number): string => {
  if (typeof sort === 'string') return sort
  bits.setFloat64(0, sort + 0)
  const raw = bits.getBigUint64(0)
  return (raw >> 63n === 0n ? raw | (1n << 63n) : ~raw & 0xffff_ffff_ffff_ffffn).toString(16).padStart(16, '0')
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
