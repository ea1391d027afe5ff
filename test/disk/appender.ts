// A child process of durability.test.ts: appends records, folds them into a store, and prints the acknowledged records, until it is killed.
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { seeded } from '../seeded.ts'
import { counters, fold } from '../processors/adapters/lmdb/counting.ts'

const [folder = '', seed = '1'] = process.argv.slice(2)
const random = seeded(Number(seed))

const log = await lmdbLogs({ folder: `${folder}/log` }).open('events')
const store = await lmdbStores({ folder: `${folder}/tables` }).create(counters, 1)
await log.subscribe('counting', {
  assigned: async () => (await store.checkpoints()).get(0) ?? 0,
  batch: async (records) => {
    await fold(store, records)
    // The store gathers commits in memory. Without this sync, a short run would not write them, and no kill would happen during such a write.
    if (random(2) === 0) await store.sync()
  },
  revoked: () => undefined,
  failed: (error) => console.error(error),
})

const append = async (writer: number): Promise<void> => {
  for (let round = 0; ; round++) {
    const records = Array.from({ length: 1 + random(40) }, (_, index) => ({
      key: `key-${random(12)}`,
      value: Buffer.from(`${process.pid}/${writer}/${round}/${index}/${'x'.repeat(random(600))}`),
    }))
    const positions = await log.append(records)
    const lines = positions.map(
      ({ offset }, index) => `${offset} ${records[index]?.key} ${records[index]?.value.toString()}\n`,
    )
    process.stdout.write(lines.join(''))
  }
}
await Promise.all(Array.from({ length: 8 }, (_, writer) => append(writer)))
