import type { LogRecord } from '../../engine/log.ts'
import { BLOCK_RECORDS, bodyOf, decodeBlock, encodeBlock, encodeRecords, type Block, type Incoming } from './block.ts'
import { blockBefore, blockKey, keyEntry, type LogFiles } from './log-files.ts'

/** Seals a block early when its records are large, so that a read never has to take much more than this at once. */
const SEAL_BYTES = 512 * 1024
const NOTHING = Buffer.alloc(0)

/** What lies after the last sealed block: small blocks, one a flush, to be merged into the next sealed one. */
export interface Tail {
  /** First offset of the tail. */
  readonly first: number
  readonly bodies: readonly Buffer[]
  readonly bytes: number
  /** By record. */
  readonly keys: readonly string[]
  /** First offsets of its blocks in LMDB. */
  readonly blocks: readonly number[]
}

const emptyTail = (first: number): Tail => ({ first, bodies: [], bytes: 0, keys: [], blocks: [] })

export const loadTail = (files: LogFiles, topic: number): Tail => {
  const small: Block[] = []
  for (let block = blockBefore(files, topic, Number.MAX_SAFE_INTEGER); block !== undefined; block = blockBefore(files, topic, block.first - 1)) {
    if (block.sealed) return tailOf(small.reverse(), block.first + block.count)
    small.push(block)
    if (block.first === 0) break
  }
  return tailOf(small.reverse(), 0)
}

const tailOf = (blocks: readonly Block[], first: number): Tail => {
  const records: LogRecord[] = []
  for (const block of blocks) decodeBlock(block, { from: 0, to: Infinity }, records)
  const bodies = blocks.map(bodyOf)
  return {
    first,
    bodies,
    bytes: bodies.reduce((sum, { length }) => sum + length, 0),
    keys: records.map(({ key }) => key ?? ''),
    blocks: blocks.map(block => block.first),
  }
}

/**
 * Puts records after the tail; to be called inside a batch. Each record is written at most twice: in the small block of its flush, and in
 * the sealed block that takes 256 of them in. What comes back is the tail once the batch has committed.
 */
export const putRecords = (files: LogFiles, topic: number, { tail, records }: { tail: Tail; records: readonly Incoming[] }): Tail => {
  const { bytes, ends } = encodeRecords(records)
  let open = tail
  let taken = 0
  while (taken < records.length) {
    const count = roomIn(open, ends, taken)
    const part = bytes.subarray(taken === 0 ? 0 : ends[taken - 1], ends[taken + count - 1])
    const keys = [...open.keys, ...records.slice(taken, taken + count).map(({ key }) => key)]
    const grown = { first: open.first, bodies: [...open.bodies, part], bytes: open.bytes + part.length, keys, blocks: open.blocks }
    const start = open.first + open.keys.length
    taken += count
    if (keys.length < BLOCK_RECORDS && grown.bytes < SEAL_BYTES) {
      void files.blocks.put(blockKey(topic, start), encodeBlock([part], { count, sealed: false }))
      return { ...grown, blocks: [...open.blocks, start] }
    }
    seal(files, topic, grown)
    open = emptyTail(grown.first + keys.length)
  }
  return open
}

/** How many of the records from `taken` on still belong to the block that is open. */
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

const seal = (files: LogFiles, topic: number, { first, bodies, keys, blocks }: Tail): void => {
  for (const old of blocks) if (old !== first) void files.blocks.remove(blockKey(topic, old))
  void files.blocks.put(blockKey(topic, first), encodeBlock(bodies, { count: keys.length, sealed: true }))
  for (const key of new Set(keys)) void files.keys.put(keyEntry(topic, key, first), NOTHING)
}
