/** Walking over Avro's primitives without making values of them; each walk refuses what could not be kept as a value. */
import { isUtf8 } from 'node:buffer'
import type { Primitive } from './avro.ts'
import { Fault } from './fault.ts'

export const LIMITS = {
  /** A whole record, its frame included. */
  bytes: 256 * 1024,
  /** Array and map entries of one record together. */
  items: 65_536,
  /** Entries that take no bytes: their number is all a claim. */
  weightless: 1024,
  depth: 32,
  /** The decoder's arithmetic is exact up to here, and below zero only to -(2^52). */
  long: 2 ** 53 - 2,
  negativeLong: -(2 ** 52),
} as const

export interface Cursor {
  readonly name: string
  buf: Buffer
  pos: number
  items: number
  weightless: number
  depth: number
  steps: number
  /** A long was so large that a writer without exact arithmetic may have lost its sign. */
  wide: boolean
}

export type Skim = (cursor: Cursor) => void

const refuse = (code: 'hostile-payload' | 'bad-payload', cursor: Cursor, reason: string): never => {
  throw new Fault(code, `Refused a ${cursor.name} at byte ${cursor.pos}: ${reason}. Mend the producer that wrote it.`)
}
/** It claims more than we are willing to hold. */
export const hostile = (cursor: Cursor, reason: string): never => refuse('hostile-payload', cursor, reason)
/** It is not what its schema says. */
export const bad = (cursor: Cursor, reason: string): never => refuse('bad-payload', cursor, reason)

const readByte = (cursor: Cursor): number => {
  const byte = cursor.buf[cursor.pos]
  if (byte === undefined) return bad(cursor, 'it ends in the middle of a value')
  cursor.pos++
  return byte
}

/** Zigzag varint of at most ten bytes. Exact up to 2^53; what lies beyond is only known to do so. */
export const readLong = (cursor: Cursor): number => {
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

/** Bytes five to ten of a varint, halved as zigzag has it. */
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

export const advance = (cursor: Cursor, length: number): void => {
  const left = cursor.buf.length - cursor.pos
  if (length < 0 || length > left) bad(cursor, `a value claims ${length} bytes where ${left} are left`)
  cursor.pos += length
}

const skimInt: Skim = (cursor) => {
  const value = readLong(cursor)
  if (value !== (value | 0)) bad(cursor, 'an int is beyond 32 bits')
}

const skimLong: Skim = (cursor) => {
  const value = readLong(cursor)
  if (value > LIMITS.long || value < LIMITS.negativeLong) bad(cursor, 'a long is beyond the exact range of numbers and its field is not a bigint')
  if (value >= -LIMITS.negativeLong) cursor.wide = true
}

export const skimBigint: Skim = (cursor) => void readLong(cursor)

const skimBoolean: Skim = (cursor) => {
  if (readByte(cursor) > 1) bad(cursor, 'a boolean is neither 0 nor 1')
}

/** The exponent's bits, all set in NaN and the infinities, are the last seven of the last byte and the first of the one before. */
const isFinite = ({ buf, pos }: Cursor, firstBits: number): boolean =>
  ((buf[pos - 1] as number) & 0x7f) !== 0x7f || (buf[pos - 2] as number) < firstBits

const skimFloat: Skim = (cursor) => {
  advance(cursor, 4)
  if (!isFinite(cursor, 0x80)) bad(cursor, 'a float is NaN or infinite')
}

const skimDouble: Skim = (cursor) => {
  advance(cursor, 8)
  if (!isFinite(cursor, 0xf0)) bad(cursor, 'a double is NaN or infinite')
}

const skimBytes: Skim = (cursor) => advance(cursor, readLong(cursor))

/** Skims a string and gives its length in bytes. */
export const skimText = (cursor: Cursor): number => {
  const length = readLong(cursor)
  const from = cursor.pos
  advance(cursor, length)
  const { buf, pos } = cursor
  // Nearly all text is ASCII, and a call out of JavaScript costs more than this loop.
  for (let index = from; index < pos; index++) {
    if ((buf[index] as number) < 0x80) continue
    if (!isUtf8(buf.subarray(index, pos))) bad(cursor, 'a string is not UTF-8')
    break
  }
  return length
}

export const PRIMITIVE_SKIMS: { readonly [name in Primitive]: Skim } = {
  null: () => undefined,
  boolean: skimBoolean,
  int: skimInt,
  long: skimLong,
  float: skimFloat,
  double: skimDouble,
  bytes: skimBytes,
  string: (cursor) => void skimText(cursor),
}
