import { crc32 } from 'node:zlib'
import { Fault } from '../../../schemas/fault.ts'
import { BLOCK_RECORDS, checksumAt } from './block.ts'

/**
 * The key index of consecutive sealed blocks, as one LMDB value. It maps the hash of a key to the blocks with records of the key. The log writes
 * a segment once, with the block that completes it. This is cheaper than a tree of keys, which would change a page for every key of every flush.
 *   version u8 · blocks u8 · entries u32 · end u48 · crc32 u32 · first offsets u48… · hashes u32…, ascending · block numbers u8…
 * The checksum of version 2 covers the segment's first offset, the header and the rest. Earlier releases wrote version 1. The checksum of version 1
 * covers only the rest, so the reader checks that the header fits the rest.
 */
export const SEGMENT_BLOCKS = 64
const VERSION = 2
const PREVIOUS_VERSION = 1
const HEADER = 16
const CHECKSUMMED_BYTES = 12

/** A segment that is not full yet. It is in memory only. After a start, the log builds this segment again from the stored blocks. */
export interface OpenSegment {
  readonly first: number
  readonly blocks: readonly number[]
  /** The hash of a key and the number of a block with records of the key. */
  readonly entries: readonly (readonly [hash: number, block: number])[]
}

export const emptySegment = (first: number): OpenSegment => ({ first, blocks: [], entries: [] })

const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

export const withBlock = (
  { first, blocks, entries }: OpenSegment,
  block: number,
  keys: Iterable<string>,
): OpenSegment => ({
  first,
  blocks: [...blocks, block],
  entries: [...entries, ...Array.from(new Set(keys), (key) => [hashOf(key), blocks.length] as const)],
})

export const encodeSegment = ({ first, blocks, entries }: OpenSegment, end: number): Buffer => {
  const sorted = entries.toSorted(([a], [b]) => a - b)
  const bytes = Buffer.alloc(HEADER + blocks.length * 6 + sorted.length * 5)
  bytes[0] = VERSION
  bytes[1] = blocks.length
  bytes.writeUInt32BE(sorted.length, 2)
  bytes.writeUIntBE(end, 6, 6)
  let at = HEADER
  for (const block of blocks) at = bytes.writeUIntBE(block, at, 6)
  for (const [hash] of sorted) at = bytes.writeUInt32BE(hash, at)
  for (const [, block] of sorted) at = bytes.writeUInt8(block, at)
  bytes.writeUInt32BE(checksum(bytes, first), CHECKSUMMED_BYTES)
  return bytes
}

const checksum = (bytes: Buffer, first: number): number =>
  checksumAt(first, bytes.subarray(0, CHECKSUMMED_BYTES), bytes.subarray(HEADER))

export interface Segment {
  /** The offset after the last record of the segment. */
  readonly end: number
  /** The first offsets of the blocks that can contain records of a key, ascending. */
  blocksOf(key: string): readonly number[]
}

export const openSegment = (bytes: Buffer, first: number, where: string): Segment => {
  if (!isIntact(bytes, first)) {
    throw new Fault(
      'log-corrupt',
      `The key index ${where} is damaged. Nothing was changed. Stop, check the disk, and restore the folder from a backup.`,
    )
  }
  const blocks = bytes[1] ?? 0
  const count = bytes.readUInt32BE(2)
  const hashes = HEADER + blocks * 6
  const firstNotBelow = (hash: number): number => {
    let low = 0
    for (let high = count; low < high;) {
      const middle = (low + high) >>> 1
      if (bytes.readUInt32BE(hashes + middle * 4) < hash) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    end: bytes.readUIntBE(6, 6),
    blocksOf: (key) => {
      const hash = hashOf(key)
      const found = new Set<number>()
      for (let entry = firstNotBelow(hash); entry < count && bytes.readUInt32BE(hashes + entry * 4) === hash; entry++) {
        found.add(bytes.readUIntBE(HEADER + bytes.readUInt8(hashes + count * 4 + entry) * 6, 6))
      }
      return [...found].sort((a, b) => a - b)
    },
  }
}

const isIntact = (bytes: Buffer, first: number): boolean => {
  const version = bytes[0]
  if (bytes.length < HEADER || (version !== VERSION && version !== PREVIOUS_VERSION)) return false
  const blocks = bytes[1] ?? 0
  if (bytes.length !== HEADER + blocks * 6 + bytes.readUInt32BE(2) * 5) return false
  if (version === VERSION) return checksum(bytes, first) === bytes.readUInt32BE(CHECKSUMMED_BYTES)
  const lastBlock = blocks === 0 ? Infinity : bytes.readUIntBE(HEADER + (blocks - 1) * 6, 6)
  const end = bytes.readUIntBE(6, 6)
  return (
    crc32(bytes.subarray(HEADER)) === bytes.readUInt32BE(CHECKSUMMED_BYTES) &&
    end > lastBlock &&
    end <= lastBlock + BLOCK_RECORDS
  )
}
