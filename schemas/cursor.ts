/** Reads Avro's primitives from untrusted bytes, and rejects values that cannot be stored. */
import type { Primitive } from './avro.ts'
import { Fault } from './fault.ts'

export const LIMITS = {
  /** The maximum number of bytes of one record. */
  bytes: 256 * 1024,
  /** The maximum number of items in all arrays of one record together. */
  items: 65_536,
  /** The maximum number of items that take no bytes. Without this limit, a short record could claim billions of such items. */
  weightless: 1024,
  /** The largest and the smallest long. Avro libraries compute in doubles, which are exact up to 2^53, and for negative longs only to -(2^52). */
  long: 2 ** 53 - 2,
  negativeLong: -(2 ** 52),
} as const

export interface Cursor {
  buf: Buffer
  /**
   * `buf` as Latin-1, or empty for a large record. An ASCII string is a slice of this text, which takes a tenth of the time of a call of
   * `toString`.
   */
  text: string
  /** The name of the record that is being read, for messages. */
  name: string
  pos: number
  end: number
  items: number
  weightless: number
  /** The end of the current block of items as the block declares it. -1: the block does not declare its end. */
  blockEnd: number
  /** True if the record contains a long so large that a writer that computes in doubles can have lost its sign. */
  wide: boolean
}

export const createCursor = (): Cursor => ({
  buf: Buffer.alloc(0),
  text: '',
  name: '',
  pos: 0,
  end: 0,
  items: 0,
  weightless: 0,
  blockEnd: -1,
  wide: false,
})

/** The maximum size of a record with `text`, in bytes. A slice keeps the whole text in memory, so larger records have no text. */
const TEXT_LIMIT = 4096

export const aim = (cursor: Cursor, buf: Buffer): void => {
  cursor.buf = buf
  cursor.text = buf.length <= TEXT_LIMIT ? buf.toString('latin1') : ''
}

export type Read = (cursor: Cursor) => unknown

const refuse = (code: 'hostile-payload' | 'bad-payload', cursor: Cursor, reason: string): never => {
  throw new Fault(
    code,
    `Cannot read a ${cursor.name} at byte ${cursor.pos}: ${reason}. Correct the producer that wrote it.`,
  )
}
/** Throws `hostile-payload`: the bytes claim more than the limits allow. */
export const hostile = (cursor: Cursor, reason: string): never => refuse('hostile-payload', cursor, reason)
/** Throws `bad-payload`: the bytes do not match the schema. */
export const bad = (cursor: Cursor, reason: string): never => refuse('bad-payload', cursor, reason)

const readByte = (cursor: Cursor): number => {
  if (cursor.pos >= cursor.end) bad(cursor, 'it ends in the middle of a value')
  return cursor.buf[cursor.pos++] as number
}

/** Reads a zigzag varint of at most ten bytes. The result is exact up to 2^53. A larger number is rounded, but stays at least 2^53. */
export const readVarint = (cursor: Cursor): number => {
  let byte = readByte(cursor)
  if (byte < 0x80) return byte & 1 ? -((byte + 1) >> 1) : byte >> 1
  let low = byte & 0x7f
  for (let shift = 7; byte >= 0x80 && shift < 28; shift += 7) {
    byte = readByte(cursor)
    low |= (byte & 0x7f) << shift
  }
  const half = (low >>> 1) + (byte >= 0x80 ? readHigh(cursor) : 0)
  return low & 1 ? -(half + 1) : half
}

/** Reads bytes five to ten of a varint. Returns half of their value, because zigzag uses the lowest bit of a varint for the sign. */
const readHigh = (cursor: Cursor): number => {
  let high = 0
  let scale = 2 ** 27
  for (let index = 4; index < 10; index++) {
    const byte = readByte(cursor)
    if (index === 9 && byte > 1) break
    high += (byte & 0x7f) * scale
    if (byte < 0x80) return high
    scale *= 128
  }
  return bad(cursor, 'a number is longer than 64 bits')
}

const readInt = (cursor: Cursor): number => {
  const value = readVarint(cursor)
  return value === (value | 0) ? value : bad(cursor, 'an int is beyond 32 bits')
}

const readLong = (cursor: Cursor): number => {
  const value = readVarint(cursor)
  if (value > LIMITS.long || value < LIMITS.negativeLong)
    bad(cursor, 'a long is beyond the exact range and its field is no bigint')
  if (value >= -LIMITS.negativeLong) cursor.wide = true
  return value
}

export const readBigint = (cursor: Cursor): bigint => {
  const from = cursor.pos
  readVarint(cursor)
  let bits = 0n
  for (let index = cursor.pos - 1; index >= from; index--)
    bits = (bits << 7n) | BigInt((cursor.buf[index] as number) & 0x7f)
  return bits & 1n ? -((bits + 1n) >> 1n) : bits >> 1n
}

const readBoolean = (cursor: Cursor): boolean => {
  const byte = readByte(cursor)
  return byte > 1 ? bad(cursor, 'a boolean is neither 0 nor 1') : byte === 1
}

/** Moves past `length` bytes, and returns their start. */
const skip = (cursor: Cursor, length: number): number => {
  const from = cursor.pos
  const left = cursor.end - from
  if (length < 0 || length > left) bad(cursor, `a value claims ${length} bytes where ${left} are left`)
  cursor.pos = from + length
  return from
}

const finite = (cursor: Cursor, value: number): number =>
  Number.isFinite(value) ? value : bad(cursor, 'a number is NaN or infinite')

const readDouble = (cursor: Cursor): number => finite(cursor, cursor.buf.readDoubleLE(skip(cursor, 8)))

/** Returns a copy, because the caller can reuse the memory. */
const readBytes = (cursor: Cursor): Buffer => {
  const from = skip(cursor, readVarint(cursor))
  return Buffer.from(cursor.buf.subarray(from, cursor.pos))
}

/** Moves past bytes that the caller reads separately, and returns their start. */
export const readFrame = (cursor: Cursor): number => skip(cursor, readVarint(cursor))

const readString = (cursor: Cursor): string => {
  const from = skip(cursor, readVarint(cursor))
  const { buf, pos, text } = cursor
  for (let index = from; index < pos; index++)
    if ((buf[index] as number) >= 0x80) return readUnicode(cursor, index, from)
  return text === '' ? buf.toString('latin1', from, pos) : text.substring(from, pos)
}

/** Checks the bytes first, because `toString` would replace bytes that are not UTF-8 by U+FFFD. */
const readUnicode = (cursor: Cursor, firstWide: number, from: number): string => {
  const { buf, pos } = cursor
  for (let index = firstWide; index < pos;) {
    if ((buf[index] as number) < 0x80) index++
    else index += widthAt(buf, index, pos) || bad(cursor, 'a string is not UTF-8')
  }
  return buf.toString('utf8', from, pos)
}

/**
 * The number of bytes of the non-ASCII character at `index`. 0 if it is invalid: cut short, overlong, a surrogate, or
 * beyond Unicode.
 */
const widthAt = (buf: Buffer, index: number, end: number): number => {
  const lead = buf[index] as number
  const width = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  if (width === 0 || index + width > end) return 0
  const second = buf[index + 1] as number
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (second < lowest || second > highest) return 0
  for (let next = 2; next < width; next++) if (((buf[index + next] as number) & 0xc0) !== 0x80) return 0
  return width
}

export const PRIMITIVES: { readonly [name in Primitive]: Read } = {
  null: () => null,
  boolean: readBoolean,
  int: readInt,
  long: readLong,
  double: readDouble,
  bytes: readBytes,
  string: readString,
}
