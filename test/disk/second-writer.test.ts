import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeBlock, encodeRecords } from '../../processors/adapters/lmdb/block.ts'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { blockKey, openLogFiles } from '../../processors/adapters/lmdb/log-files.ts'
import type { OpenTopic } from '../../processors/engine/ports/log-admin.ts'
import type { Log } from '../../processors/engine/ports/log.ts'
import { all, numbered, record } from '../contracts/log-records.ts'
import { later, scratch } from '../processors/adapters/lmdb/scratch.ts'

const openLog = async (folder: string): Promise<OpenTopic> => {
  const logs = lmdbLogs({ folder })
  later(() => logs.close())
  return logs.open('events')
}

const texts = async (log: Log): Promise<string[]> =>
  (await all(log.read(0, 0))).map(({ value }) => Buffer.from(value).toString())

/** Starts second-writer.ts. Resolves to a function that lets that process append a text, and returns the offset or the code of the fault. */
const startWriter = async (folder: string): Promise<(text: string) => Promise<string>> => {
  const child: ChildProcess = fork(join(import.meta.dirname, 'second-writer.ts'), [folder], {
    execArgv: ['--import', join(import.meta.dirname, '..', 'from-source.mjs')],
  })
  later(async () => void child.kill('SIGKILL'))
  const next = async (): Promise<string> => ((await once(child, 'message')) as [string])[0]
  expect(await next()).toBe('open')
  return (text) => {
    const answer = next()
    child.send(text)
    return answer
  }
}

test(
  'if two processes write to one log, the one without the last append is rejected, and nothing is lost',
  { timeout: 60_000 },
  async () => {
    const folder = await scratch()
    const log = await openLog(folder)
    await log.append([record('k', 'ours 1')])
    const append = await startWriter(folder)
    await log.append([record('k', 'ours 2')])
    expect(await append('theirs 1')).toBe('log-second-writer')
    expect(await log.append([record('k', 'ours 3')])).toEqual([{ partition: 0, offset: 2 }])
    // The other process stays rejected, because its end of the log and its folded items are out of date.
    expect(await append('theirs 2')).toBe('log-second-writer')
    expect(await texts(log)).toEqual(['ours 1', 'ours 2', 'ours 3'])
  },
)

test(
  'the first writer is rejected after a second one appended, and its subscribers get the fault',
  { timeout: 60_000 },
  async () => {
    const folder = await scratch()
    const log = await openLog(folder)
    await log.append(numbered('k', 3))
    const failures: unknown[] = []
    let seen = 0
    await log.subscribe('group', {
      assigned: async () => 0,
      batch: async (records) => void (seen += records.length),
      revoked: () => undefined,
      failed: (error) => failures.push(error),
    })
    await expect.poll(() => seen).toBe(3)
    const append = await startWriter(folder)
    // The text is so large that the block of records is full afterwards. The first writer would append to this block.
    expect(await append('x'.repeat(600 * 1024))).toBe('3')
    await expect(log.append([record('k', 'lost?')])).rejects.toMatchObject({
      code: 'log-second-writer',
      retriable: false,
    })
    expect(failures).toEqual([expect.objectContaining({ code: 'log-second-writer' })])
    await expect.poll(() => log.isFollowed('group')).toBe(false)
    expect(await append('after')).toBe('4')
    const reader = lmdbLogs({ folder, readOnly: true })
    later(() => reader.close())
    expect((await texts(await reader.open('events'))).map((text) => text.length)).toEqual([
      ...numbered('k', 3).map(({ value }) => value.length),
      600 * 1024,
      5,
    ])
  },
)

test('a block that a process of an earlier release appended is also found', async () => {
  const folder = await scratch()
  const log = await openLog(folder)
  await log.append(numbered('k', 3))
  const files = openLogFiles(folder, false)
  const { bytes } = encodeRecords([{ timestamp: 1, key: 'k', value: Buffer.from('theirs') }])
  files.blocks.putSync(blockKey(1, 3), encodeBlock([bytes], { first: 3, count: 1, sealed: false }))
  await expect(log.append([record('k', 'ours')])).rejects.toMatchObject({ code: 'log-second-writer' })
  expect((await texts(await openLog(folder))).at(-1)).toBe('theirs')
})

test('a transaction with the count of an earlier transaction writes nothing', async () => {
  const { root, guard, meta } = openLogFiles(await scratch(), false)
  later(() => root.close())
  const commit = (count: number | null, text: string) => guard?.commit(count, () => void meta.put('text', text))
  expect(await commit(null, 'first')).toBe(true)
  expect(await commit(null, 'a second first')).toBe(false)
  expect(await Promise.all([commit(1, 'second'), commit(1, 'a second second')])).toEqual([true, false])
  expect([guard?.count(), meta.get('text')]).toEqual([2, 'second'])
})
