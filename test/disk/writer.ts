// A child process of power-loss.test.ts under the disk observer: writes through the embedded adapters and reports each acknowledged write.
import { hash } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyFileStore } from '../../processors/adapters/key-file/store.ts'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from '../../processors/engine/generations/control.ts'
import { seeded } from '../seeded.ts'
import { FOUNDING, TABLE, TOPIC, type Ack } from './acknowledgements.ts'

const [folder = '', seed = '1', rounds = '10'] = process.argv.slice(2)
const random = seeded(Number(seed))

const acks = openSync(process.env['DISK_ACKS'] ?? '', 'a')
/** Reports an acknowledgement with a single write call, so that the trace has one entry per acknowledgement. */
const acknowledge = (ack: Ack): void => void writeSync(acks, `${JSON.stringify(ack)}\n`)

const logs = lmdbLogs({ folder: join(folder, 'log') })
const stores = lmdbStores({ folder: join(folder, 'tables') })
const log = await logs.open(TOPIC)
acknowledge({ what: 'topic', id: (await log.identity()).topic })
const durable = await Promise.all(
  [CONTROL_TABLE, LEDGER_TABLE].map(async (spec) => ({ table: spec.name, store: await stores.create(spec, 1) })),
)
const items = await stores.create(TABLE, 1)
const keys = await openKeyFileStore({
  path: join(folder, 'keys', 'people.jsonl'),
  mode: 'write',
  found: async () => FOUNDING,
})
acknowledge({ what: 'founding' })

const append = async (): Promise<void> => {
  const records = Array.from({ length: 1 + random(30) }, () => ({
    key: `key-${random(9)}`,
    value: Buffer.from('x'.repeat(1 + random(900))),
  }))
  const positions = await log.append(records)
  acknowledge({
    what: 'events',
    records: positions.map(({ offset }, index) => [
      offset,
      records[index]?.key ?? '',
      records[index]?.value.length ?? 0,
    ]),
  })
}
let row = 0
const commit = async (): Promise<void> => {
  const { table, store } = durable[random(durable.length)] ?? (durable[0] as (typeof durable)[number])
  const put = { PK: 'ROW', SK: String((row += 1)), _pos: row, text: 'y'.repeat(random(2_000)) }
  await store.commit([[[{ put, expect: null }]]])
  acknowledge({ what: 'row', table, sk: put.SK, length: put.text.length })
}
let people = 0
const createKey = async (): Promise<void> => {
  const subject = `person-${(people += 1)}`
  await keys.ensureKeys(new Map([[subject, [{ domain: 'meals', key: subject }]]]))
  const [person] = await keys.load([subject])
  const secret = Buffer.from(person?.key?.bytes ?? []).toString('hex')
  acknowledge({ what: 'key', subject, secret })
  if (random(3) > 0) return
  await keys.step(subject, 'destroyed')
  acknowledge({ what: 'destroyed', subject, secret })
}
const versions = new Map<string, number>()
const replaceSecret = async (): Promise<void> => {
  const subject = `holder-${random(3)}`
  const expect = versions.get(subject) ?? 0
  versions.set(subject, expect + 1)
  // The value has no part twice, so that each part shows which version it is from.
  const value = [1, 2, 3, 4].map((part) => hash('sha256', `${subject} ${expect} ${part}`, 'hex')).join('')
  await keys.secrets.write(subject, 'token', { expect, value })
  acknowledge({ what: 'secret', subject, version: expect + 1, value })
}
let checkpoint = 0
/** Folds the log into an item. After a power loss the item can be behind the log, and must not be ahead of it. */
const fold = async (): Promise<void> => {
  const high = (await log.watermarks())[0]?.high ?? 0
  const id = { PK: 'COUNT', SK: 'COUNT' }
  const expect = (await items.load([id]))[0]?._pos ?? null
  if (high > checkpoint)
    await items.commit([[[{ put: { ...id, _pos: high - 1, count: high }, expect }]]], {
      partition: 0,
      from: checkpoint,
      offset: (checkpoint = high),
    })
  if (random(2) === 0) await items.sync()
}

const actions = [append, append, commit, commit, createKey, replaceSecret, replaceSecret, fold]
for (let round = 0; round < Number(rounds); round += 1) {
  if (round === Math.floor(Number(rounds) / 2)) acknowledge({ what: 'together' })
  if (round < Math.floor(Number(rounds) / 2)) await actions[round % actions.length]?.()
  else await Promise.all([append(), append(), commit(), commit(), createKey(), replaceSecret(), fold()])
}
await Promise.all([logs.close(), stores.close(), keys.close()])
