import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyFileStore } from '../processors/adapters/key-file/store.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { createKeyring, type Keyring } from '../processors/engine/keyring.ts'
import { openKnownKeys, type Founding, type KeyStore } from '../processors/engine/key-store.ts'
import type { Logs } from '../processors/engine/log.ts'
import type { Store } from '../processors/engine/store.ts'
import type { Domain } from '../projections/projection.ts'
import { openCodec, type Codec } from '../schemas/codec.ts'
import type { Adapters } from './adapters.ts'

/** The keys of a process: where they are kept, and those in memory. */
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
  /** Whether a key store may be begun. */
  readonly founds: boolean
}

export const openKeys = async ({ adapters, control, domains, founds }: KeysParts): Promise<Keys> => {
  const store = await openKnownKeys(control, { open: (found, least) => adapters.keys(found, least), ...(founds && { found: () => foundingOf(adapters.logs, domains) }) })
  return { store, ring: createKeyring(store, { now: systemClock.now }) }
}

/** What lies in the logs already was written plain: from before there were keys. */
const foundingOf = async (logs: Logs, domains: readonly Domain[]): Promise<Founding> => {
  const ends = await Promise.all(domains.map(async ({ name, topic }) => [name, await (await logs.open(topic)).watermarks()] as const))
  return {
    id: randomUUID(),
    plainBefore: Object.fromEntries(ends.map(([name, marks]) => [name, marks.filter(({ high }) => high > 0).map(({ partition, high }) => ({ partition, offset: high }))])),
  }
}

/** For a process that folds the embedded log beside the one that holds the folder: keys are read, never made. */
export const codecBeside = async (data: string, { name }: Domain): Promise<Codec> => {
  const path = keyFileIn(data)
  if (!existsSync(path)) return openCodec()
  const store = await openKeyFileStore({ path, mode: 'read' })
  return openCodec({ sealing: createKeyring(store, { now: systemClock.now }).sealing(name) })
}
