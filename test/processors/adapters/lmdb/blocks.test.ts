import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BLOCK_RECORDS,
  decodeBlock,
  encodeBlock,
  encodeRecords,
  openBlock,
} from '../../../../processors/adapters/lmdb/block.ts'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import { blockKey, openLogFiles, segmentsOf } from '../../../../processors/adapters/lmdb/log-files.ts'
import {
  SEGMENT_BLOCKS,
  emptySegment,
  encodeSegment,
  openSegment,
  withBlock,
} from '../../../../processors/adapters/lmdb/segment.ts'
import type { Log, LogRecord, Position } from '../../../../processors/engine/ports/log.ts'
import { all, numbered, record } from '../../../contracts/log-records.ts'
import { later, scratch } from './scratch.ts'

const openLog = async (folder: string): Promise<Log> => {
  const logs = lmdbLogs({ folder, now: () => 1_700_000_000_000 })
  later(() => logs.close())
  return logs.open('events')
}

/** Returns the blocks on the disk, each with its first offset, its number of records, and true if it is sealed: it is full and never changes. */
const blocksOf = (folder: string): [number, number, boolean][] => {
  const files = openLogFiles(folder, true)
  const blocks = [...files.blocks.getRange({})].map(({ key, value }) => {
    const first = Buffer.from(key).readUInt32BE(8)
    const { count, sealed } = openBlock(Buffer.from(value), first, 'here')
    return [first, count, sealed] satisfies [number, number, boolean]
  })
  void files.root.close()
  return blocks
}

test('a block returns its records unchanged', () => {
  const anyRecord = fc.record({
    timestamp: fc.nat({ max: 2 ** 47 }),
    key: fc.string({ unit: 'binary', maxLength: 80 }),
    value: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(127, 128, 16_383, 16_384, 20_000).map((size) => new Uint8Array(size).fill(7)),
    ),
  })
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 40 }), fc.nat(), (records, first) => {
      const block = openBlock(
        encodeBlock([encodeRecords(records).bytes], { first, count: records.length, sealed: true }),
        first,
        'here',
      )
      const decoded: LogRecord[] = []
      decodeBlock(block, { from: first, to: Infinity }, decoded)
      const textOf = ({ timestamp, key, value }: Pick<LogRecord, 'timestamp' | 'key' | 'value'>): string =>
        `${timestamp} ${key} ${Buffer.from(value).toString('hex')}`
      expect(decoded.map(textOf)).toEqual(records.map(textOf))
      expect(decoded.map(({ offset }) => offset)).toEqual(records.map((_, index) => first + index))
    }),
    { numRuns: 200 },
  )
})

test('small blocks of single appends are merged into blocks of 256, and the rest stays small', async () => {
  const folder = await scratch()
  const log = await openLog(folder)
  for (let index = 0; index < 300; index++) await log.append([record(`key-${index % 3}`, `${index}`)])
  const blocks = blocksOf(folder)
  expect(blocks.filter(([, , sealed]) => sealed)).toEqual([[0, BLOCK_RECORDS, true]])
  expect(blocks.slice(1)).toEqual(
    Array.from({ length: 300 - BLOCK_RECORDS }, (_, index) => [BLOCK_RECORDS + index, 1, false]),
  )
  expect((await all(log.readKey('key-1'))).map(({ offset }) => offset)).toEqual(
    Array.from({ length: 100 }, (_, index) => index * 3 + 1),
  )
})

test('a long append is split into blocks of 256, and large records into blocks of half a megabyte', async () => {
  const folder = await scratch()
  const log = await openLog(folder)
  await log.append(numbered('k', 600))
  await log.append(numbered('k', 12, 'x'.repeat(200 * 1024)))
  expect(blocksOf(folder).map(([first, count, sealed]) => `${first}+${count}${sealed ? '' : ' open'}`)).toEqual([
    '0+256',
    '256+256',
    '512+91',
    '603+3',
    '606+3',
    '609+3',
  ])
})

test(
  'appends of any sizes, with the log opened again in between, are read as one sequence, completely and by key',
  { timeout: 60_000 },
  async () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 200, max: 600 })), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 40 }), async (appends, keys) => {
        const folder = await scratch()
        let logs = lmdbLogs({ folder })
        let sent = 0
        for (const [index, size] of appends.entries()) {
          if (index % 3 === 2) {
            await logs.close()
            logs = lmdbLogs({ folder })
          }
          const log = await logs.open('events')
          await log.append(Array.from({ length: size }, () => record(`key-${sent % keys}`, `${sent++}`)))
        }
        const log = await logs.open('events')
        const records = await all(log.read(0, 0))
        expect(records.map(({ offset, key, value }) => `${offset} ${key} ${Buffer.from(value).toString()}`)).toEqual(
          Array.from({ length: sent }, (_, index) => `${index} key-${index % keys} ${index}`),
        )
        const middle = sent >> 1
        expect((await all(log.readKey('key-0', middle))).map(({ offset }) => offset)).toEqual(
          records.filter(({ key, offset }) => key === 'key-0' && offset >= middle).map(({ offset }) => offset),
        )
        await logs.close()
      }),
      { numRuns: 12 },
    )
  },
)

test(
  'a key is found in every part of the log: in segments, in sealed blocks after them, in the tail, also after a start',
  { timeout: 60_000 },
  async () => {
    const folder = await scratch()
    const first = lmdbLogs({ folder })
    const keyOf = (index: number): string => (index % 1_000 === 7 ? 'rare' : `key-${index % 3_000}`)
    const records = Array.from({ length: 2 * SEGMENT_BLOCKS * BLOCK_RECORDS + 5 * BLOCK_RECORDS + 9 }, (_, index) =>
      record(keyOf(index), `${index}`),
    )
    const log = await first.open('events')
    const positions: Position[] = []
    for (let at = 0; at < records.length; at += 9_000)
      positions.push(...(await log.append(records.slice(at, at + 9_000))))
    await log.append([record('rare', 'last')])
    const expected = [
      ...records.flatMap(({ key }, index) => (key === 'rare' ? [positions[index]?.offset ?? -1] : [])),
      records.length,
    ]
    const found = async (of: Log, from = 0): Promise<number[]> =>
      (await all(of.readKey('rare', from))).map(({ offset }) => offset)
    expect(await found(log)).toEqual(expected)
    await first.close()
    const again = await openLog(folder)
    expect(await found(again)).toEqual(expected)
    expect(await found(again, 20_000)).toEqual(expected.filter((offset) => offset >= 20_000))
    await again.append(
      Array.from({ length: SEGMENT_BLOCKS * BLOCK_RECORDS }, (_, index) => record(`key-${index}`, 'x')),
    )
    expect(await found(again)).toEqual(expected)
    const files = openLogFiles(folder, true)
    expect(segmentsOf(files, 1)).toEqual([0, 1, 2].map((segment) => segment * SEGMENT_BLOCKS * BLOCK_RECORDS))
    await files.root.close()
  },
)

test('records that are sealed while a key is read are neither lost nor doubled', async () => {
  const log = await openLog(await scratch())
  await log.append(numbered('k', 300))
  const found: number[] = []
  for await (const batch of log.readKey('k')) {
    found.push(...batch.map(({ offset }) => offset))
    await log.append(numbered('k', 300))
  }
  expect(found).toEqual(Array.from({ length: 300 }, (_, index) => index))
})

test('all appends that follow each other immediately are flushed', async () => {
  const log = await openLog(await scratch())
  for (let index = 0; index < 400; index++)
    expect(await log.append([record('k', `${index}`)])).toEqual([{ partition: 0, offset: index }])
})

test('the fault of a damaged block names the block, and records after it stay readable', async () => {
  const folder = await scratch()
  const first = lmdbLogs({ folder })
  await (await first.open('events')).append(numbered('k', 17_000))
  await first.close()
  const files = openLogFiles(folder, false)
  const bytes = files.blocks.getBinary(blockKey(1, 0)) ?? Buffer.alloc(0)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  files.blocks.putSync(blockKey(1, 0), bytes)
  await files.root.close()
  const log = await openLog(folder)
  expect(await all(log.read(0, 256))).toHaveLength(16_744)
  await expect(all(log.read(0, 200, 300))).rejects.toMatchObject({
    code: 'log-corrupt',
    message: expect.stringContaining('offset 0 ') as unknown,
  })
})

const someRecords = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    timestamp: 1_700_000_000_000 + index,
    key: `key-${index % 5}`,
    value: Buffer.from('x'.repeat(index * 7)),
  }))

/** Converts a block to version 1, which earlier releases wrote. The checksum of that version covers only the bytes after the header. */
const asFormer = (bytes: Buffer, header: number): Buffer => {
  const former = Buffer.from(bytes)
  former[0] = 1
  former.writeUInt32BE(crc32(former.subarray(header)), header - 4)
  return former
}

/** Generates all copies of the bytes with one flipped bit before `end`. */
const flips = function* (
  bytes: Buffer,
  end = bytes.length,
): Generator<{ readonly bit: number; readonly flipped: Buffer }> {
  for (let bit = 0; bit < end * 8; bit += 1) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield { bit, flipped }
  }
}

const corrupt = expect.objectContaining({ code: 'log-corrupt' }) as Error
const someSegment = () =>
  encodeSegment(
    [512, 768, 1_000].reduce(
      (open, first) => withBlock(open, first, ['a', 'b', `only in ${first}`]),
      emptySegment(512),
    ),
    1_256,
  )

test('one flipped bit anywhere in a block or segment is found, in the header too, and so is a block at the wrong offset', () => {
  const block = encodeBlock([encodeRecords(someRecords(20)).bytes], { first: 512, count: 20, sealed: true })
  for (const { bit, flipped } of flips(block))
    expect(() => openBlock(flipped, 512, 'here'), `bit ${bit} of the block`).toThrow(corrupt)
  for (const first of [0, 511, 513, 2 ** 40 + 512]) expect(() => openBlock(block, first, 'here')).toThrow(corrupt)
  const segment = someSegment()
  expect(openSegment(segment, 512, 'here').blocksOf('only in 768')).toEqual([768])
  for (const { bit, flipped } of flips(segment))
    expect(() => openSegment(flipped, 512, 'here'), `bit ${bit} of the segment`).toThrow(corrupt)
  expect(() => openSegment(segment, 768, 'here')).toThrow(corrupt)
  for (const short of [0, 1, 8, 15, segment.length - 1]) {
    expect(() => openSegment(segment.subarray(0, short), 512, 'here')).toThrow(corrupt)
    expect(() => openBlock(block.subarray(0, short), 512, 'here')).toThrow(corrupt)
  }
})

test('blocks and segments of earlier releases are read, and a record count that does not fit their bytes is found', () => {
  const block = asFormer(
    encodeBlock([encodeRecords(someRecords(20)).bytes], { first: 512, count: 20, sealed: false }),
    8,
  )
  const decoded: LogRecord[] = []
  decodeBlock(openBlock(block, 512, 'here'), { from: 512, to: Infinity }, decoded)
  expect(decoded).toHaveLength(20)
  const sealedBit = 8
  for (const { bit, flipped } of flips(block))
    if (bit !== sealedBit) expect(() => openBlock(flipped, 512, 'here'), `bit ${bit} of the block`).toThrow(corrupt)
  const segment = asFormer(someSegment(), 16)
  expect(openSegment(segment, 512, 'here')).toMatchObject({ end: 1_256 })
  for (const { bit, flipped } of flips(segment, 6))
    expect(() => openSegment(flipped, 512, 'here'), `bit ${bit} of the segment`).toThrow(corrupt)
})

test('a log of an earlier release is opened and continued, and its format is raised', async () => {
  const folder = await scratch()
  const first = lmdbLogs({ folder })
  await (await first.open('events')).append(numbered('k', SEGMENT_BLOCKS * BLOCK_RECORDS + 300))
  await first.close()
  const former = openLogFiles(folder, false)
  for (const [files, header] of [
    [former.blocks, 8],
    [former.segments, 16],
  ] as const) {
    for (const { key, value } of [...files.getRange({})])
      files.putSync(Buffer.from(key), asFormer(Buffer.from(value), header))
  }
  former.meta.putSync('format', 1)
  await former.root.close()
  const log = await openLog(folder)
  await log.append([record('k', 'new')])
  expect(await all(log.read(0, 0))).toHaveLength(SEGMENT_BLOCKS * BLOCK_RECORDS + 301)
  expect(await all(log.readKey('k'))).toHaveLength(SEGMENT_BLOCKS * BLOCK_RECORDS + 301)
  const files = openLogFiles(folder, true)
  expect(files.meta.get('format')).toBe(2)
  await files.root.close()
})

test('a flipped bit in a header of the log is reported by start, append and read, and nothing is lost', async () => {
  const folder = await scratch()
  const first = lmdbLogs({ folder })
  await (await first.open('events')).append(numbered('k', 3))
  await first.close()
  const flip = async (): Promise<void> => {
    const files = openLogFiles(folder, false)
    const bytes = Buffer.from(files.blocks.getBinary(blockKey(1, 0)) ?? Buffer.alloc(0))
    bytes[1] = (bytes[1] ?? 0) ^ 1
    files.blocks.putSync(blockKey(1, 0), bytes)
    await files.root.close()
  }
  await flip()
  const damaged = lmdbLogs({ folder })
  await expect((await damaged.open('events')).append([record('k', 'x')])).rejects.toMatchObject({ code: 'log-corrupt' })
  await damaged.close()
  await flip()
  const log = await openLog(folder)
  expect(await all(log.read(0, 0))).toHaveLength(3)
  expect(await log.append([record('k', 'x')])).toEqual([{ partition: 0, offset: 3 }])
})

test('a missing block causes log-corrupt and is not skipped', async () => {
  const folder = await scratch()
  const first = lmdbLogs({ folder })
  await (await first.open('events')).append(numbered('k', 600))
  await first.close()
  const files = openLogFiles(folder, false)
  files.blocks.removeSync(blockKey(1, 256))
  await files.root.close()
  await expect(all((await openLog(folder)).read(0, 0))).rejects.toMatchObject({ code: 'log-corrupt' })
})

test('a log of a newer format is rejected and not changed', async () => {
  const folder = await scratch()
  const files = openLogFiles(folder, false)
  files.meta.putSync('format', 99)
  await files.root.close()
  await expect(lmdbLogs({ folder }).open('events')).rejects.toMatchObject({ code: 'data-newer-version' })
})

test('a record above the limit is rejected, and nothing of its append is written', async () => {
  const log = await openLog(await scratch())
  await expect(log.append([record('k', 'small'), record('k', 'x'.repeat(1024 * 1024))])).rejects.toMatchObject({
    code: 'record-too-large',
  })
  await expect(log.append([record('k'.repeat(1025), 'small')])).rejects.toMatchObject({ code: 'record-too-large' })
  expect(await log.watermarks()).toEqual([{ partition: 0, low: 0, high: 0 }])
})

test('an append above the limit of waiting bytes fails with log-overloaded, and the waiting appends are written', async () => {
  const log = await openLog(await scratch())
  const megabyte = [record('k', 'x'.repeat(1024 * 1000))]
  const outcomes = await Promise.allSettled(Array.from({ length: 70 }, () => log.append(megabyte)))
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const outcome of refused) expect(outcome).toMatchObject({ reason: { code: 'log-overloaded', retriable: true } })
  expect((await log.watermarks())[0]?.high).toBe(70 - refused.length)
  expect(await log.append(megabyte)).toEqual([{ partition: 0, offset: 70 - refused.length }])
})

test('a log that is opened for reading only shows records that are appended meanwhile, and rejects appends', async () => {
  const folder = await scratch()
  const log = await openLog(folder)
  await log.append(numbered('k', 3))
  const readers = lmdbLogs({ folder, readOnly: true })
  later(() => readers.close())
  const reader = await readers.open('events')
  expect(await all(reader.read(0, 0))).toHaveLength(3)
  await log.append(numbered('k', 300))
  await expect.poll(async () => (await all(reader.readKey('k'))).length).toBe(303)
  await expect(reader.append([record('k', 'x')])).rejects.toMatchObject({ code: 'log-unavailable' })
  await expect(readers.open('other')).rejects.toMatchObject({ code: 'topic-missing' })
})
