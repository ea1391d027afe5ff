import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Fault } from '../../../schemas/fault.ts'
import type { LogRecord } from '../../engine/ports/log.ts'
import { decodeBlock, type Block } from './block.ts'
import { asFault } from './environment.ts'
import { blockAt, blockBefore, segmentAt, segmentsOf, type LogFiles } from './log-files.ts'

/** A topic to read from. */
export interface Source {
  readonly topic: string
  readonly number: number
  readonly files: () => LogFiles
}

export interface Range {
  readonly from: number
  /** The end offset, exclusive. */
  readonly to: number
}

const BATCH_RECORDS = 1_000
const BATCH_BYTES = 1024 * 1024
const READ_RECORDS = 2_048

/** Returns the block that contains the offset. The block can begin before the offset, because the log merges small blocks. */
const blockWith = ({ topic, number, files }: Source, offset: number): Block => {
  let block: Block | undefined
  try {
    block = blockAt(files(), number, offset) ?? blockBefore(files(), number, offset)
  } catch (error) {
    throw asFault(error, 'log-unavailable', `${topic} cannot be read now. It is being opened again`)
  }
  if (block !== undefined && offset < block.first + block.count) return block
  throw new Fault(
    'log-corrupt',
    `No block contains offset ${offset} of ${topic}, although later offsets exist. Stop, and restore the folder from a backup.`,
  )
}

/** Reads the next batch of a subscriber synchronously: the records from `from` to `to`, up to the limits of a batch. */
export const takeBatch = (source: Source, { from, to }: Range): readonly LogRecord[] => {
  const records: LogRecord[] = []
  const end = Math.min(to, from + BATCH_RECORDS)
  let room = BATCH_BYTES
  for (let at = from; at < end && room > 0; at = from + records.length) {
    const { used, full } = decodeBlock(blockWith(source, at), { from: at, to: end, room }, records)
    room -= used
    if (full) break
  }
  return records
}

export const readRange = async function* (
  source: Source,
  { from, to, high }: Range & { high: number },
): AsyncGenerator<readonly LogRecord[]> {
  if (from > high) {
    throw new Fault(
      'log-truncated',
      `${source.topic} ends at offset ${high}, before offset ${from} that was already read. Restore the log, or rebuild from the records that it contains.`,
    )
  }
  let at = from
  while (at < to) {
    const records: LogRecord[] = []
    while (at < to && records.length < READ_RECORDS) {
      const block = blockWith(source, at)
      decodeBlock(block, { from: at, to }, records)
      at = block.first + block.count
    }
    yield records
    // The read itself is synchronous, so other work of this process can run only here.
    await yieldToEventLoop()
  }
}

export const readKey = async function* (
  source: Source,
  range: Range & { key: string },
): AsyncGenerator<readonly LogRecord[]> {
  const ofKey = { ...range, key: Buffer.from(range.key) }
  // The small blocks at the end are read before the first await, because an append can merge them into a sealed block during an await.
  const tail = tailBlocks(source, range.to)
  for (const first of candidates(source, range, tail[0]?.first ?? range.to)) {
    const records: LogRecord[] = []
    if (first !== undefined) decodeBlock(blockWith(source, first), ofKey, records)
    if (records.length > 0) yield records
    await yieldToEventLoop()
  }
  const records: LogRecord[] = []
  for (const block of tail) decodeBlock(block, ofKey, records)
  if (records.length > 0) yield records
}

/**
 * Yields the first offsets of the blocks that can contain records of a key: first the blocks that the key index (the segments) lists for the key,
 * then all blocks that are not in the key index yet. Yields undefined after each segment, so that the caller can let other work run.
 */
const candidates = function* (
  source: Source,
  { key, from }: Range & { key: string },
  end: number,
): Generator<number | undefined> {
  const { files, number } = source
  let at = 0
  for (const first of segmentsOf(files(), number)) {
    const segment = segmentAt(files(), number, first)
    if (segment === undefined || first >= end) break
    at = segment.end
    if (segment.end > from) yield* segment.blocksOf(key)
    yield undefined
  }
  while (at < end) {
    yield at
    const block = blockWith(source, at)
    at = block.first + block.count
  }
}

/** The blocks after the last sealed block, up to offset `end` (exclusive). */
const tailBlocks = (source: Source, end: number): readonly Block[] => {
  const blocks: Block[] = []
  for (let at = end - 1; at >= 0;) {
    const block = blockWith(source, at)
    if (block.sealed) break
    blocks.unshift(block)
    at = block.first - 1
  }
  return blocks
}
