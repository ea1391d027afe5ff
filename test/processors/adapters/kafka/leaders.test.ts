import { Kafka, type Admin } from 'kafkajs'
import { afterEach, expect, test, vi } from 'vitest'
import { createAdmin, type LogAdmin } from '../../../../processors/adapters/kafka/admin.ts'
import { settingsOf } from '../../../../processors/adapters/kafka/options.ts'
import { isFault } from '../../../../schemas/fault.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** An admin over a client of kafkajs whose metadata does not contain the topic for the first `failures` calls. */
function adminAfter(failures: number): { admin: LogAdmin; calls(): number; now(): number } {
  let now = 0
  let calls = 0
  const client: Partial<Admin> = {
    connect: async () => {},
    disconnect: async () => {},
    fetchTopicOffsets: async () => {
      if (++calls <= failures)
        throw new TypeError("Cannot destructure property 'partitions' of 'high.pop(...)' as it is undefined.")
      return [{ partition: 0, offset: '7', high: '7', low: '2' }]
    },
  }
  vi.spyOn(Kafka.prototype, 'admin').mockImplementation(() => client as Admin)
  const settings = settingsOf({
    brokers: ['127.0.0.1:1'],
    clock: {
      now: () => now,
      sleep: async (ms) => {
        now += ms
      },
    },
  })
  const metadata = {
    topic: async () => ({ cluster: 'c', topic: 't', partitions: 1, ready: true }),
    close: async () => {},
  }
  return { admin: createAdmin(settings, metadata), calls: () => calls, now: () => now }
}

test('watermarks are read again if the metadata of kafkajs does not contain the topic', async () => {
  expect(await adminAfter(2).admin.watermarks('events')).toEqual([{ partition: 0, low: 2, high: 7 }])
})

test('a start waits for leaders that do not answer yet', async () => {
  const { admin, calls } = adminAfter(20)
  await admin.prepareTopic('events', { exists: true })
  expect(calls()).toBe(21)
})

test('a start without leaders fails with a retriable fault after 30 s', async () => {
  const { admin, now } = adminAfter(Infinity)
  const error: unknown = await admin.prepareTopic('events', { exists: true }).catch((reason: unknown) => reason)
  expect(isFault(error, 'log-unavailable') && error.retriable).toBe(true)
  expect(String(error)).toContain('Topic events has no leaders yet')
  expect(now()).toBeGreaterThanOrEqual(30_000)
})
