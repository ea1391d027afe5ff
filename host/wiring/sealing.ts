import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyFileStore } from '../../processors/adapters/key-file/store.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { createKeyring, type Keyring } from '../../processors/engine/people/keyring.ts'
import { type Founding, type KeyStore } from '../../processors/engine/ports/key-store.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import type { Domain } from '../../projections/projection.ts'
import { openCodec, type Codec } from '../../schemas/codec.ts'
import type { Adapters } from './adapters.ts'
import { openKnownKeys } from '../../processors/engine/people/known-keys.ts'
import type { Logs } from '../../processors/engine/ports/log-admin.ts'

/** The keys of people: the store, and the keys that this process has in memory. */
export interface Keys {
  readonly store: KeyStore
  readonly ring: Keyring
}

export const KEY_FILE = 'people.jsonl'
export const keyFileIn = (data: string): string => join(data, 'keys', KEY_FILE)

export interface KeysParts {
  readonly adapters: Pick<Adapters, 'keys' | 'logs'>
  readonly control: Store
  readonly domains: readonly Domain[]
  /** True: a missing key store is created. False: a missing key store is a fault. */
  readonly canCreate: boolean
}

export const openKeys = async ({ adapters, control, domains, canCreate }: KeysParts): Promise<Keys> => {
  const store = await openKnownKeys(control, {
    open: (found, least) => adapters.keys(found, least),
    ...(canCreate && { found: () => foundingOf(adapters.logs, domains) }),
  })
  return { store, ring: createKeyring(store, { now: systemClock.now }) }
}

/**
 * Returns the first entry of a new key store. It contains the ends of all logs. Events before these ends are older than the key store, so
 * their personal data is not encrypted.
 */
const foundingOf = async (logs: Logs, domains: readonly Domain[]): Promise<Founding> => {
  const ends = await Promise.all(
    domains.map(async ({ name, topic }) => [name, await (await logs.open(topic)).watermarks()] as const),
  )
  return {
    id: randomUUID(),
    plainBefore: Object.fromEntries(
      ends.map(([name, marks]) => [
        name,
        marks.filter(({ high }) => high > 0).map(({ partition, high }) => ({ partition, offset: high })),
      ]),
    ),
  }
}

/** The codec for a process that reads the embedded log next to its server. This codec reads the keys of people and never creates a key. */
export const openReadingCodec = async (data: string, { name, schemas: folder }: Domain): Promise<Codec> => {
  const path = keyFileIn(data)
  if (!existsSync(path)) return openCodec({ folder })
  const store = await openKeyFileStore({ path, mode: 'read' })
  return openCodec({ sealing: createKeyring(store, { now: systemClock.now }).sealing(name), folder })
}
