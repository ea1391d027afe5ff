import type { Stored, Value } from '../../../projections/item.ts'
import { createUnpacker, FIRST_SHAPE, ONE_BYTE_SHAPES } from './unpack.ts'

/**
 * Items in a form that msgpackr reads: MessagePack with attribute names taken out into numbered shapes. Only what is plain,
 * and only shapes that are known already; what is out of the ordinary is left to the library.
 */
export interface Packer {
  /** Shapes by number, as they lie in the table. */
  learn(shapes: readonly (readonly string[])[]): void
  /** Where the item ends that was written at `at`, or -1 where it is left to the library. There must be room. */
  pack(item: Stored, bytes: Buffer, at: number): number
  /** What `pack` wrote at `at`. */
  unpack(bytes: Buffer, at: number): Stored
}

type Fields = { readonly [name: string]: Value | undefined }

interface Pen {
  into: Buffer
  view: DataView
  pos: number
}

/** False where the value is left to the library. */
type Write = (value: Value | undefined) => boolean

interface Shape {
  readonly number: number
  readonly names: readonly string[]
  /** Writes the values of a record that has these names. */
  readonly write: (record: Fields) => boolean
}

export const createPacker = (): Packer => {
  let known: readonly (readonly string[])[] = []
  let shapeOf = shapesOf([])
  const pen: Pen = { into: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)), pos: 0 }
  const write: Write = (value) => {
    if (typeof value === 'string') return writeText(pen, value)
    if (typeof value === 'number') return writeNumber(pen, value)
    if (typeof value === 'boolean') return writeByte(pen, value ? 0xc3 : 0xc2)
    if (value === null) return writeByte(pen, 0xc0)
    if (typeof value !== 'object') return false
    return Array.isArray(value) ? writeCount(pen, value.length) && value.every(write) : writeRecord(value as Fields)
  }
  const writeRecord = (record: Fields): boolean => {
    const shape = shapeOf(record)
    return shape !== undefined && writeShape(pen, shape.number) && shape.write(record)
  }
  return {
    learn: (shapes) => {
      if (shapes.length === known.length) return
      known = shapes
      shapeOf = shapesOf(shapes.map((names, number) => ({ number, names, write: compiled(names, write) })))
    },
    pack: (item, bytes, at) => {
      if (pen.into !== bytes) pen.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      pen.into = bytes
      pen.pos = at
      return writeRecord(item) ? pen.pos : -1
    },
    unpack: (bytes, at) => createUnpacker(known, bytes, at)() as Stored,
  }
}

/** Names spelt out, so that each is found at the same place in every record of the same making. */
const compiled = (names: readonly string[], write: Write): Shape['write'] => {
  const values = names.map((name) => `write(record[${JSON.stringify(name)}])`)
  return (new Function('write', `return (record) => ${values.join(' && ') || 'true'}`) as (write: Write) => Shape['write'])(write)
}

/** A table's items are of few shapes: those met last are tried first. */
const RECENT = 4

interface Step {
  readonly next: Map<string, Step>
  /** The shape that ends here. */
  shape: Shape | undefined
}

const step = (): Step => ({ next: new Map(), shape: undefined })

const shapesOf = (shapes: readonly Shape[]) => {
  const root = step()
  for (const shape of shapes) {
    let at = root
    for (const name of shape.names) at = at.next.get(name) ?? (at.next.set(name, step()).get(name) as Step)
    at.shape = shape
  }
  const recent: Shape[] = []
  let turn = 0
  return (record: Fields): Shape | undefined => {
    for (const shape of recent) if (hasNames(record, shape.names)) return shape
    let at: Step | undefined = root
    for (const name in record) {
      at = at.next.get(name)
      if (at === undefined) return undefined
    }
    if (at.shape !== undefined) recent[turn++ % RECENT] = at.shape
    return at.shape
  }
}

const hasNames = (record: Fields, names: readonly string[]): boolean => {
  let index = 0
  for (const name in record) if (name !== names[index++]) return false
  return index === names.length
}

const writeByte = (pen: Pen, byte: number): boolean => {
  pen.into[pen.pos++] = byte
  return true
}

const writeShape = (pen: Pen, number: number): boolean => {
  if (number < ONE_BYTE_SHAPES) return writeByte(pen, FIRST_SHAPE + number)
  const rest = number - ONE_BYTE_SHAPES
  return writeByte(pen, FIRST_SHAPE + ONE_BYTE_SHAPES + (rest & 0x1f)) && writeByte(pen, rest >> 5)
}

const writeCount = (pen: Pen, count: number): boolean => {
  if (count >= 0x10000) return false
  pen.into[pen.pos] = 0xdc
  pen.view.setUint16(pen.pos + 1, count)
  pen.pos += 3
  return true
}

/** Below this a string's length takes at most one byte more. */
const SHORT = 0x100
/** From here on letters beyond ASCII may need more for their length. */
const WIDE = 0x40

const writeText = (pen: Pen, text: string): boolean => {
  const { length } = text
  if (length >= SHORT) return false
  const { into, pos } = pen
  let end = length < 0x20 ? pos + 1 : pos + 2
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 0x80) return length < WIDE && writeWide(pen, text)
    into[end++] = unit
  }
  writeLength(pen, length)
  pen.pos = end
  return true
}

const writeWide = (pen: Pen, text: string): boolean => {
  if (!text.isWellFormed()) return false
  writeLength(pen, Buffer.byteLength(text))
  pen.pos += pen.into.write(text, pen.pos)
  return true
}

const writeLength = (pen: Pen, length: number): void => {
  if (length < 0x20) pen.into[pen.pos++] = 0xa0 | length
  else {
    pen.into[pen.pos++] = 0xd9
    pen.into[pen.pos++] = length
  }
}

const writeNumber = (pen: Pen, value: number): boolean => {
  const { into, view, pos } = pen
  if (value >>> 0 === value && value < 0x40) into[pen.pos++] = value
  else if (value >>> 0 === value) {
    into[pos] = 0xce
    view.setUint32(pos + 1, value)
    pen.pos += 5
  } else {
    into[pos] = 0xcb
    view.setFloat64(pos + 1, value)
    pen.pos += 9
  }
  return true
}
