import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import type { Log, LogRecord } from '../../../../processors/engine/log.ts'

const plain = ({ value, ...rest }: LogRecord) => ({ ...rest, value: Buffer.from(value).toString('hex') })

const readAll = async (log: Log): Promise<readonly unknown[]> => {
  const records: LogRecord[] = []
  for await (const page of log.read(0, 0)) records.push(...page)
  return records.map(plain)
}

/** Follows a topic from its start; `until` resolves when so many records were handed over. */
const follow = async (log: Log) => {
  const handed: unknown[] = []
  let look = (): void => {}
  const subscription = await log.subscribe('g', {
    assigned: async () => 0,
    batch: async (records) => {
      handed.push(...records.map(plain))
      look()
    },
    revoked: () => {},
    failed: (error) => {
      throw error
    },
  })
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (handed.length >= count) resolve()
      }
      look()
    })
  return { handed, until, stop: () => subscription.stop() }
}

const record = fc.record({ key: fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom('ä', '🥣', 'a\uD800')), value: fc.uint8Array({ maxLength: 400 }) })
const flushes = fc.array(fc.array(record, { minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 4 })

test('a follower is handed what a reader reads, though values are used again once they are appended', async () => {
  await fc.assert(
    fc.asyncProperty(flushes, async (all) => {
      const folder = await mkdtemp(join(tmpdir(), 'tributary-latest-'))
      const logs = lmdbLogs({ folder })
      const log = await logs.open('t')
      const follower = await follow(log)
      for (const records of all) {
        await log.append(records)
        for (const { value } of records) value.fill(0)
      }
      await follower.until(all.flat().length)
      expect(follower.handed).toEqual(await readAll(log))
      await follower.stop()
      await logs.close()
      await rm(folder, { recursive: true })
    }),
    { numRuns: 30 },
  )
})

test('a flush too large to be kept is handed over all the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-latest-'))
  const logs = lmdbLogs({ folder })
  const log = await logs.open('t')
  const follower = await follow(log)
  await log.append(Array.from({ length: 2_500 }, (_, index) => ({ key: 'k', value: Buffer.from(String(index)) })))
  await log.append(Array.from({ length: 5 }, () => ({ key: 'k', value: Buffer.alloc(500_000) })))
  await follower.until(2_505)
  expect(follower.handed).toEqual(await readAll(log))
  await follower.stop()
  await logs.close()
  await rm(folder, { recursive: true })
})
