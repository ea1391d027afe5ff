import { expect, test } from 'vitest'
import { createControl } from '../../../../processors/engine/generations/control.ts'
import { timerKey } from '../../../../processors/engine/outgoing/keys.ts'
import { createSending } from '../../../../processors/engine/run/sending.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { eventOf, jsonCodec, ledger } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { virtualClock } from '../virtual-clock.ts'

test('a commit that arms a due timer wakes the timers at once; a timer that is due later wakes nothing', async () => {
  const [clock, log, store, sent] = [virtualClock(), memoryLog(), memoryStore(), memoryStore()]
  const control = createControl({ store: memoryStore(), now: clock.now })
  await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 }, async () => {})
  const sending = createSending(
    {
      domain: ledger,
      control,
      codec: jsonCodec,
      clock,
      processName: 'p',
      ledger: sent,
      observer: {
        batchFolded: () => undefined,
        parked: () => undefined,
        failed: (_, error) => expect.fail(String(error)),
      },
      paces: { senderMs: 60_000, timersMs: 60_000, fetcherMs: 60_000, refreshMs: 60_000, healMs: 60_000 },
    },
    { log, partitions: 1, generation: async () => ({ generation: 1, store }) },
  )
  sending.start('timers')
  await clock.pass(0)
  const at = clock.now()
  const value = Buffer.from(jsonCodec.encode(eventOf('Closed', {}, { id: 'timer' }))).toString('base64')
  await store.bulk([{ ...timerKey(0, { at, key: 'a', name: 'close' }), id: 'timer', key: 'a', value, _pos: 0 }])

  sending.wake({ timers: at + 1 })
  await clock.pass(0)
  expect(log.records).toEqual([])
  sending.wake({ timers: at })
  await clock.pass(0)
  expect(log.records).toMatchObject([{ key: 'a' }])
  await Promise.all([sending.stop(), clock.pass(60_000)])
})
