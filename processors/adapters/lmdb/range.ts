import { crc32 } from 'node:zlib'
import { Fault } from '../../../schemas/fault.ts'
import type { Query } from '../../../projections/table.ts'

/** The LMDB keys of a query: `low` inclusive, `high` exclusive. `\0` separates the parts of a key and never occurs inside one. */
export interface Span {
  readonly low: string
  readonly high: Uint8Array
}

const after = (key: string): Uint8Array => {
  const bytes = Buffer.from(key)
  // The last byte of UTF-8 is never 0xff, so it can be incremented. The result is greater than every key that begins with `key`.
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) + 1
  return bytes
}

export const spanOf = (query: Query): Span => {
  const partition = `${query.pk}\u0000`
  if (query.prefix !== undefined) return { low: partition + query.prefix, high: after(partition + query.prefix) }
  return {
    low: partition + sortText(query.from ?? ''),
    // `to` is inclusive. Index keys continue with \0 and the item's own key, so the range ends before `to\u0001`.
    high: query.to === undefined ? after(partition) : Buffer.from(`${partition}${sortText(query.to)}\u0001`),
  }
}

const bits = new DataView(new ArrayBuffer(8))

/** Returns the sort key as text with the same order. A number becomes the hex digits of its bits, changed so that the text sorts like the numbers. */
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

const queryHash = (query: Query): number =>
  crc32(
    JSON.stringify([
      query.index ?? null,
      query.pk,
      query.prefix ?? null,
      query.from ?? null,
      query.to ?? null,
      query.reverse === true,
    ]),
  )

const badCursor = (): Fault =>
  new Fault(
    'bad-cursor',
    'The cursor does not belong to this query. Send the request without a cursor, or with the cursor of the previous page.',
  )

/** A cursor contains the hash of its query, so that `keyOfCursor` rejects the cursor of another query. */
export const cursorAt = (query: Query, key: string): string =>
  Buffer.from(JSON.stringify([queryHash(query), key])).toString('base64url')

export const keyOfCursor = (query: Query, cursor: string, span: Span): string => {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw badCursor()
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) throw badCursor()
  const [hash, key]: unknown[] = parsed
  if (hash !== queryHash(query) || typeof key !== 'string' || !within(key, span)) throw badCursor()
  return key
}
