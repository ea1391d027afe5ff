import type { Value } from '../../../projections/item.ts'

/** Numbers of shapes begin here in a record's first byte; from the thirty-third on they take two. */
export const FIRST_SHAPE = 0x40
export const ONE_BYTE_SHAPES = 0x20

/** Reads one value after the other. */
export const createUnpacker = (known: readonly (readonly string[])[], bytes: Buffer, from: number) => {
  let pos = from
  const after = (length: number): number => (pos += length) - length
  const text = (length: number): string => bytes.toString('utf8', after(length), pos)
  const record = (shape: number): Value => {
    const read: { [name: string]: Value } = {}
    for (const name of known[shape] ?? []) read[name] = value()
    return read
  }
  const value = (): Value => {
    const byte = bytes[pos++] as number
    if (byte < FIRST_SHAPE) return byte
    if (byte < FIRST_SHAPE + ONE_BYTE_SHAPES) return record(byte - FIRST_SHAPE)
    if (byte < 0x80) return record(ONE_BYTE_SHAPES + (byte & 0x1f) + ((bytes[pos++] as number) << 5))
    if (byte >= 0xa0 && byte < 0xc0) return text(byte & 0x1f)
    if (byte === 0xd9) return text(bytes[pos++] as number)
    if (byte === 0xcb) return bytes.readDoubleBE(after(8))
    if (byte === 0xce) return bytes.readUInt32BE(after(4))
    if (byte === 0xdc) return Array.from({ length: bytes.readUInt16BE(after(2)) }, value)
    return byte === 0xc0 ? null : byte === 0xc3
  }
  return value
}
