import { randomUUID } from 'node:crypto'
import type { Database, RootDatabase } from 'lmdb'
import { Fault } from '../../../schemas/fault.ts'
import { openBlock, type Block } from './block.ts'
import { asFault, openBinary, openDatabase, openEnvironment, type LmdbKey } from './environment.ts'
import { openSegment, type Segment } from './segment.ts'
import { openWriterGuard, type WriterGuard } from './writer-guard.ts'

/** The environment of the log. It contains all topics. */
export interface LogFiles {
  readonly root: RootDatabase
  readonly path: string
  readonly cluster: string
  /** Key: topic number (u32) and first offset (u64). Value: a block. */
  readonly blocks: Database<Buffer, Uint8Array>
  /** Key: topic number (u32) and first offset (u64). Value: a segment, the key index of consecutive blocks. */
  readonly segments: Database<Buffer, Uint8Array>
  /** Keys: `format`, `cluster`, and `topic:<name>` with a `TopicEntry` as its value. Earlier releases also wrote `group:…`, which no code reads. */
  readonly meta: Database<unknown, LmdbKey>
  /** Undefined if the log is open for reading only. */
  readonly guard: WriterGuard | undefined
}

export interface TopicEntry {
  readonly number: number
  readonly id: string
}

/** In format 2, blocks and segments can have version 2. Earlier releases can read only format 1. */
const FORMAT = 2

export const openLogFiles = (path: string, readOnly: boolean): LogFiles => {
  const root = openEnvironment({ path, readOnly })
  try {
    const meta = openDatabase<unknown>(root, 'meta', { useRecords: false, mapsAsObjects: true })
    const found = meta.get('format')
    if (!readOnly && (found === undefined || (typeof found === 'number' && found < FORMAT))) {
      root.transactionSync(() => {
        void meta.put('format', FORMAT)
        if (found === undefined) void meta.put('cluster', randomUUID())
      })
    }
    const format = meta.get('format')
    if (typeof format !== 'number' || format > FORMAT) {
      throw new Fault(
        'data-newer-version',
        `The log at ${path} has format ${String(format)}. This program reads formats up to ${FORMAT}. Use the newer program.`,
      )
    }
    return {
      root,
      path,
      cluster: String(meta.get('cluster')),
      blocks: openBinary(root, 'blocks'),
      segments: openBinary(root, 'segments'),
      meta,
      guard: readOnly ? undefined : openWriterGuard(root),
    }
  } catch (error) {
    void root.close()
    throw asFault(error, 'data-unreadable', `The log at ${path} cannot be opened. Check its permissions and the disk`)
  }
}

const isTopicEntry = (value: unknown): value is TopicEntry =>
  typeof value === 'object' &&
  value !== null &&
  'number' in value &&
  typeof value.number === 'number' &&
  'id' in value &&
  typeof value.id === 'string'

export const findTopic = ({ meta }: LogFiles, topic: string): TopicEntry | undefined => {
  const entry = meta.get(`topic:${topic}`)
  return isTopicEntry(entry) ? entry : undefined
}

export const createTopic = ({ root, meta }: LogFiles, topic: string): TopicEntry =>
  root.transactionSync(() => {
    const entry = { number: meta.getKeysCount({ start: 'topic:', end: 'topic;' }) + 1, id: randomUUID() }
    void meta.put(`topic:${topic}`, entry)
    return entry
  })

export const blockKey = (topic: number, offset: number): Buffer => {
  const key = Buffer.allocUnsafe(12)
  key.writeUInt32BE(topic, 0)
  writeOffset(key, offset, 4)
  return key
}

const writeOffset = (target: Buffer, offset: number, at: number): void => {
  target.writeUInt32BE(Math.floor(offset / 0x100000000), at)
  target.writeUInt32BE(offset >>> 0, at + 4)
}

const readOffset = (key: Uint8Array): number => {
  const view = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  return view.readUInt32BE(key.length - 8) * 0x100000000 + view.readUInt32BE(key.length - 4)
}

/** The first offsets of a topic's segments, ascending. */
export const segmentsOf = ({ segments }: LogFiles, topic: number): number[] =>
  [...segments.getKeys({ start: blockKey(topic, 0), end: blockKey(topic, Number.MAX_SAFE_INTEGER) })].map(readOffset)

export const segmentAt = (files: LogFiles, topic: number, first: number): Segment | undefined => {
  const bytes = files.segments.getBinary(blockKey(topic, first))
  return bytes && openSegment(asBuffer(bytes), first, where(files, topic, first))
}

const where = ({ path }: LogFiles, topic: number, offset: number): string =>
  `of topic ${topic} at offset ${offset} in ${path}`

export const blockAt = (files: LogFiles, topic: number, offset: number): Block | undefined => {
  const bytes = files.blocks.getBinary(blockKey(topic, offset))
  return bytes && openBlock(asBuffer(bytes), offset, where(files, topic, offset))
}

/** Returns the last block that begins at the offset or before it. Undefined: there is no such block. */
export const blockBefore = (files: LogFiles, topic: number, offset: number): Block | undefined => {
  const range = { start: blockKey(topic, offset), end: blockKey(topic, 0), inclusiveEnd: true, reverse: true, limit: 1 }
  for (const { key, value } of files.blocks.getRange(range)) {
    const first = readOffset(key)
    return openBlock(asBuffer(value), first, where(files, topic, first))
  }
  return undefined
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The offset after the last record of the topic. 0 if the topic is empty. */
export const endOf = (files: LogFiles, topic: number): number => {
  const last = blockBefore(files, topic, Number.MAX_SAFE_INTEGER)
  return last === undefined ? 0 : last.first + last.count
}
