import type { LogRecord } from '../../engine/ports/log.ts'
import { BLOCK_RECORDS, bodyOf, decodeBlock, encodeBlock, type Block, type Encoded, type Incoming } from './block.ts'
import { blockAt, blockBefore, blockKey, segmentAt, segmentsOf, type LogFiles } from './log-files.ts'
import { SEGMENT_BLOCKS, emptySegment, encodeSegment, withBlock, type OpenSegment } from './segment.ts'

/** A block with at least this number of bytes is sealed before it has 256 records, so that a read never loads much more than this at once. */
const SEAL_BYTES = 512 * 1024

/** The small blocks after the last sealed block, one per flush. The next sealed block replaces them. */
export interface Tail {
  /** The first offset of the tail. */
  readonly first: number
  readonly bodies: readonly Buffer[]
  readonly bytes: number
  /** The key of each record. */
  readonly keys: readonly string[]
  /** The first offsets of the small blocks, which are their keys in LMDB. */
  readonly blocks: readonly number[]
  /** The key index of the sealed blocks that no stored segment covers yet. */
  readonly segment: OpenSegment
}

const emptyTail = (first: number, segment: OpenSegment): Tail => ({
  first,
  bodies: [],
  bytes: 0,
  keys: [],
  blocks: [],
  segment,
})

export const loadTail = (files: LogFiles, topic: number): Tail => {
  const small: Block[] = []
  let first = 0
  for (
    let block = blockBefore(files, topic, Number.MAX_SAFE_INTEGER);
    block !== undefined;
    block = blockBefore(files, topic, block.first - 1)
  ) {
    if (block.sealed) {
      first = block.first + block.count
      break
    }
    small.unshift(block)
    if (block.first === 0) break
  }
  const bodies = small.map(bodyOf)
  return {
    first,
    bodies,
    bytes: bodies.reduce((sum, { length }) => sum + length, 0),
    keys: small.flatMap(keysOf),
    blocks: small.map((block) => block.first),
    segment: loadSegment(files, topic, first),
  }
}

const keysOf = (block: Block): string[] => {
  const records: LogRecord[] = []
  decodeBlock(block, { from: 0, to: Infinity }, records)
  return records.map(({ key }) => key ?? '')
}

/** The offset after the last record that the stored segments (the key index) cover. 0 if no segment is stored. */
const segmented = (files: LogFiles, topic: number): number => {
  const last = segmentsOf(files, topic).at(-1)
  return last === undefined ? 0 : (segmentAt(files, topic, last)?.end ?? 0)
}

const loadSegment = (files: LogFiles, topic: number, end: number): OpenSegment => {
  let segment = emptySegment(segmented(files, topic))
  for (let at = segment.first; at < end;) {
    const block = blockAt(files, topic, at)
    if (block === undefined) break
    segment = withBlock(segment, at, keysOf(block))
    at += block.count
  }
  return segment
}

interface NewRecords {
  readonly tail: Tail
  readonly records: readonly Incoming[]
  readonly encoded: Encoded
}

/**
 * Writes records after the tail. To be called inside a batch. Each record is written at most twice: in the small block of its flush, and in a
 * sealed block of 256 records. Returns the new tail, which is valid if the batch commits.
 */
export const putRecords = (
  files: LogFiles,
  topic: number,
  { tail, records, encoded: { bytes, ends } }: NewRecords,
): Tail => {
  let open = tail
  let taken = 0
  while (taken < records.length) {
    const count = roomIn(open, ends, taken)
    const part = bytes.subarray(taken === 0 ? 0 : ends[taken - 1], ends[taken + count - 1])
    const keys = [...open.keys, ...records.slice(taken, taken + count).map(({ key }) => key)]
    const grown = { ...open, bodies: [...open.bodies, part], bytes: open.bytes + part.length, keys }
    const start = open.first + open.keys.length
    taken += count
    if (keys.length < BLOCK_RECORDS && grown.bytes < SEAL_BYTES) {
      void files.blocks.put(blockKey(topic, start), encodeBlock([part], { first: start, count, sealed: false }))
      return { ...grown, blocks: [...open.blocks, start] }
    }
    open = seal(files, topic, grown)
  }
  return open
}

/** The number of records from `taken` on that fit into the block that is not sealed yet. At least 1. */
const roomIn = (open: Tail, ends: readonly number[], taken: number): number => {
  const begin = taken === 0 ? 0 : (ends[taken - 1] ?? 0)
  let count = 0
  while (taken + count < ends.length && open.keys.length + count < BLOCK_RECORDS) {
    const before = count === 0 ? 0 : (ends[taken + count - 1] ?? 0) - begin
    if (open.bytes + before >= SEAL_BYTES) break
    count++
  }
  return Math.max(count, 1)
}

/**
 * Writes the tail as one sealed block. If this block completes a segment of the key index, writes the segment too. Returns the empty tail after the
 * block.
 */
const seal = (files: LogFiles, topic: number, { first, bodies, keys, blocks, segment }: Tail): Tail => {
  const end = first + keys.length
  for (const old of blocks) if (old !== first) void files.blocks.remove(blockKey(topic, old))
  void files.blocks.put(blockKey(topic, first), encodeBlock(bodies, { first, count: keys.length, sealed: true }))
  const grown = withBlock(segment, first, keys)
  if (grown.blocks.length < SEGMENT_BLOCKS) return emptyTail(end, grown)
  void files.segments.put(blockKey(topic, grown.first), encodeSegment(grown, end))
  return emptyTail(end, emptySegment(end))
}
