import { spawnSync } from 'node:child_process'
import { expect, test, type TestContext } from 'vitest'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import type { Log } from '../../../../processors/engine/ports/log.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { all, record } from '../../../contracts/log-records.ts'
import { counters } from './counting.ts'
import { later, scratch } from './scratch.ts'

const mount = (folder: string, options: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0

/** Mounts a disk with this number of megabytes and returns its folder. `grow` sets a larger size. Skips the test if it cannot mount a disk. */
const smallDisk = async (
  context: TestContext,
  megabytes: number,
): Promise<{ folder: string; grow: (megabytes: number) => void }> => {
  const folder = await scratch()
  if (!mount(folder, `size=${megabytes}m`))
    context.skip('the test cannot mount a disk here (it needs root): full disks are not tested')
  later(async () => void spawnSync('umount', ['-l', folder]))
  return { folder, grow: (size) => expect(mount(folder, `remount,size=${size}m`)).toBe(true) }
}

const fill = async (log: Log): Promise<{ acknowledged: string[]; fault: unknown }> => {
  const acknowledged: string[] = []
  for (let round = 0; round < 10_000; round++) {
    const records = Array.from({ length: 20 }, (_, index) =>
      record(`key-${index}`, `${round}/${index}/${'x'.repeat(900)}`),
    )
    const fault = await log.append(records).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (fault !== undefined) return { acknowledged, fault }
    acknowledged.push(...records.map(({ value }) => Buffer.from(value).toString()))
  }
  return { acknowledged, fault: undefined }
}

test('on a full disk every waiting append fails and writes nothing, and the log continues when there is room', async (context) => {
  const { folder, grow } = await smallDisk(context, 12)
  const logs = lmdbLogs({ folder })
  later(() => logs.close())
  const log = await logs.open('events')
  const { acknowledged, fault } = await fill(log)
  expect(fault).toMatchObject({ code: 'log-full', retriable: true })
  const waiting = await Promise.allSettled(
    Array.from({ length: 5 }, (_, index) => log.append([record('k', `${index}${'x'.repeat(100_000)}`)])),
  )
  expect(waiting.map((outcome) => outcome.status === 'rejected' && isFault(outcome.reason, 'log-full'))).toEqual([
    true,
    true,
    true,
    true,
    true,
  ])
  const texts = async (): Promise<string[]> =>
    (await all(log.read(0, 0))).map(({ value }) => Buffer.from(value).toString())
  expect(await texts()).toEqual(acknowledged)
  grow(24)
  await log.append([record('k', 'room again')])
  expect(await texts()).toEqual([...acknowledged, 'room again'])
})

test('an append of which only a part fits on the disk fails with append-unknown, and the log contains a prefix of it', async (context) => {
  const { folder, grow } = await smallDisk(context, 12)
  const logs = lmdbLogs({ folder })
  later(() => logs.close())
  const log = await logs.open('events')
  const records = Array.from({ length: 500 }, (_, index) => record('k', `${index} ${'x'.repeat(10_000)}`))
  await expect(log.append(records)).rejects.toMatchObject({ code: 'append-unknown', retriable: true })
  const indexes = async (): Promise<number[]> =>
    (await all(log.read(0, 0))).map(({ value }) => Number.parseInt(Buffer.from(value).toString(), 10))
  const written = await indexes()
  expect(written.length).toBeGreaterThan(0)
  expect(written).toEqual(records.slice(0, written.length).map((_, index) => index))
  grow(40)
  await log.append([record('k', '500')])
  expect(await indexes()).toEqual([...written, 500])
})

test('a log and a table are not created on a full disk', async (context) => {
  const { folder } = await smallDisk(context, 2)
  await expect(lmdbLogs({ folder }).open('events')).rejects.toMatchObject({ code: 'disk-full' })
  await expect(lmdbStores({ folder }).create(counters, 1)).rejects.toMatchObject({ code: 'disk-full' })
})

test('a store on a full disk keeps its accepted commits, rejects further ones, and continues when there is room', async (context) => {
  const { folder, grow } = await smallDisk(context, 12)
  const stores = lmdbStores({ folder })
  later(() => stores.close())
  const store = await stores.create(counters, 1)
  let accepted = 0
  const commit = async (): Promise<void> => {
    await store.commit(
      [[[{ put: { PK: 'P', SK: `${accepted}`, text: 'x'.repeat(50_000), _pos: accepted }, expect: null }]]],
      { partition: 0, from: accepted, offset: accepted + 1 },
    )
    accepted++
  }
  const commitUntilFault = async (): Promise<unknown> => {
    for (;;) {
      const fault = await commit().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (fault !== undefined) return fault
    }
  }
  expect(await commitUntilFault()).toMatchObject({ code: 'store-unavailable', retriable: true })
  expect(store.peek({ PK: 'P', SK: `${accepted - 1}` })?._pos).toBe(accepted - 1)
  grow(256)
  await commit()
  const items = []
  for await (const page of store.scan()) items.push(...page)
  expect(items).toHaveLength(accepted)
  expect(await store.checkpoints()).toEqual(new Map([[0, accepted]]))
})
