import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyFileStore } from '../../processors/adapters/key-file/store.ts'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from '../../processors/engine/generations/control.ts'
import { messageOf } from '../../schemas/fault.ts'
import { all } from '../contracts/log-records.ts'
import { FOUNDING, TABLE, TOPIC, type Ack } from './acknowledgements.ts'

type AckOf<W extends Ack['what']> = Extract<Ack, { what: W }>

/** Returns one line per acknowledged write that is not in the folder. Opens only files to which an acknowledged write belongs. */
export const findLostWrites = async (folder: string, acks: readonly Ack[]): Promise<readonly string[]> => {
  const acksOf = <W extends Ack['what']>(what: W) => acks.filter((ack): ack is AckOf<W> => ack.what === what)
  const checks = [
    acksOf('topic').length > 0
      ? checkLog(folder, { topic: acksOf('topic')[0] as AckOf<'topic'>, events: acksOf('events') })
      : [],
    ...[CONTROL_TABLE, LEDGER_TABLE].map(({ name }) =>
      checkRows(
        folder,
        name,
        acksOf('row').filter(({ table }) => table === name),
      ),
    ),
    acksOf('founding').length > 0
      ? checkKeys(folder, { keys: acksOf('key'), destroyed: acksOf('destroyed'), secrets: acksOf('secret') })
      : [],
  ]
  return (
    await Promise.all(
      checks.map((check) =>
        Promise.resolve(check).catch((error: unknown) => [`cannot be opened: ${messageOf(error)}`]),
      ),
    )
  ).flat()
}

const checkLog = async (
  folder: string,
  { topic, events }: { topic: AckOf<'topic'>; events: readonly AckOf<'events'>[] },
): Promise<readonly string[]> => {
  const logs = lmdbLogs({ folder: join(folder, 'log') })
  const stores = lmdbStores({ folder: join(folder, 'tables') })
  try {
    const log = await logs.open(TOPIC)
    const found = new Map(
      (await all(log.read(0, 0))).map(({ offset, key, value }) => [offset, `${key} ${value.length}`]),
    )
    const lost = events
      .flatMap(({ records }) => records)
      .filter(([offset, key, length]) => found.get(offset) !== `${key} ${length}`)
    // A power loss before the table was created is harmless: the next start creates it.
    const items = await stores.create(TABLE, 1)
    const ahead = (await items.checkpoints()).get(0) ?? 0
    const counted = Number((await items.load([{ PK: 'COUNT', SK: 'COUNT' }]))[0]?.['count'] ?? 0)
    return [
      ...((await log.identity()).topic === topic.id ? [] : ['the topic has another id']),
      ...lost.map(([offset]) => `event ${offset} was acknowledged and is not in the log`),
      ...(ahead > found.size || counted !== ahead
        ? [`the items count ${counted}, their checkpoint is ${ahead}, the log ends at ${found.size}`]
        : []),
    ]
  } finally {
    await Promise.all([logs.close(), stores.close()])
  }
}

const checkRows = async (folder: string, name: string, rows: readonly AckOf<'row'>[]): Promise<readonly string[]> => {
  if (rows.length === 0) return []
  const stores = lmdbStores({ folder: join(folder, 'tables') })
  try {
    const store = await stores.open({ name, ttl: 'ttl', indexes: [] }, 1)
    const found = await store.load(rows.map(({ sk }) => ({ PK: 'ROW', SK: sk })))
    return rows
      .filter(
        ({ length }, index) =>
          String(found[index]?.['text'] ?? '-').length !== Math.max(length, found[index] === undefined ? -1 : 0),
      )
      .map(({ sk }) => `row ${sk} of ${name} was acknowledged and is not there`)
  } finally {
    await stores.close()
  }
}

const checkKeys = async (
  folder: string,
  {
    keys,
    destroyed,
    secrets,
  }: { keys: readonly AckOf<'key'>[]; destroyed: readonly AckOf<'destroyed'>[]; secrets: readonly AckOf<'secret'>[] },
): Promise<readonly string[]> => {
  const path = join(folder, 'keys', 'people.jsonl')
  const text = readFileSync(path, 'utf8')
  const store = await openKeyFileStore({ path, mode: 'write' })
  const people = await store.load(keys.map(({ subject }) => subject))
  const newest = new Map(secrets.map((ack) => [ack.subject, ack]))
  const stored = new Map(
    await Promise.all(
      [...newest.keys()].map(async (subject) => [subject, await store.secrets.read(subject, 'token')] as const),
    ),
  )
  await store.close()
  const withoutKey = new Set(destroyed.map(({ subject }) => subject))
  const secretOf = (index: number) => people[index]?.key && Buffer.from(people[index].key.bytes).toString('hex')
  return [
    ...(store.founding.id === FOUNDING.id ? [] : ['the key store has another id']),
    ...keys
      .filter(
        ({ subject, secret }, index) =>
          !withoutKey.has(subject) && people[index]?.forgetting !== true && secretOf(index) !== secret,
      )
      .map(({ subject }) => `the key of ${subject} was acknowledged and is not there`),
    ...destroyed
      .filter(({ secret }) => text.includes(secret))
      .map(({ subject }) => `the key of ${subject} was destroyed and is still on the disk`),
    ...[...newest.values()]
      .filter(({ subject, version, value }) => {
        const found = stored.get(subject)
        return found === undefined || found.version < version || (found.version === version && found.value !== value)
      })
      .map(({ subject }) => `the secret of ${subject} was acknowledged and is not there`),
    ...secrets
      .filter((ack) => newest.get(ack.subject) !== ack && partsOf(ack.value).some((part) => text.includes(part)))
      .map(({ subject, version }) => `version ${version} of the secret of ${subject} is still on the disk`),
  ]
}

/** Parts of the text of a secret in the key file. */
const partsOf = (value: string): readonly string[] => Buffer.from(value).toString('base64').match(/.{24}/g) ?? []
