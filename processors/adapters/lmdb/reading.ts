import { setImmediate as breath } from 'node:timers/promises'
import { Fault } from '../../../schemas/fault.ts'
import type { LogRecord } from '../../engine/log.ts'
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
  /** Exclusive. */
  readonly to: number
}

const BATCH_RECORDS = 1_000
const BATCH_BYTES = 1024 * 1024
const READ_RECORDS = 2_048

/** The block that holds an offset. Small blocks are merged as the log grows, so it may begin before it. */
const blockWith = ({ topic, number, files }: Source, offset: number): Block => {
  let block: Block | undefined
  try {
    block = blockAt(files(), number, offset) ?? blockBefore(files(), number, offset)
  } catch (error) {
    throw asFault(error, 'log-unavailable', `${topic} cannot be read now; it is being opened anew`)
  }
  if (block !== undefined && offset < block.first + block.count) return block
  throw new Fault('log-corrupt', `Offset ${offset} of ${topic} lies in no block, though later ones do. Stop, and restore the folder from a backup.`)
}

/** For a subscriber: what there is, within bounds, without await. */
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

export const readRange = async function* (source: Source, { from, to, high }: Range & { high: number }): AsyncGenerator<readonly LogRecord[]> {
  if (from > high) {
    throw new Fault('log-truncated', `${source.topic} ends at ${high}, before position ${from} that was already reached. Restore the log, or rebuild from what it holds.`)
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
    // Reading needs no await of its own; the others in this process get their turn here.
    await breath()
  }
}

export const readKey = async function* (source: Source, wanted: Range & { key: string }): AsyncGenerator<readonly LogRecord[]> {
  const ofKey = { ...wanted, key: Buffer.from(wanted.key) }
  // Taken before anything else may run: what is unsealed now may be sealed when its turn comes.
  const tail = tailBlocks(source, wanted.to)
  for (const first of candidates(source, wanted, tail[0]?.first ?? wanted.to)) {
    const records: LogRecord[] = []
    if (first !== undefined) decodeBlock(blockWith(source, first), ofKey, records)
    if (records.length > 0) yield records
    await breath()
  }
  const records: LogRecord[] = []
  for (const block of tail) decodeBlock(block, ofKey, records)
  if (records.length > 0) yield records
}

/** Blocks that may hold records of a key: those that segments name, then those that no segment holds yet. Undefined where a segment names none. */
const candidates = function* (source: Source, { key, from }: Range & { key: string }, end: number): Generator<number | undefined> {
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

/** The blocks after the last sealed one. */
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
