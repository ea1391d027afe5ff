import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Position } from '../../processors/engine/ports/log.ts'
import { isFault } from '../../schemas/fault.ts'
import { text } from './listener.ts'
import { followRules } from './log-following.ts'
import { groupRules } from './log-groups.ts'
import { all, numbered, record, type LogSetup, type LogSubject } from './log-records.ts'

/** The contract of the log port. Every adapter runs it. */
export function logContract(name: string, open: () => Promise<LogSetup>): void {
  describe(`log contract: ${name}`, () => {
    let setup: LogSetup | undefined
    const subject: LogSubject = {
      setup: () => setup ?? expect.unreachable('the log under test was not opened'),
      fresh: () => subject.setup().logs.open(`contract-${randomUUID()}`),
    }
    beforeAll(async () => {
      setup = await open()
    })
    afterAll(async () => {
      await setup?.cleanup()
    })
    describe('append', () => appendRules(subject))
    describe('read', () => readRules(subject))
    describe('subscribe', () => followRules(subject))
    describe('groups', () => groupRules(subject))
    describe('identity', () => identityRules(subject))
  })
}

const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? error.code : String(error)),
  )

function appendRules({ fresh }: LogSubject): void {
  test('an acknowledged record is at its position, byte for byte', async () => {
    const log = await fresh()
    const sent = [
      record('a', 'one'),
      record('bé', 'två'),
      { key: 'c', value: Uint8Array.of(0, 255, 7), headers: { source: 'test' } },
      record('d', ''),
    ]
    const positions = await log.append(sent)
    expect(positions).toHaveLength(sent.length)
    for (const [index, { key, value }] of sent.entries()) {
      const { partition, offset } = positions[index] as Position
      expect(partition).toBe(log.partitionOf(key))
      const [found, ...more] = await all(log.read(partition, offset, offset + 1))
      expect(more).toEqual([])
      expect(found).toMatchObject({ partition, offset, key })
      expect(Buffer.from(found?.value ?? []).equals(Buffer.from(value))).toBe(true)
      expect(found?.timestamp).toBeGreaterThan(0)
    }
  })

  test('records of one key keep the order of their appends, also of overlapping calls', async () => {
    const log = await fresh()
    const calls = Array.from({ length: 40 }, (_, call) =>
      log.append([record('k', `${call}a`), record('other', `${call}`), record('k', `${call}b`)]),
    )
    await Promise.all(calls)
    const expected = Array.from({ length: 40 }, (_, call) => [`${call}a`, `${call}b`]).flat()
    expect((await all(log.readKey('k'))).map(text)).toEqual(expected)
  })

  test('overlapping appends are acknowledged with their own positions', async () => {
    const log = await fresh()
    const calls = Array.from({ length: 30 }, (_, call) =>
      Array.from({ length: 1 + (call % 3) }, (_, nth) => record(`key-${call % 4}`, `${call}/${nth}`)),
    )
    const positions = await Promise.all(calls.map((records) => log.append(records)))
    const acknowledged = calls.flatMap((records, call) =>
      records.map(
        ({ value }, nth) =>
          [
            `${positions[call]?.[nth]?.partition}:${positions[call]?.[nth]?.offset}`,
            Buffer.from(value).toString(),
          ] as const,
      ),
    )
    const read: [string, string][] = []
    for (const { partition } of await log.watermarks())
      for (const one of await all(log.read(partition, 0))) read.push([`${partition}:${one.offset}`, text(one)])
    expect(new Map(acknowledged)).toEqual(new Map(read))
    expect(acknowledged).toHaveLength(read.length)
  })

  test('positions are returned in the order of the records, each once', async () => {
    const log = await fresh()
    const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`)
    const positions = await log.append(keys.map((key) => record(key, key)))
    expect(positions.map(({ partition }) => partition)).toEqual(keys.map((key) => log.partitionOf(key)))
    expect(new Set(positions.map(({ partition, offset }) => `${partition}:${offset}`)).size).toBe(keys.length)
  })

  test('an append without records returns no position', async () => {
    expect(await (await fresh()).append([])).toEqual([])
  })

  test('watermarks list every partition in order, and grow with each append', async () => {
    const log = await fresh()
    const { partitions } = await log.identity()
    const before = await log.watermarks()
    expect(before).toEqual(Array.from({ length: partitions }, (_, partition) => ({ partition, low: 0, high: 0 })))
    await log.append([...numbered('a', 3), ...numbered('b', 2)])
    const after = await log.watermarks()
    expect(after.reduce((sum, { high }) => sum + high, 0)).toBe(5)
    expect(after[log.partitionOf('a')]?.high).toBeGreaterThanOrEqual(3)
  })
}

function readRules({ fresh, setup }: LogSubject): void {
  test('a range begins at `from` and ends before `to`', async () => {
    const log = await fresh()
    await log.append(numbered('k', 20))
    const partition = log.partitionOf('k')
    expect((await all(log.read(partition, 5, 9))).map(text)).toEqual(['5', '6', '7', '8'])
    expect((await all(log.read(partition, 18))).map(text)).toEqual(['18', '19'])
    expect((await all(log.read(partition, 18, 500))).map(text)).toEqual(['18', '19'])
    expect(await all(log.read(partition, 7, 7))).toEqual([])
    expect(await all(log.read(partition, 20))).toEqual([])
  })

  test('a range ends at the end of the log at the time of the call', async () => {
    const log = await fresh()
    await log.append(numbered('k', 5))
    const records: string[] = []
    for await (const batch of log.read(log.partitionOf('k'), 0)) {
      records.push(...batch.map(text))
      await log.append([record('k', 'later')])
    }
    expect(records).toEqual(['0', '1', '2', '3', '4'])
  })

  test('a range that begins after the end is refused', async () => {
    const log = await fresh()
    await log.append(numbered('k', 2))
    expect(await codeOf(all(log.read(log.partitionOf('k'), 3)))).toBe('log-truncated')
  })

  test('the log stays usable after a reader stops early', async () => {
    const log = await fresh()
    await log.append(numbered('k', 50))
    for await (const batch of log.read(log.partitionOf('k'), 0)) {
      expect(batch.length).toBeGreaterThan(0)
      break
    }
    expect(await all(log.read(log.partitionOf('k'), 0))).toHaveLength(50)
  })

  test('readKey returns the records of one key only, in order, from an offset on', async () => {
    const log = await fresh()
    const mixed = Array.from({ length: 30 }, (_, index) =>
      record(index % 3 === 0 ? 'wanted' : `other-${index % 7}`, `${index}`),
    )
    const positions = await log.append(mixed)
    const wanted = mixed
      .map(({ key }, index) => ({ key, index }))
      .filter(({ key }) => key === 'wanted')
      .map(({ index }) => `${index}`)
    expect((await all(log.readKey('wanted'))).map(text)).toEqual(wanted)
    const fourth = positions[9]?.offset ?? -1
    expect((await all(log.readKey('wanted', fourth))).map(text)).toEqual(wanted.slice(3))
    expect(await all(log.readKey('never-written'))).toEqual([])
  })

  test('removed records are refused, not skipped; a log without retention begins at 0', async () => {
    const { trim } = setup()
    const log = await fresh()
    await log.append(numbered('k', 10))
    const partition = log.partitionOf('k')
    if (!trim) return expect((await log.watermarks())[partition]).toEqual({ partition, low: 0, high: 10 })
    await trim(log.topic, partition, 4)
    expect((await log.watermarks())[partition]).toEqual({ partition, low: 4, high: 10 })
    expect(await codeOf(all(log.read(partition, 3)))).toBe('log-trimmed')
    expect((await all(log.read(partition, 4))).map(text)).toEqual(['4', '5', '6', '7', '8', '9'])
    expect(await codeOf(all(log.readKey('k')))).toBe('log-trimmed')
    expect((await all(log.readKey('k', 4))).map(text)).toEqual(['4', '5', '6', '7', '8', '9'])
  })
}

function identityRules({ fresh, setup }: LogSubject): void {
  test('a topic keeps its identity and its records over a restart', async (context) => {
    const { reopen } = setup()
    if (!reopen) return context.skip('this log cannot be opened again')
    const log = await fresh()
    const identity = await log.identity()
    await log.append(numbered('k', 3))
    setup().logs = await reopen()
    const again = await setup().logs.open(log.topic, identity)
    expect(await again.identity()).toEqual(identity)
    expect((await all(again.readKey('k'))).map(text)).toEqual(['0', '1', '2'])
    expect(again.partitionOf('k')).toBe(log.partitionOf('k'))
  })

  test('two topics differ in identity', async () => {
    const [one, other] = await Promise.all([fresh(), fresh()])
    expect((await one.identity()).topic).not.toBe((await other.identity()).topic)
    expect((await one.identity()).cluster).toBe((await other.identity()).cluster)
  })

  test('a topic with another identity than the expected one is refused', async () => {
    const log = await fresh()
    const identity = await log.identity()
    expect(await codeOf(setup().logs.open(log.topic, { ...identity, topic: 'another-incarnation' }))).toBe(
      'topic-recreated',
    )
    expect(await codeOf(setup().logs.open(log.topic, { ...identity, cluster: 'another-cluster' }))).toBe(
      'topic-recreated',
    )
  })
}
