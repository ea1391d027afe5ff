import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { all, record } from '../contracts/log-records.ts'
import { later, scratch } from '../processors/adapters/lmdb/scratch.ts'

const openLog = async (folder: string) => {
  const logs = lmdbLogs({ folder })
  later(() => logs.close())
  return { whileQuiet: logs.whileQuiet, log: await logs.open('events') }
}

/** Starts a process that opens a log for reading at each request of the test. */
const startOpener = async () => {
  const child: ChildProcess = fork(join(import.meta.dirname, 'opener.ts'), {
    execArgv: ['--import', join(import.meta.dirname, '..', 'from-source.mjs')],
  })
  later(async () => void child.kill('SIGKILL'))
  const messages = on(child, 'message')
  const reported = async (): Promise<unknown> =>
    ((await messages.next()) as { readonly value: readonly unknown[] }).value[0]
  expect(await reported()).toBe('started')
  return { open: (folder: string) => child.send(folder), reported }
}

/** A folder in memory, so that commits are fast and many of them coincide with an opening. Without /dev/shm: a folder on the disk. */
const inMemory = async (): Promise<string> => {
  if (!existsSync('/dev/shm')) return scratch()
  const folder = await mkdtemp('/dev/shm/tributary-opening-')
  later(() => rm(folder, { recursive: true }))
  return folder
}

const ROUNDS = 500

test(
  'a log that another process opens repeatedly during whileQuiet loses no append of its writer',
  { timeout: 120_000 },
  async () => {
    const folder = await inMemory()
    const { log, whileQuiet } = await openLog(folder)
    const opener = await startOpener()
    let isOver = false
    let appended = 0
    const append = async (): Promise<void> => {
      for (; !isOver; appended += 1) await log.append([record('k', String(appended))])
    }
    const appending = append()
    for (let round = 0; round < ROUNDS; round += 1) {
      await whileQuiet(async () => {
        opener.open(folder)
        expect(await opener.reported()).toBe('open')
      })
      expect(await opener.reported()).toBe('closed')
    }
    isOver = true
    await appending
    expect((await all(log.read(0, 0))).map(({ value }) => Buffer.from(value).toString())).toEqual(
      Array.from({ length: appended }, (_, index) => String(index)),
    )
  },
)

test('appends wait during whileQuiet and are written afterwards', async () => {
  const { log, whileQuiet } = await openLog(await scratch())
  await log.append([record('k', 'before')])
  let appending: Promise<unknown> | undefined
  await whileQuiet(async () => {
    appending = log.append([record('k', 'after')])
    await new Promise((resolve) => setImmediate(resolve))
    expect(await all(log.read(0, 0))).toHaveLength(1)
  })
  expect(await appending).toEqual([{ partition: 0, offset: 1 }])
})

test('the log continues after the work of whileQuiet has failed', async () => {
  const { log, whileQuiet } = await openLog(await scratch())
  await expect(whileQuiet(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(await log.append([record('k', 'after')])).toEqual([{ partition: 0, offset: 0 }])
})
