import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import type { Log, LogRecord } from '../../../../processors/engine/ports/log.ts'

const plain = ({ value, ...rest }: LogRecord) => ({ ...rest, value: Buffer.from(value).toString('hex') })

const readAll = async (log: Log): Promise<readonly unknown[]> => {
  const records: LogRecord[] = []
  for await (const page of log.read(0, 0)) records.push(...page)
  return records.map(plain)
}

/** Subscribes to a topic from its start. `until` resolves when the subscriber has received the given number of records. */
const subscribe = async (log: Log) => {
  const received: unknown[] = []
  let check = (): void => {}
  const subscription = await log.subscribe('g', {
    assigned: async () => 0,
    batch: async (records) => {
      received.push(...records.map(plain))
      check()
    },
    revoked: () => {},
    failed: (error) => {
      throw error
    },
  })
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      check = () => {
        if (received.length >= count) resolve()
      }
      check()
    })
  return { received, until, stop: () => subscription.stop() }
}

const record = fc.record({
  key: fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom('ä', '🥣', 'a\uD800')),
  value: fc.uint8Array({ maxLength: 400 }),
})
const flushes = fc.array(fc.array(record, { minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 4 })

test('a subscriber receives the same records as a reader, even if callers reuse their value buffers after an append', async () => {
  await fc.assert(
    fc.asyncProperty(flushes, async (all) => {
      const folder = await mkdtemp(join(tmpdir(), 'tributary-latest-'))
      const logs = lmdbLogs({ folder })
      const log = await logs.open('t')
      const subscriber = await subscribe(log)
      for (const records of all) {
        await log.append(records)
        for (const { value } of records) value.fill(0)
      }
      await subscriber.until(all.flat().length)
      expect(subscriber.received).toEqual(await readAll(log))
      await subscriber.stop()
      await logs.close()
      await rm(folder, { recursive: true })
    }),
    { numRuns: 30 },
  )
})

test('a subscriber also receives a flush that is too large for the memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-latest-'))
  const logs = lmdbLogs({ folder })
  const log = await logs.open('t')
  const subscriber = await subscribe(log)
  await log.append(Array.from({ length: 2_500 }, (_, index) => ({ key: 'k', value: Buffer.from(String(index)) })))
  await log.append(Array.from({ length: 5 }, () => ({ key: 'k', value: Buffer.alloc(500_000) })))
  await subscriber.until(2_505)
  expect(subscriber.received).toEqual(await readAll(log))
  await subscriber.stop()
  await logs.close()
  await rm(folder, { recursive: true })
})
