import { CONTROL_TABLE, createControl, LEDGER_TABLE, type Control } from '../processors/engine/generations/control.ts'
import type { Keyring } from '../processors/engine/people/keyring.ts'
import { createVerdicts, type Verdicts } from '../processors/engine/poison/verdicts.ts'
import type { Clock } from '../processors/engine/ports/clock.ts'
import type { KeyStore } from '../processors/engine/ports/key-store.ts'
import type { Series, SeriesStores } from '../processors/engine/ports/series.ts'
import { tableMissing } from '../processors/engine/rows/store-faults.ts'
import type { Store, Stores } from '../processors/engine/ports/store.ts'
import type { Domain } from '../projections/projection.ts'
import type { TableSpec } from '../projections/table.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Bug, BugContext } from './bug.ts'
import type { Coordinator } from './group-model.ts'
import { codecOver, createKeyTable, keyStoreFor, readingCodec, createRing, type KeyTable } from './keys-model.ts'
import { logFor, type Topic } from './log-model.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { seriesFor, type SeriesTable, type SeriesTables } from './series-model.ts'
import { storeFor, type Table } from './store-model.ts'
import type { Tables } from './tables.ts'
import type { Workload } from './workload.ts'
import type { Logs } from '../processors/engine/ports/log-admin.ts'
import type { OpenTopic } from '../processors/engine/ports/log-admin.ts'

/** The ports of one process. */
export interface Ports {
  readonly domain: Domain
  readonly clock: Clock
  readonly logs: Logs
  readonly log: OpenTopic
  readonly stores: Stores
  readonly series: SeriesStores
  readonly ledger: Store
  readonly control: Control
  readonly verdicts: Verdicts
  readonly keys: { readonly store: KeyStore; readonly ring: Keyring }
  readonly codec: Codec
}

export interface WorldPorts {
  /** Returns the log of the process, without the planted bug. */
  log(process: Process): OpenTopic
  /** Returns the store of a table for the process, without the planted bug. */
  store(process: Process, table: Table): Store
  clock(process: Process): Clock
  /** Returns the codec of the process, without the planted bug. */
  codec(process: Process): Codec
  /** Returns a codec that reads the log with the keys that are not destroyed. */
  reading(): Codec
  /** The keys and secrets of people. */
  readonly keyTable: KeyTable
  /** Returns the ports of a node or an operator, with the planted bug (if any). Default of `domain`: the workload's own domain. */
  ports(process: Process, domain?: Domain): Ports
}

export interface WorldPortsParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly workload: Workload
  readonly embedded: boolean
  readonly bug: Bug
  readonly topic: Topic
  readonly tables: Tables
  readonly series: SeriesTables
  readonly coordinator: Coordinator
}

export const createPorts = (parts: WorldPortsParts): WorldPorts => {
  const { scheduler, random, workload, bug, topic, tables, series, coordinator } = parts
  const keyPorts = createKeyPorts(parts)
  const log = (process: Process) => logFor({ scheduler, coordinator }, process, topic)
  const store = (process: Process, table: Table) => storeFor({ scheduler, random }, process, table)
  const clock = (process: Process): Clock => clockFor(scheduler, process)

  const ports = (process: Process, domain = workload.domain): Ports => {
    const context = (table: Table): BugContext => ({ table, tables, topic, random, process })
    const withBug = <T>(wrap: ((part: T, context: BugContext) => T) | undefined, part: T, table: Table): T =>
      wrap?.(part, context(table)) ?? part
    const [ledgerTable, controlTable] = [tables.of(LEDGER_TABLE, 1), tables.of(CONTROL_TABLE, 1)]
    const wrapped = {
      log: withBug(bug.log, log(process), ledgerTable),
      clock: withBug(bug.clock, clock(process), ledgerTable),
    }
    const keys = keyPorts.open(withBug(bug.keys, keyPorts.store(process), ledgerTable))
    return {
      ...wrapped,
      keys,
      codec: keyPorts.codec(keys),
      domain: withBug(bug.domain, domain, ledgerTable),
      logs: { open: async () => wrapped.log, close: async () => undefined },
      stores: storesOf(
        (spec, generation) =>
          withBug(bug.store, store(process, tables.of(spec, generation)), tables.of(spec, generation)),
        tables,
      ),
      series: seriesOf(series, (table) => seriesFor(scheduler, process, table), bug.series),
      ledger: withBug(bug.ledger, store(process, ledgerTable), ledgerTable),
      control: withBug(
        bug.control,
        createControl({ store: store(process, controlTable), now: wrapped.clock.now }),
        controlTable,
      ),
      // In the simulation, processes often die while they fold healthy events, so the crash guard is off. crash-guard.test.ts tests the crash guard.
      verdicts: { ...createVerdicts(store(process, controlTable)), attempts: undefined },
    }
  }
  return {
    log,
    store,
    clock,
    codec: (process) => keyPorts.codec(keyPorts.open(keyPorts.store(process))),
    reading: keyPorts.reading,
    keyTable: keyPorts.keyTable,
    ports,
  }
}

/** The keys of people, and the codecs that use them. */
const createKeyPorts = ({ scheduler, workload, embedded }: WorldPortsParts) => {
  const keyTable = createKeyTable(embedded)
  // An embedded program has one process with one keyring. The simulation opens several keyrings for it, so an eviction applies to all of them.
  const rings: Keyring[] = []
  return {
    keyTable,
    store: (process: Process): KeyStore => keyStoreFor(scheduler, process, keyTable),
    open: (store: KeyStore): Ports['keys'] => {
      const ring = createRing(store, () => scheduler.now())
      rings.push(ring)
      return {
        store,
        ring: embedded ? { ...ring, evict: (subject) => rings.forEach((each) => each.evict(subject)) } : ring,
      }
    },
    codec: ({ ring }: Ports['keys']): Codec =>
      workload.isSealed ? codecOver(ring.sealing(workload.domain.name), workload.domain) : workload.codec,
    reading: (): Codec => (workload.isSealed ? readingCodec(keyTable, workload.domain) : workload.codec),
  }
}

const clockFor = (scheduler: Scheduler, process: Process): Clock => ({
  now: () => scheduler.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      scheduler.later(ms, wake, process)
    }),
})

const storesOf = (open: (spec: TableSpec, generation: number) => Store, tables: Tables): Stores => ({
  open: async (spec, generation) => {
    if (!tables.isThere(spec, generation)) throw tableMissing(`generation ${generation} of the simulated ${spec.name}`)
    return open(spec, generation)
  },
  create: async (spec, generation) => open(spec, generation),
  drop: async (spec, generation) => tables.drop(spec, generation),
  measure: async () => undefined,
  close: async () => undefined,
})

const seriesOf = (
  tables: SeriesTables,
  sound: (table: SeriesTable) => Series,
  broken: Bug['series'] = (series) => series,
): SeriesStores => ({
  open: (spec, generation) => {
    const table = tables.of(spec, generation)
    return broken(sound(table), { table, other: (number) => sound(tables.of(spec, number)) })
  },
  drop: async (spec, generation) => tables.drop(spec, generation),
  close: async () => undefined,
})
