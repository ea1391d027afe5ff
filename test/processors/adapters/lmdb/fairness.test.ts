import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KEY_RECORDS } from '../../../../processors/adapters/lmdb/append-queue.ts'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import type { Log, LogRecord, NewRecord, Subscriber } from '../../../../processors/engine/ports/log.ts'
import type { Logs } from '../../../../processors/engine/ports/log-admin.ts'

let folder: string
let logs: Logs
let log: Log
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-fairness-'))
  logs = lmdbLogs({ folder })
  log = await logs.open('t')
})
afterEach(async () => {
  await logs.close()
  await rm(folder, { recursive: true })
})

const value = Buffer.from('x')
const flood = (count: number): readonly NewRecord[] => Array.from({ length: count }, () => ({ key: 'flood', value }))
const quiet: readonly NewRecord[] = [{ key: 'quiet', value }]

const subscriber = (batch: (records: readonly LogRecord[]) => Promise<void>, isAwaited = true): Subscriber => ({
  isAwaited,
  assigned: async () => 0,
  batch,
  revoked: () => {},
  failed: (error) => {
    throw error
  },
})

test('a small append after four large ones of another key is in the first flush', async () => {
  const floods = Array.from({ length: 4 }, () => log.append(flood(1_000)))
  const [position] = await log.append(quiet)
  expect(position?.offset).toBe(KEY_RECORDS)
  const offsets = (await Promise.all(floods)).flat().map(({ offset }) => offset)
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
  expect(offsets).toHaveLength(4_000)
})

test('at most one share of a flood is unfolded before a small append of another key', async () => {
  const ahead: number[] = []
  const small: Promise<void>[] = []
  let folded = 0
  await log.subscribe(
    'g',
    subscriber(async (records) => {
      const next = (records.at(-1)?.offset ?? 0) + 1
      if (small.length < 50)
        small.push(log.append(quiet).then(([position]) => void ahead.push((position?.offset ?? 0) - folded)))
      await Promise.all(small)
      folded = next
    }),
  )
  await Promise.all(Array.from({ length: 4 }, () => log.append(flood(1_000))))
  await Promise.all(small)
  expect(ahead).toHaveLength(50)
  expect(Math.max(...ahead)).toBeLessThanOrEqual(KEY_RECORDS + 1)
})

test('an append waits neither for a stuck subscriber nor for a subscriber whose results no caller awaits', async () => {
  let release = (): void => {}
  const stuck = new Promise<void>((resolve) => (release = resolve))
  await log.subscribe(
    'stuck',
    subscriber(() => stuck),
  )
  await log.subscribe(
    'series',
    subscriber(() => stuck, false),
  )
  expect(await log.append(flood(10 * KEY_RECORDS))).toHaveLength(10 * KEY_RECORDS)
  release()
})

test('a log closes only after the rest of a large append is written', async () => {
  await log.subscribe(
    'g',
    subscriber(async () => {}),
  )
  const appended = log.append(flood(1_000))
  await logs.close()
  expect(await appended).toHaveLength(1_000)
})
