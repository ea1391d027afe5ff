// A child process of complete-file.test.ts: makes random writes to a log and to several tables, and random removals from the tables. The seed decides
// the writes. Prints a line after each round. Ends after the last round, or when it is killed.
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from '../../processors/engine/generations/control.ts'
import { connectionsTable } from '../../producers/scales/connections.ts'
import { seeded } from '../seeded.ts'
import { counters } from '../processors/adapters/lmdb/counting.ts'

const [folder = '', seed = '1', rounds = '10'] = process.argv.slice(2)
const random = seeded(Number(seed))

const logs = lmdbLogs({ folder: `${folder}/log` })
const log = await logs.open('events')
const stores = lmdbStores({ folder: `${folder}/tables` })
const tables = await Promise.all(
  [counters, connectionsTable, CONTROL_TABLE, LEDGER_TABLE].map((spec) => stores.create(spec, 1)),
)

for (let round = 0; round < Number(rounds); round += 1) {
  const size = [10, 300, 5_000, 60_000][random(4)] as number
  await log.append(
    Array.from({ length: 1 + random(30) }, () => ({
      key: `key-${random(9)}`,
      value: Buffer.alloc(random(size), random(256)),
    })),
  )
  for (const table of tables) {
    const isRemoval = random(2) === 0
    const commits = Array.from({ length: random(120) }, () => {
      const key = { PK: `key-${random(200)}`, SK: 'X' }
      const found = table.peek(key)
      if (isRemoval && found !== undefined) return table.commit([[[{ remove: key, expect: found._pos }]]])
      return table.commit([
        [
          [
            {
              put: { ...key, all: 'all', count: `${random(1_000)}`, text: 'x'.repeat(random(size)), _pos: round },
              expect: found?._pos ?? null,
            },
          ],
        ],
      ])
    })
    await Promise.all(commits)
    if (random(3) === 0) await table.sync()
    if (random(25) === 0) await table.scrub?.()
  }
  process.stdout.write(`${round}\n`)
}
await stores.close()
await logs.close()
