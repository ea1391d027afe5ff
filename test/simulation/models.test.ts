import { setImmediate as nextTurn } from 'node:timers/promises'
import { keyStoreContract } from '../contracts/key-store.ts'
import { logContract } from '../contracts/log.ts'
import { seriesContract } from '../contracts/series.ts'
import { storeContract } from '../contracts/store.ts'
import { Fault } from '../../schemas/fault.ts'
import { tableMissing } from '../../processors/engine/rows/store-faults.ts'
import { createCoordinator } from '../../simulation/group-model.ts'
import { createKeyTable, keyStoreFor, type KeyTable } from '../../simulation/keys-model.ts'
import { createTopic, logFor, type Topic } from '../../simulation/log-model.ts'
import { createRandom } from '../../simulation/random.ts'
import { createScheduler } from '../../simulation/scheduler.ts'
import { createSeriesTables, seriesFor } from '../../simulation/series-model.ts'
import { createTable, storeFor, type Table } from '../../simulation/store-model.ts'
import type { Logs } from '../../processors/engine/ports/log-admin.ts'

/** A world without faults. In it the models must pass the same contract tests as the adapters, so that the simulation is valid for the adapters. */
const calmWorld = () => {
  const scheduler = createScheduler({ seed: 1, faults: () => undefined, start: Date.UTC(2026, 0, 5) })
  const random = createRandom(1)
  let over = false
  const steps = async () => {
    while (!over) {
      await scheduler.run(() => over, 1_000)
      await nextTurn()
    }
  }
  const running = steps()
  const end = async () => {
    over = true
    await running
  }
  return { scheduler, random, process: scheduler.spawn('a', 1, true), end }
}

for (const embedded of [true, false]) {
  storeContract(`the simulation's ${embedded ? 'embedded store' : 'table'}`, async () => {
    const world = calmWorld()
    const tables = new Map<string, Table>()
    const named = (name: string, generation: number) => `${name}.${generation}`
    return {
      stores: {
        open: async (spec, generation) => {
          const table = tables.get(named(spec.name, generation))
          if (table === undefined) throw tableMissing(named(spec.name, generation))
          return storeFor(world, world.process, table)
        },
        create: async (spec, generation) => {
          const name = named(spec.name, generation)
          const table = tables.get(name) ?? createTable(spec, embedded)
          tables.set(name, table)
          return storeFor(world, world.process, table)
        },
        drop: async (spec, generation) => void tables.delete(named(spec.name, generation)),
        measure: async (spec, generation) =>
          tables.has(named(spec.name, generation))
            ? { items: tables.get(named(spec.name, generation))?.items.size ?? 0, bytes: 0 }
            : undefined,
        close: async () => undefined,
      },
      cleanup: world.end,
    }
  })
}

for (const embedded of [true, false]) {
  seriesContract(`the simulation's ${embedded ? 'embedded series' : 'series'}`, async () => {
    const world = calmWorld()
    const tables = createSeriesTables(embedded)
    return {
      stores: {
        open: (spec, generation) => seriesFor(world.scheduler, world.process, tables.of(spec, generation)),
        drop: async (spec, generation) => tables.drop(spec, generation),
        close: async () => undefined,
      },
      start: Date.UTC(2026, 0, 5),
      cleanup: world.end,
    }
  })
}

keyStoreContract("the simulation's keys", async () => {
  const world = calmWorld()
  let table: KeyTable | undefined
  return {
    open: async (found) => {
      if (table === undefined && found === undefined)
        throw new Fault('key-store-gone', 'There is no simulated key store.')
      table ??= createKeyTable(true, await found?.())
      return keyStoreFor(world.scheduler, world.process, table)
    },
    cleanup: world.end,
  }
})

logContract("the simulation's brokers", async () => {
  const world = calmWorld()
  const coordinator = createCoordinator({ ...world, batch: 50 })
  const topics = new Map<string, Topic>()
  const logs: Logs = {
    open: async (name, expected) => {
      if (expected !== undefined && (expected.topic !== name || expected.cluster !== 'simulated'))
        throw new Fault('topic-recreated', 'This is another topic than the one kept.')
      const topic = topics.get(name) ?? createTopic(name, 3)
      topics.set(name, topic)
      return logFor({ scheduler: world.scheduler, coordinator }, world.process, topic)
    },
    close: async () => undefined,
  }
  return {
    logs,
    cleanup: world.end,
    reopen: async () => logs,
    trim: async (name, partition, before) => void topics.get(name)?.lows.splice(partition, 1, before),
  }
})
