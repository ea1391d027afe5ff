import { join } from 'node:path'
import type { Units } from '../../processors/adapters/dynamodb/units.ts'
import type { LmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { type Founding, type KeyStore } from '../../processors/engine/ports/key-store.ts'
import type { BuildStorage } from '../../processors/engine/rebuild/rebuild.ts'
import type { SeriesStores } from '../../processors/engine/ports/series.ts'
import type { Stores } from '../../processors/engine/ports/store.ts'
import type { Domain } from '../../projections/projection.ts'
import type { TableSpec } from '../../projections/table.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Config, KafkaConfig } from '../config/config.ts'
import { keyFileIn } from './sealing.ts'
import { makeScratch, openEmbeddedLogs, openTables, type Scratch } from './embedded.ts'
import { openSeriesStores } from './series.ts'
import { embeddedBuildStorage, servicesBuildStorage } from './build-storage.ts'
import { keysGone } from '../../processors/engine/people/key-store-rules.ts'
import type { Logs } from '../../processors/engine/ports/log-admin.ts'

/** The implementations of the ports that the configuration selects. */
export interface Adapters {
  readonly logs: Logs & Partial<LmdbLogs>
  readonly stores: Stores
  readonly series: SeriesStores
  /** Opens a temporary local store. `fill` can write to the folder of the store before the store is opened. Default: the store is empty. */
  scratch(domain: Pick<Domain, 'table' | 'series'>, fill?: (folder: string) => Promise<void>): Promise<Scratch>
  /** The storage in which generations are built. */
  buildStorage(domain: Domain): BuildStorage
  /**
   * Opens the key store. `found` returns the first entry of a new key store. Without `found`, a missing key store is a fault.
   * `least`: the minimum size of the embedded key file, in bytes. A shorter file is a fault, because keys were lost.
   */
  keys(found?: () => Promise<Founding>, least?: number): Promise<KeyStore>
  /** The DynamoDB write units that this process used for a generation. Null if the store is embedded, or if this process has used none. */
  units(spec: TableSpec, generation: number): Units | null
  close(): Promise<void>
}

interface Storing {
  readonly stores: Stores
  readonly keys: Adapters['keys']
  readonly buildStorage: Adapters['buildStorage']
  readonly units: Adapters['units']
}

/** Opens the adapters. Loads only the modules that the configuration needs. */
export const openAdapters = async (config: Config): Promise<Adapters> => {
  const scratches = new Set<Scratch>()
  const scratch: Adapters['scratch'] = async (domain, fill) => {
    const made = await makeScratch(domain, fill)
    const remove = async (): Promise<void> => {
      scratches.delete(tracked)
      await made.remove()
    }
    const tracked = { ...made, remove }
    scratches.add(tracked)
    return tracked
  }
  const series = await openSeriesStores(config)
  const { stores, keys, buildStorage, units } =
    config.dynamodb === undefined ? await embeddedStores(config, series) : await dynamoStores(config, series)
  const logs = config.kafka === undefined ? await openEmbeddedLogs(config.data, 'write') : await kafkaLogs(config.kafka)
  const close = async (): Promise<void> => {
    await Promise.all([...scratches].map((each) => each.remove()))
    await logs.close()
    await series.close()
    await stores.close()
  }
  return { logs, stores, series, keys, scratch, buildStorage, units, close }
}

const embeddedStores = async (config: Config, series: SeriesStores): Promise<Storing> => {
  const { data } = config
  const stores = await openTables(join(data, 'tables'))
  const keys: Adapters['keys'] = async (found, least) => {
    const { openKeyFileStore } = await import('../../processors/adapters/key-file/store.ts')
    return openKeyFileStore({
      path: keyFileIn(data),
      mode: 'write',
      ...(found && { found }),
      ...(least !== undefined && { least }),
    })
  }
  return {
    stores,
    keys,
    buildStorage: (domain) => embeddedBuildStorage(config, domain, { tables: stores, series }),
    units: () => null,
  }
}

const dynamoStores = async (
  { data, dynamodb: connection, keyEncryptionKey }: Config,
  series: SeriesStores,
): Promise<Storing> => {
  const adapter = await import('../../processors/adapters/dynamodb/store.ts')
  const { addUnits, NO_UNITS } = await import('../../processors/adapters/dynamodb/units.ts')
  const spent = new Map<string, Units>()
  const { tableName } = await import('../../projections/table.ts')
  const stores = adapter.dynamoStores({
    ...connection,
    metrics: { units: (table, units) => spent.set(table, addUnits(spent.get(table) ?? NO_UNITS, units)) },
  })
  return {
    stores,
    keys: async (found) => {
      const { openKeyTable } = await import('../../processors/adapters/dynamodb/key-store.ts')
      const { KEYS_TABLE } = await import('../../processors/adapters/dynamodb/key-rows.ts')
      const { localWrapping, NO_WRAPPING } = await import('../../processors/adapters/dynamodb/wrap.ts')
      const store = await (found
        ? stores.create(KEYS_TABLE, 1)
        : stores
            .open(KEYS_TABLE, 1)
            .catch((error: unknown) =>
              Promise.reject(isFault(error, 'table-missing') ? keysGone(`table ${KEYS_TABLE.name}`) : error),
            ))
      return openKeyTable({
        store,
        wrapping: keyEncryptionKey === undefined ? NO_WRAPPING : localWrapping(keyEncryptionKey),
        ...(found && { found }),
      })
    },
    buildStorage: (domain) => servicesBuildStorage(data, domain, { stores, series }),
    units: (spec, generation) => spent.get(tableName(spec, generation)) ?? null,
  }
}

const kafkaLogs = async ({ brokers, partitions, ssl, sasl, sessionMs }: KafkaConfig): Promise<Logs> => {
  const adapter = await import('../../processors/adapters/kafka/logs.ts')
  return adapter.kafkaLogs({
    brokers,
    partitions,
    ssl,
    timing: { session: sessionMs },
    ...(sasl === undefined ? {} : { sasl }),
  })
}
