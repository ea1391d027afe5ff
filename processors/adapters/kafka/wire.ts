/** The few encodings of Kafka's protocol that the raw requests need. */
export function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

export function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  while (left > 0x7f) {
    bytes.push((left & 0x7f) | 0x80)
    left >>>= 7
  }
  bytes.push(left)
  return Buffer.from(bytes)
}

export const string = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)])
export const bytes = (value: Buffer): Buffer => Buffer.concat([int32(value.length), value])
export const compactString = (value: string): Buffer => Buffer.concat([varint(Buffer.byteLength(value) + 1), Buffer.from(value)])

export interface Reading {
  int16(): number
  int32(): number
  varint(): number
  skip(count: number): void
  take(count: number): Buffer
  string(): string
  bytes(): Buffer
  compactString(): string | null
  /** Tagged fields, which we know none of. */
  tags(): void
  /** A compact array: calls `each` for every element. */
  list<T>(each: () => T): T[]
}

export function reading(buffer: Buffer): Reading {
  let at = 0
  const take = (count: number): Buffer => {
    if (count < 0 || at + count > buffer.length) throw new RangeError('the answer of the broker is cut short')
    at += count
    return buffer.subarray(at - count, at)
  }
  const self: Reading = {
    int16: () => take(2).readInt16BE(),
    int32: () => take(4).readInt32BE(),
    varint() {
      for (let value = 0, shift = 0; ; shift += 7) {
        const byte = take(1)[0] ?? 0
        value |= (byte & 0x7f) << shift
        if (byte < 0x80) return value >>> 0
      }
    },
    skip: (count) => void take(count),
    take,
    string: () => take(Math.max(0, self.int16())).toString(),
    bytes: () => take(Math.max(0, self.int32())),
    compactString() {
      const length = self.varint()
      return length === 0 ? null : take(length - 1).toString()
    },
    tags() {
      for (let left = self.varint(); left > 0; left--) {
        self.varint()
        take(self.varint())
      }
    },
    list: (each) => Array.from({ length: Math.max(0, self.varint() - 1) }, each),
  }
  return self
}
