import { expect, test } from 'vitest'
import { systemClock } from '../../../processors/adapters/system-clock.ts'
import { build } from '../../../processors/engine/rebuild/build.ts'
import { historyOf } from '../../../processors/engine/proof/history.ts'
import { startProcessor } from '../../../processors/engine/run/processor.ts'
import { verify } from '../../../processors/engine/proof/verify.ts'
import { meals } from '../../../processors/meals/domain.ts'
import { openCodec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { memoryLog } from '../engine/memory-log.ts'
import { memoryStore } from '../../../testing/memory-store.ts'
import { memoryTarget } from '../engine/memory-target.ts'

const meta = {
  eventId: 'r1',
  key: 'ada',
  occurredAt: 1_000,
  recordedAt: 1_000,
  source: 'api',
  correlationId: null,
  causationId: null,
  actorId: null,
  subjectId: null,
  request: null,
}
/** An event of a type that no file declares any more. Only the lock contains its schema. */
const retired: Event = {
  type: 'SummariesRebuilt',
  meta,
  data: { generation: 2, events: 4_000_000, checksum: 'abc' },
  personal: null,
}

test('an event of a retired type changes nothing, live, in a build, in a history and in a verification', async () => {
  const [codec, log, store, target] = [openCodec(), memoryLog(), memoryStore(), memoryTarget(memoryStore())]
  await log.append([{ key: 'ada', value: codec.encode(retired) }])
  const ends = new Map([[0, 1]])

  const processor = await startProcessor({ domain: meals, generation: 1, log, store, codec, clock: systemClock })
  await log.deliver()
  await processor.stop()
  expect([...store.items.values()]).toEqual([])
  expect(await store.checkpoints()).toEqual(ends)

  expect(await build({ domain: meals, log, codec, target, ends })).toMatchObject({ events: 1, parked: [] })
  const told = []
  for await (const each of historyOf({ domain: meals, codec, log, key: 'ada' })) told.push(each)
  expect(told).toMatchObject([
    { logged: { event: { type: 'SummariesRebuilt' } }, outcome: { kind: 'applied' }, changes: [] },
  ])
  expect(
    await verify({ domain: meals, log, codec, store, clock: systemClock, scratch: memoryTarget(memoryStore()) }),
  ).toMatchObject({ items: 0, differences: [], moving: 0 })
})
