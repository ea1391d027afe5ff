import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import type { Log, LogRecord } from '../../processors/engine/ports/log.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import { all } from '../contracts/log-records.ts'
import { counters, sortable } from '../processors/adapters/lmdb/counting.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-killed-'))
})
afterEach(() => rm(folder, { recursive: true }))

const here = (name: string): string => join(import.meta.dirname, name)

/** Starts appender.ts, kills it after it has acknowledged `count` records, and returns the acknowledged records. */
const killedAfter = async (count: number, seed: number): Promise<string[]> => {
  const child = spawn(
    process.execPath,
    ['--import', here('../from-source.mjs'), here('appender.ts'), folder, String(seed)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const acknowledged: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line)
    if (acknowledged.length === count) child.kill('SIGKILL')
  }
  // The kill can cut the last line, so the record of this line counts as not acknowledged.
  return acknowledged.slice(0, -1)
}

const lineOf = ({ offset, key, value }: LogRecord): string => `${offset} ${key} ${Buffer.from(value).toString()}`

const checkLog = async (log: Log, acknowledged: ReadonlySet<string>): Promise<readonly LogRecord[]> => {
  const records = await all(log.read(0, 0))
  expect(records.map(({ offset }) => offset)).toEqual(records.map((_, index) => index))
  expect((await log.watermarks())[0]?.high).toBe(records.length)
  const found = new Set(records.map(lineOf))
  expect([...acknowledged].filter((line) => !found.has(line))).toEqual([])
  for (const key of new Set(records.map((record) => record.key ?? ''))) {
    expect((await all(log.readKey(key))).map(lineOf)).toEqual(
      records.filter((record) => record.key === key).map(lineOf),
    )
  }
  return records
}

/** Checks that the items are exactly the fold of the records before the checkpoint, and that the index matches the items. */
const checkStore = async (store: Store, records: readonly LogRecord[]): Promise<number> => {
  const checkpoint = (await store.checkpoints()).get(0) ?? 0
  const counts = new Map<string, number>()
  for (const { key } of records.slice(0, checkpoint)) counts.set(key ?? '', (counts.get(key ?? '') ?? 0) + 1)
  const items = []
  for await (const page of store.scan()) items.push(...page)
  expect(Object.fromEntries(items.map(({ PK, count }) => [PK, count]))).toEqual(
    Object.fromEntries([...counts].map(([key, count]) => [key, sortable(count)])),
  )
  const { items: indexed } = await store.reader(() => 0).query({ index: 'BY', pk: 'all', limit: 100 })
  expect(indexed.map(({ PK }) => PK).sort()).toEqual([...counts.keys()].sort())
  expect(indexed.map(({ count }) => count)).toEqual(indexed.map(({ count }) => count).sort())
  return checkpoint
}

test(
  'after kill -9 the log contains all acknowledged records without gaps, and index, items and checkpoint match',
  { timeout: 120_000 },
  async () => {
    const acknowledged = new Set<string>()
    let folded = 0
    for (const [seed, count] of [3, 250, 700, 40, 1500].entries()) {
      for (const line of await killedAfter(count, seed + 1)) acknowledged.add(line)
      const logs = lmdbLogs({ folder: `${folder}/log` })
      const stores = lmdbStores({ folder: `${folder}/tables` })
      const records = await checkLog(await logs.open('events'), acknowledged)
      folded += await checkStore(await stores.create(counters, 1), records)
      await logs.close()
      await stores.close()
    }
    expect(acknowledged.size).toBeGreaterThan(2_400)
    expect(folded).toBeGreaterThan(0)
  },
)
