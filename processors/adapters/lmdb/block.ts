import { crc32 } from 'node:zlib'
import { Fault } from '../../../schemas/fault.ts'
import type { LogRecord } from '../../engine/ports/log.ts'

/**
 * A block is an LMDB value with up to 256 records of consecutive offsets. Its LMDB key contains the first offset.
 *   version u8 · sealed u8 · count u16 · crc32 u32 · records
 *   record: timestamp u48 · varint(key bytes * 2 + 1 if not all ASCII) · key · varint(value bytes) · value
 * The checksum of version 2 covers the first offset, the header and the records. Earlier releases wrote version 1. The checksum of version 1
 * covers only the records, so the reader checks that the header fits the records.
 */
export const BLOCK_RECORDS = 256
const VERSION = 2
const PREVIOUS_VERSION = 1
const HEADER = 8
const CHECKSUMMED_BYTES = 4

export interface Encoded {
  readonly bytes: Buffer
  /** The end position of each record in `bytes`. */
  readonly ends: readonly number[]
}

export interface Incoming {
  readonly timestamp: number
  readonly key: string
  readonly value: Uint8Array
}

const varintSize = (value: number): number => (value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : 4)

const writeVarint = (target: Buffer, at: number, value: number): number => {
  while (value >= 0x80) {
    target[at++] = (value & 0x7f) | 0x80
    value >>>= 7
  }
  target[at++] = value
  return at
}

export const encodedSize = ({ key, value }: Pick<Incoming, 'key' | 'value'>): number => {
  const keyBytes = Buffer.byteLength(key)
  return 6 + varintSize(keyBytes * 2 + 1) + keyBytes + varintSize(value.length) + value.length
}

export const encodeRecords = (records: readonly Incoming[]): Encoded => {
  const ends: number[] = []
  const bytes = Buffer.allocUnsafe(records.reduce((sum, record) => sum + encodedSize(record), 0))
  let at = 0
  for (const { timestamp, key, value } of records) {
    const keyBytes = Buffer.byteLength(key)
    at = bytes.writeUIntBE(timestamp, at, 6)
    at = writeVarint(bytes, at, keyBytes * 2 + (keyBytes === key.length ? 0 : 1))
    at += bytes.write(key, at, 'utf8')
    at = writeVarint(bytes, at, value.length)
    bytes.set(value, at)
    at += value.length
    ends.push(at)
  }
  return { bytes, ends }
}

/** A sealed block never changes (sealed does not mean encrypted here). The log merges unsealed blocks into the next sealed block. */
export const encodeBlock = (
  bodies: readonly Uint8Array[],
  { first, count, sealed }: { first: number; count: number; sealed: boolean },
): Buffer => {
  const block = Buffer.concat([Buffer.allocUnsafe(HEADER), ...bodies])
  block[0] = VERSION
  block[1] = sealed ? 1 : 0
  block.writeUInt16BE(count, 2)
  block.writeUInt32BE(checksum(block, first), 4)
  return block
}

const checksum = (block: Buffer, first: number): number =>
  checksumAt(first, block.subarray(0, CHECKSUMMED_BYTES), block.subarray(HEADER))

/** The checksum includes the first offset, so the reader detects a block or segment that is stored under the key of another offset. */
export const checksumAt = (first: number, ...parts: readonly Buffer[]): number =>
  parts.reduce((sum, part) => crc32(part, sum), crc32(offsetBytes(first)))

const offsetBytes = (offset: number): Buffer => {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeUIntBE(0, 0, 2)
  bytes.writeUIntBE(offset, 2, 6)
  return bytes
}

export interface Block {
  readonly first: number
  readonly count: number
  readonly sealed: boolean
  readonly bytes: Buffer
}

const corrupt = (where: string, what: string): Fault =>
  new Fault(
    'log-corrupt',
    `The block ${where} is damaged: ${what}. Nothing was changed. Stop, check the disk, and restore the folder from a backup.`,
  )

export const openBlock = (bytes: Buffer, first: number, where: string): Block => {
  const version = bytes[0]
  if (bytes.length < HEADER || (version !== VERSION && version !== PREVIOUS_VERSION))
    throw corrupt(where, `it begins with ${bytes.subarray(0, 4).toString('hex')}`)
  const sum = version === VERSION ? checksum(bytes, first) : crc32(bytes.subarray(HEADER))
  if (sum !== bytes.readUInt32BE(4)) throw corrupt(where, 'its checksum does not match its bytes')
  const block = { first, count: bytes.readUInt16BE(2), sealed: bytes[1] === 1, bytes }
  if (version === PREVIOUS_VERSION && ((bytes[1] ?? 0) > 1 || !isFilled(block)))
    throw corrupt(where, 'its header does not match its records')
  return block
}

/** True if the block contains exactly the number of records in its header, and no other bytes. */
const isFilled = ({ count, bytes }: Block): boolean => {
  let at = HEADER
  for (let record = 0; record < count; record++) {
    if (at >= bytes.length) return false
    const key = readVarint(bytes, at + 6)
    const lengthAt = at + 6 + varintSize(key) + (key >>> 1)
    const length = readVarint(bytes, lengthAt)
    at = lengthAt + varintSize(length) + length
  }
  return at === bytes.length
}

export const bodyOf = ({ bytes }: Block): Buffer => bytes.subarray(HEADER)

export interface WantedRecords {
  readonly from: number
  /** The end offset, exclusive. */
  readonly to: number
  /** Decodes only records of this key. Default: all keys. */
  readonly key?: Buffer | undefined
  /** The maximum number of bytes to decode. The first matching record is decoded even if it is larger. Default: no limit. */
  readonly room?: number
}

/**
 * Appends the wanted records to `into`. Their values are views into the bytes of the block. `used` is the number of decoded bytes. `full` is true
 * if the room is used up, so that the caller must stop.
 */
export const decodeBlock = (
  { first, count, bytes }: Block,
  wanted: WantedRecords,
  into: LogRecord[],
): { used: number; full: boolean } => {
  const { from, to, key: wantedKey, room = Infinity } = wanted
  const end = Math.min(first + count, to)
  let at = HEADER
  let used = 0
  for (let offset = first; offset < end; offset++) {
    const start = at
    at += 6
    let size = bytes[at++] as number
    if (size >= 0x80) {
      size = readVarint(bytes, at - 1)
      at += varintSize(size) - 1
    }
    const keyAt = at
    const keyEnd = keyAt + (size >>> 1)
    at = keyEnd
    let length = bytes[at++] as number
    if (length >= 0x80) {
      length = readVarint(bytes, at - 1)
      at += varintSize(length) - 1
    }
    const valueAt = at
    at += length
    if (offset < from || (wantedKey !== undefined && !isKey(wantedKey, bytes, keyAt, keyEnd))) continue
    if (used > 0 && used + at - start > room) return { used, full: true }
    used += at - start
    const key = bytes.toString((size & 1) === 0 ? 'latin1' : 'utf8', keyAt, keyEnd)
    into.push({ partition: 0, offset, timestamp: bytes.readUIntBE(start, 6), key, value: bytes.subarray(valueAt, at) })
  }
  return { used, full: used > room }
}

const readVarint = (bytes: Buffer, at: number): number => {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}

const isKey = (key: Buffer, bytes: Buffer, start: number, end: number): boolean =>
  key.length === end - start && bytes.compare(key, 0, key.length, start, end) === 0
