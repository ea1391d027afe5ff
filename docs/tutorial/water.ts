import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { startProcessor } from '../../processors/engine/run/processor.ts'
import type { Item } from '../../projections/item.ts'
import { openCodec } from '../../schemas/codec.ts'
import { readSchemas } from '../../schemas/sources.ts'
import { plantKey, plants } from './plants.ts'

/** Waters a fern three times through the real log, engine and store, and answers its item. */
export const water = async (folder: string): Promise<Item | undefined> => {
  const codec = openCodec({ schemas: readSchemas(new URL('./plants.avdl', import.meta.url)) })
  const logs = lmdbLogs({ folder })
  const stores = lmdbStores({ folder })
  const log = await logs.open(plants.topic)
  const store = await stores.create(plants.table, 1)
  const processor = await startProcessor({ domain: plants, generation: 1, log, store, codec, clock: systemClock })

  for (const [index, millilitres] of [200, 150, 5_000].entries()) {
    const at = Date.UTC(2026, 10, 16, 8 + index)
    const meta = {
      eventId: `watering-${index}`,
      key: 'fern',
      occurredAt: at,
      recordedAt: at,
      source: 'tutorial',
      correlationId: null,
      causationId: null,
      actorId: null,
      subjectId: null,
      request: null,
    }
    await log.append([
      { key: 'fern', value: codec.encode({ type: 'PlantWatered', meta, data: { millilitres }, personal: null }) },
    ])
  }

  await processor.caughtUp()
  const fern = await store.reader(systemClock.now).get(plantKey('fern'))
  await processor.stop()
  await stores.close()
  await logs.close()
  return fern
}
