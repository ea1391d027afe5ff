import { describe, expect, test } from 'vitest'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import type { Generation } from '../../../../processors/engine/generations/generation.ts'
import { requestRetry, discard, type DiscardParts } from '../../../../processors/engine/poison/discard.ts'
import { historyOf } from '../../../../processors/engine/proof/history.ts'
import { createVerdicts, withVerdicts, type Verdicts } from '../../../../processors/engine/poison/verdicts.ts'
import { parkedInPartition, type StoredParked } from '../../../../processors/engine/poison/parked-entry.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import type { Store } from '../../../../processors/engine/ports/store.ts'
import { keyOf } from '../../../../projections/item.ts'
import type { BatchResult } from '../../../../processors/engine/run/tally.ts'
import type { Domain, Outcome, Projection } from '../../../../projections/projection.ts'
import type { Event } from '../../../../schemas/event.ts'
import { accountKey, eventOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog, type MemoryLog } from '../memory-log.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'
import { virtualClock } from '../virtual-clock.ts'

const broke = (id: string, key = 'a') => eventOf('Broke', {}, { id, key })
const clock = virtualClock()

/** The domain with a corrected fold of the event that throws in `ledger`. */
const mended: Domain = {
  ...ledger,
  projections: ledger.projections.map((each): Projection => ({
    ...each,
    folds: { ...each.folds, ...(each.name === 'accounts' ? { Broke: () => ({}) } : {}) },
  })),
}

interface World {
  readonly log: MemoryLog
  readonly store: MemoryStore
  readonly verdicts: Verdicts
}
const worldOf = (...events: readonly Event[]): World => ({
  log: memoryLog(events),
  store: memoryStore(),
  verdicts: createVerdicts(memoryStore()),
})

const start = ({ log, verdicts }: World, store: Store, domain = ledger) =>
  startProcessor({
    domain,
    generation: 1,
    log: withVerdicts(log, () => verdicts.list('ledger')),
    store,
    codec: jsonCodec,
    clock,
  })

const follow = async (world: World, domain = ledger) => {
  const running = await start(world, world.store, domain)
  await world.log.deliver()
  return running
}

const parked = ({ store }: Pick<World, 'store'>): Promise<readonly StoredParked[]> =>
  parkedInPartition(
    store.reader(() => 0),
    0,
  )
const theOne = async (world: World): Promise<StoredParked> => {
  const [entry, ...others] = await parked(world)
  expect(others).toEqual([])
  return entry as StoredParked
}
const totalOf = ({ store }: Pick<World, 'store'>, key = 'a') => store.items.get(keyOf(accountKey(key)))?.['total']

const discarding = ({ store, verdicts }: World, more: Partial<DiscardParts> = {}): DiscardParts => ({
  domain: ledger,
  verdicts,
  clock,
  serving: 1,
  control: { generations: async () => [{ generation: 1, state: 'following' } as Generation] },
  store: async () => store,
  ...more,
})
const why = { reason: 'a test event', by: 'ann' }

const itemsOf = ({ store }: Pick<World, 'store'>): readonly string[] =>
  store.dump().filter((item) => !item.includes('PARKED#'))

const rebuilt = async ({ log, verdicts }: World): Promise<{ store: MemoryStore }> => {
  const store = memoryStore()
  await build({
    domain: ledger,
    log: withVerdicts(log, () => verdicts.list('ledger')),
    codec: jsonCodec,
    target: memoryTarget(store),
    ends: new Map([[0, log.records.length]]),
  })
  return { store }
}

describe('an entry', () => {
  test('contains the number of waiting events and the time since which they wait, for any batches', async () => {
    const world = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'), paid(1, 'r', { key: 'b' }))
    await follow(world)
    expect(await theOne(world)).toMatchObject({
      key: 'a',
      offset: 1,
      projection: 'accounts',
      code: 'fold-threw',
      reason: 'this fold is broken',
      type: 'Broke',
      since: 1_000,
      waiting: 1,
    })
    world.log.add(paid(1, 's'), paid(1, 't'))
    await world.log.deliver()
    expect(await theOne(world)).toMatchObject({ offset: 1, waiting: 3, through: 5 })
    await world.log.deliver()
    expect(await theOne(world)).toMatchObject({ waiting: 3 })
    expect(await parked(await rebuilt(world))).toMatchObject([{ offset: 1, waiting: 3, through: 5, since: 1_000 }])
  })

  test('distinguishes the outcome of the event itself from those of the waiting events, in the same batch and later', async () => {
    const { log, store } = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'))
    const outcomes = new Map<number, Outcome | undefined>()
    const batchFolded = ({ exceptions }: BatchResult): void =>
      exceptions.forEach((outcome, offset) => outcomes.set(offset, outcome))
    await startProcessor({ domain: ledger, generation: 1, log, store, codec: jsonCodec, clock, batchFolded })
    await log.deliver()
    log.add(paid(1, 'r'))
    await log.deliver()
    expect([...outcomes]).toMatchObject([
      [1, { kind: 'parked', reason: 'this fold is broken' }],
      [2, { kind: 'parked', behind: true }],
      [3, { kind: 'parked', behind: true }],
    ])
    expect(outcomes.get(1)).not.toHaveProperty('behind')
  })

  test('keeps a bounded part of a long message', async () => {
    const world = worldOf(broke('b'))
    const shouting: Domain = {
      ...ledger,
      projections: [
        {
          name: 'accounts',
          folds: {
            Broke: () => {
              throw new Error('x'.repeat(1_000_000))
            },
          },
        },
      ],
    }
    await follow(world, shouting)
    const { reason, stack } = await theOne(world)
    expect([reason.length, stack.length]).toEqual([1_000, 4_000])
  })

  test('of an undecodable record counts the waiting records', async () => {
    const world = worldOf()
    await world.log.append([{ key: 'a', value: Buffer.from('{') }])
    world.log.add(paid(1, 'p'), paid(1, 'q'), paid(1, 'r', { key: 'b' }))
    await follow(world)
    expect(await theOne(world)).toMatchObject({ key: 'a', projection: '*', waiting: 2, since: 1_000 })
  })
})

describe('healing', () => {
  test('that is interrupted anywhere and repeated has the same result as without interruption', async () => {
    const events = [
      paid(5, 'p'),
      broke('b'),
      paid(1, 'q'),
      eventOf('Moved', { to: 'b', amount: 2 }, { id: 'm' }),
      paid(3, 's'),
    ]
    const whole = worldOf(...events)
    await follow(whole, mended)
    for (let cut = 1; ; cut += 1) {
      const world = worldOf(...events)
      await follow(world)
      await requestRetry(world.store, await theOne(world))
      let calls = 0
      const dying: Store = {
        ...world.store,
        commit: (spans, checkpoint) => {
          calls += 1
          if (calls > cut) return new Promise(() => undefined)
          return world.store.commit(spans, checkpoint)
        },
      }
      const first = await start(world, dying, mended)
      await world.log.deliver()
      const healed = await Promise.race([
        first.heal(),
        new Promise<'died'>((resolve) => setTimeout(() => resolve('died'), 20)),
      ])
      const second = await follow(world, mended)
      await second.heal()
      expect(await parked(world)).toEqual([])
      expect(itemsOf(world)).toEqual(itemsOf(whole))
      if (healed !== 'died') return
    }
  })

  test('leaves a tombstone, so a process that is behind does not park the key again', async () => {
    const world = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'))
    const zombie = memoryStore()
    await follow(world)
    await requestRetry(world.store, await theOne(world))
    const running = await follow(world, mended)
    expect(await running.heal()).toBe(1)
    // Simulates a process that is behind: it finds no checkpoint and no parked key, and commits without a checkpoint. So only the positions of
    // the items can reject its writes.
    const late: Store = {
      ...world.store,
      checkpoints: zombie.checkpoints,
      reader: zombie.reader,
      commit: (spans) => world.store.commit(spans),
    }
    await start(world, late)
    await world.log.deliver()
    expect(await parked(world)).toEqual([])
    expect(totalOf(world)).toBe(6)
  })

  test('of a key parked for all projections leaves each projection at its own parked event', async () => {
    const repaired: Domain = {
      ...ledger,
      projections: ledger.projections.map((each): Projection => ({
        ...each,
        folds: {
          ...each.folds,
          ...(each.name === 'accounts'
            ? {
                Broke: (event, get) => ({
                  items: [
                    {
                      ...accountKey(event.meta.key),
                      total: Number(get(accountKey(event.meta.key))?.['total'] ?? 0) * 10,
                    },
                  ],
                }),
              }
            : {}),
        },
      })),
    }
    const countOf = ({ store }: Pick<World, 'store'>) =>
      store.items.get(keyOf({ PK: 'ACTIVITY#a', SK: 'COUNT' }))?.['count']
    const world = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'))
    const running = await follow(world)
    await world.log.append([{ key: 'a', value: Buffer.from('{') }])
    world.log.add(paid(2, 'r'))
    await world.log.deliver()
    const [every, own] = (await parked(world)) as [StoredParked, StoredParked]
    expect([every, own]).toMatchObject([
      { projection: '*', offset: 3 },
      { projection: 'accounts', offset: 1 },
    ])

    await discard(discarding(world), every, why)
    expect(await running.heal()).toBe(1)
    expect(await theOne(world)).toMatchObject({ projection: 'accounts', offset: 1, through: 4 })
    expect([totalOf(world), countOf(world)]).toEqual([5, 3])

    await requestRetry(world.store, await theOne(world))
    expect(await (await follow(world, repaired)).heal()).toBe(1)
    expect(await parked(world)).toEqual([])
    expect([totalOf(world), countOf(world)]).toEqual([53, 3])
  })

  test('of a key with a later poison event parks the key at that event', async () => {
    const world = worldOf(broke('b'), paid(1, 'q'))
    await follow(world)
    await requestRetry(world.store, await theOne(world))
    await (await follow(world, mended)).heal()
    const again = worldOf()
    world.log.add(broke('c'), paid(1, 'r'))
    await follow({ ...again, log: world.log, store: world.store })
    expect(await theOne(world)).toMatchObject({ offset: 2, waiting: 1 })
  })
})

describe('a discard', () => {
  test('is recorded, and the key heals past the event, in every generation and rebuild', async () => {
    const world = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'))
    const running = await follow(world)
    await discard(discarding(world), await theOne(world), why)
    expect(await world.verdicts.list('ledger')).toMatchObject([
      { what: 'discarded', partition: 0, offset: 1, projection: 'accounts', key: 'a', ...why },
    ])
    expect(await running.heal()).toBe(1)
    expect(await parked(world)).toEqual([])
    expect(totalOf(world)).toBe(6)
    const again = await rebuilt(world)
    expect(itemsOf(again)).toEqual(itemsOf(world))
    expect(await parked(again)).toEqual([])
    const afresh = { ...world, store: memoryStore() }
    await follow(afresh)
    expect(itemsOf(afresh)).toEqual(itemsOf(world))
    const outcomes = []
    for await (const step of historyOf({
      domain: ledger,
      codec: jsonCodec,
      log: withVerdicts(world.log, () => world.verdicts.list('ledger')),
      key: 'a',
    }))
      outcomes.push(step.outcome.kind)
    expect(outcomes).toEqual(['applied', 'applied', 'applied'])
  })

  test('of an undecodable record, with a key or without', async () => {
    const world = worldOf()
    for (const key of ['a', null])
      world.log.records.push({
        partition: 0,
        offset: world.log.records.length,
        timestamp: 0,
        key,
        value: Buffer.from('{'),
      })
    world.log.add(paid(1, 'p'))
    const running = await follow(world)
    for (const entry of await parked(world)) await discard(discarding(world), entry, why)
    expect(await running.heal()).toBe(2)
    expect(await parked(world)).toEqual([])
    expect(totalOf(world)).toBe(1)
    expect(itemsOf(await rebuilt(world))).toEqual(itemsOf(world))
  })

  test('does not change the other projections, which have folded the event', async () => {
    const world = worldOf(paid(5, 'p'), paid(1, 'q'), paid(2, 'r'))
    const picky = {
      name: 'accounts',
      folds: {
        ...ledger.projections[0]?.folds,
        Paid: ((event, get) => {
          if (event.meta.eventId === 'event-q') throw new Error('not this one')
          return ledger.projections[0]?.folds['Paid']?.(event, get) ?? {}
        }) satisfies Projection['folds'][string],
      },
    }
    const domain: Domain = { ...ledger, projections: [picky, ledger.projections[1] as Projection] }
    const running = await follow(world, domain)
    await discard({ ...discarding(world), domain }, await theOne(world), why)
    await running.heal()
    expect(totalOf(world)).toBe(7)
    expect(world.store.items.get(keyOf({ PK: 'ACTIVITY#a', SK: 'COUNT' }))).toMatchObject({ count: 3 })
    const { store } = await rebuilt(world)
    expect(store.items.get(keyOf({ PK: 'ACTIVITY#a', SK: 'COUNT' }))).toMatchObject({ count: 3 })
  })

  test('that is interrupted anywhere can be repeated, and keeps its first record', async () => {
    for (let cut = 0; cut < 4; cut += 1) {
      const world = worldOf(paid(5, 'p'), broke('b'), paid(1, 'q'))
      const running = await follow(world)
      const entry = await theOne(world)
      let calls = 0
      const dying = async <T>(work: () => Promise<T>): Promise<T> => {
        if (calls++ === cut) throw new Error('the process died')
        return work()
      }
      const verdicts: Verdicts = {
        ...world.verdicts,
        put: (domain, mark) => dying(() => world.verdicts.put(domain, mark)),
      }
      const store = async () => ({
        ...world.store,
        commit: (...args: Parameters<Store['commit']>) => dying(() => world.store.commit(...args)),
      })
      await discard(discarding(world, { verdicts, store }), entry, why).catch(() => undefined)
      await running.heal()
      for (const left of await parked(world)) await discard(discarding(world), left, { reason: 'again', by: 'bob' })
      await running.heal()
      expect(await parked(world)).toEqual([])
      expect(totalOf(world)).toBe(6)
      expect(await world.verdicts.list('ledger')).toMatchObject([{ offset: 1, ...(cut < 2 ? { by: 'bob' } : why) }])
    }
  })

  test('is not healed before it is recorded, and refused while a retry is under way', async () => {
    const world = worldOf(broke('b'), paid(1, 'q'))
    const running = await follow(world)
    const entry = await theOne(world)
    const verdicts: Verdicts = {
      ...world.verdicts,
      put: async () => {
        expect(await running.heal()).toBe(0)
        await expect(requestRetry(world.store, entry)).rejects.toMatchObject({ code: 'parked-busy' })
      },
    }
    await discard(discarding(world, { verdicts }), entry, why)
    expect(await theOne(world)).toMatchObject({ retry: true, discarding: false })
    await expect(discard(discarding(world), entry, why)).rejects.toMatchObject({ code: 'parked-busy' })
  })

  test('is refused while a generation is built, or if another generation has folded the event already', async () => {
    const world = worldOf(broke('b'), paid(1, 'q'))
    await follow(world)
    const entry = await theOne(world)
    const generations = (state: Generation['state']) => ({
      generations: async () => [
        { generation: 1, state: 'following' } as Generation,
        { generation: 2, state } as Generation,
      ],
    })
    await expect(discard(discarding(world, { control: generations('building') }), entry, why)).rejects.toMatchObject({
      code: 'rebuild-running',
    })
    const newer = { ...world, store: memoryStore() }
    const store = async (generation: number) => (generation === 1 ? world.store : newer.store)
    await follow(newer, mended)
    await expect(
      discard(discarding(world, { control: generations('following'), store }), entry, why),
    ).rejects.toMatchObject({ code: 'discard-applied' })
    expect(await world.verdicts.list('ledger')).toEqual([])
    expect(await theOne(world)).not.toHaveProperty('discarding', true)
  })
})
