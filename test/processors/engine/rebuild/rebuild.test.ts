import { expect, test } from 'vitest'
import { createControl, type Control } from '../../../../processors/engine/generations/control.ts'
import { rebuild, type RebuildParts, type BuildStorage } from '../../../../processors/engine/rebuild/rebuild.ts'
import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import { keyOf } from '../../../../projections/item.ts'
import type { Event } from '../../../../schemas/event.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'
import { systemClock } from '../../../../processors/adapters/system-clock.ts'

const events: readonly Event[] = Array.from({ length: 60 }, (_, index) =>
  paid(1 + (index % 5), `p${index}`, { key: `k${index % 7}` }),
)
const records: readonly LogRecord[] = events.map((event, offset) => ({
  partition: 0,
  offset,
  timestamp: 0,
  key: event.meta.key,
  value: jsonCodec.encode(event),
}))

const log: RebuildParts['log'] = {
  read: async function* (_, from, to = records.length) {
    for (let at = from; at < to; at += 4) yield records.slice(at, Math.min(at + 4, to))
  },
  watermarks: async () => [{ partition: 0, low: 0, high: records.length }],
}

/** The storage of builds on one machine: stores and locks by generation, in memory. */
const storageAt = (place = 'here') => {
  const stores = new Map<number, MemoryStore>()
  const locked = new Set<number>()
  const storage: BuildStorage = {
    place,
    lock: async (generation) => {
      if (locked.has(generation)) return undefined
      locked.add(generation)
      return { release: async () => void locked.delete(generation) }
    },
    discard: async (generation) => void stores.delete(generation),
    open: async (generation) => {
      const store = stores.get(generation) ?? memoryStore()
      stores.set(generation, store)
      return memoryTarget(store)
    },
  }
  return { storage, stores, locked }
}

const opened = async (place?: string) => {
  const control = createControl({ store: memoryStore(), now: systemClock.now })
  await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 }, async () => {})
  const served = memoryStore()
  await served.setCheckpoint(records.length)
  const made = storageAt(place)
  const parts = (rest: Partial<RebuildParts> = {}): RebuildParts => ({
    domain: ledger,
    log,
    codec: jsonCodec,
    clock: systemClock,
    control,
    served,
    holder: 'one',
    storage: made.storage,
    ...rest,
  })
  return { control, parts, ...made }
}

const stateOf = async (control: Control, generation: number) =>
  (await control.generations('ledger')).find((each) => each.generation === generation)?.state

/** Options of a build that stop it after `at` folded events. */
const cut = (at: number) => {
  const stopping = new AbortController()
  return {
    signal: stopping.signal,
    progress: ({ done }: { readonly done: number }) => done >= at && stopping.abort(),
    writesPerSecond: 1_000_000,
  }
}

test('existing files with the number of a new generation are not used for it', async () => {
  const { parts, storage, stores } = await opened()
  const left = await storage.open(2)
  await left.write([{ PK: 'LEFT', SK: 'OVER', _pos: 3 }], [], new Map([[0, records.length]]))
  expect(await rebuild(parts())).toMatchObject({ generation: 2, events: records.length })
  expect(await stores.get(2)?.load([{ PK: 'LEFT', SK: 'OVER' }])).toEqual([undefined])
})

test('a build that was stopped in the middle is resumed, and equals an undisturbed one', async () => {
  const whole = await opened()
  expect(await rebuild(whole.parts())).toMatchObject({ generation: 2, events: 60, parked: [] })
  const { control, parts, stores, locked } = await opened()
  await expect(rebuild(parts(cut(20)))).rejects.toThrow('aborted')
  expect(await stateOf(control, 2)).toBe('building')
  expect((await control.generations('ledger')).filter(({ lease }) => lease !== undefined)).toEqual([])
  expect(locked.size).toBe(0)
  expect(await rebuild(parts({ holder: 'two', resume: 2 }))).toMatchObject({ generation: 2 })
  expect(await stateOf(control, 2)).toBe('following')
  expect(stores.get(2)?.dump()).toEqual(whole.stores.get(2)?.dump())
  expect(await stores.get(2)?.checkpoints()).toEqual(new Map([[0, 60]]))
})

test('a build whose process died is resumed at once on its machine, and refused while the process lives', async () => {
  const { control, parts, storage } = await opened()
  await control.begin(ledger, { holder: 'dead', place: 'here' })
  const alive = await storage.lock(2)
  await expect(rebuild(parts({ resume: 2 }))).rejects.toMatchObject({ code: 'rebuild-running' })
  await alive?.release()
  expect(await rebuild(parts({ resume: 2 }))).toMatchObject({ generation: 2, events: 60 })
})

test('a generation that is half-built on another machine is not resumed here', async () => {
  const there = await opened('there')
  await expect(rebuild(there.parts(cut(20)))).rejects.toThrow('aborted')
  const { storage } = storageAt('here')
  await expect(rebuild(there.parts({ storage, resume: 2 }))).rejects.toMatchObject({
    code: 'build-elsewhere',
    message: expect.stringContaining('there'),
  })
  expect((await there.control.generations('ledger')).filter(({ lease }) => lease !== undefined)).toEqual([])
})

test('an interrupted copy continues after the copied items, and the checkpoints are written last', async () => {
  const { parts, storage } = await opened()
  const table = memoryStore()
  const written: string[] = []
  const bulk: MemoryStore['bulk'] = async (items, pace) => {
    for await (const item of items) written.push(keyOf(item))
    await table.bulk(items, pace)
  }
  const failing = {
    ...storage,
    copyTo: async () => ({ ...table, bulk: () => Promise.reject(new Error('the table is away')) }),
  }
  await expect(rebuild(parts({ storage: failing }))).rejects.toThrow('away')
  expect(await table.checkpoints()).toEqual(new Map())
  expect(
    await rebuild(parts({ resume: 2, storage: { ...storage, copyTo: async () => ({ ...table, bulk }) } })),
  ).toMatchObject({ generation: 2, events: 0 })
  expect(new Set(written).size).toBe(written.length)
  expect(table.items.size).toBe(written.length)
  expect(await table.checkpoints()).toEqual(new Map([[0, 60]]))
})

test('a build of a trimmed log fails and lists no generation; a build that folded the removed events before is finished', async () => {
  const { control, parts, storage } = await opened()
  const trimmed: RebuildParts['log'] = {
    ...log,
    read: async function* (partition, from, to) {
      if (from < 8) throw new Fault('log-trimmed', 'Gone.')
      yield* log.read(partition, from, to)
    },
    watermarks: async () => [{ partition: 0, low: 8, high: records.length }],
  }
  await expect(rebuild(parts({ log: trimmed }))).rejects.toMatchObject({ code: 'log-trimmed' })
  expect(await control.generations('ledger')).toHaveLength(1)
  await expect(rebuild(parts(cut(20)))).rejects.toThrow('aborted')
  await expect(rebuild(parts({ log: trimmed, resume: 2 }))).rejects.toMatchObject({ code: 'log-trimmed' })
  await (await storage.open(2)).write([], [], new Map([[0, 20]]))
  expect(await rebuild(parts({ log: trimmed, resume: 2 }))).toMatchObject({ generation: 2 })
})
