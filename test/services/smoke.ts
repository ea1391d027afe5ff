import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Log, LogRecord } from '../../processors/engine/ports/log.ts'
import type { Stores } from '../../processors/engine/ports/store.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Logs } from '../../processors/engine/ports/log-admin.ts'

/** Checks that a log appends, reads and delivers records. The contract suite checks all other rules, on services that run as plain processes. */
export const checkRecords = async (logs: Logs): Promise<void> => {
  const log = await logs.open(`smoke-${randomUUID()}`)
  const values = ['one', 'two', 'three']
  const positions = await log.append(values.map((value) => ({ key: 'a', value: Buffer.from(value) })))
  await log.append([{ key: 'b', value: Buffer.from('other') }])
  expect(positions.map(({ offset }) => offset)).toEqual([0, 1, 2])
  const read: string[] = []
  for await (const batch of log.readKey('a')) for (const { value } of batch) read.push(Buffer.from(value).toString())
  expect(read).toEqual(values)
  const followed = await follow(log, 4)
  expect(followed.filter(({ key }) => key === 'a').map(({ offset }) => offset)).toEqual([0, 1, 2])
}

const follow = async (log: Log, count: number): Promise<LogRecord[]> => {
  const records: LogRecord[] = []
  const { promise, resolve, reject } = deferred()
  const subscription = await log.subscribe(`smoke-${randomUUID()}`, {
    assigned: async ({ low }) => low,
    batch: async (batch) => {
      records.push(...batch)
      if (records.length >= count) resolve()
    },
    revoked: () => {},
    // A broker that has just started can cause retriable faults, so these are ignored. The timeout of the test limits the retries.
    failed: (error) => (isFault(error) && error.retriable ? undefined : reject(error)),
  })
  await promise.finally(() => subscription.stop())
  return records
}

const deferred = (): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } => {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((done, fail) => ([resolve, reject] = [done, fail]))
  return { promise, resolve, reject }
}

/** Checks that a store commits items once and loads them. */
export const checkItems = async (stores: Stores): Promise<void> => {
  const store = await stores.create({ name: `smoke-${randomUUID()}`, ttl: 'ttl', indexes: [] }, 1)
  const items = ['A', 'B'].map((SK) => ({ PK: 'USER#a', SK, calories: 412.5, _pos: 1 }))
  const chunk = items.map((put) => ({ put, expect: null }))
  expect(await store.commit([[chunk]], { partition: 0, from: 0, offset: 2 })).toEqual([{ applied: 'all' }])
  expect(await store.commit([[chunk]], { partition: 0, from: 2, offset: 3 })).toEqual([{ applied: 0, current: items }])
  expect(await store.load(items)).toEqual(items)
  expect(await store.reader(() => 0).query({ pk: 'USER#a', limit: 5, reverse: true })).toEqual({
    items: [...items].reverse(),
  })
  expect(await store.checkpoints()).toEqual(new Map([[0, 2]]))
}
