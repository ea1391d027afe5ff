import { expect, test } from 'vitest'
import { systemClock } from '../../../../processors/adapters/system-clock.ts'
import { createControl } from '../../../../processors/engine/generations/control.ts'
import { flip } from '../../../../processors/engine/generations/flip.ts'
import { SENDABLE_MS } from '../../../../processors/engine/outgoing/ledger.ts'
import { replacedEvenIfLost } from '../../../../processors/engine/generations/lost.ts'
import { rebuild } from '../../../../processors/engine/rebuild/rebuild.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { eventOf, jsonCodec, ledger } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'

test.each([
  {
    sends: 'everything since the lost one began to serve',
    parked: new Map<string, number>(),
    offsets: [4, 5],
    omitted: 0,
  },
  {
    sends: 'the events of a key that was parked in the lost generation',
    parked: new Map([['accounts#a', 2]]),
    offsets: [2, 3, 4, 5],
    omitted: 0,
  },
  {
    sends: 'no event that was recorded so long ago that the ledger may have forgotten it, and counts these events',
    parked: new Map([['accounts#a', 2]]),
    // The event at offset n was recorded at n seconds.
    now: SENDABLE_MS + 5_000,
    offsets: [5],
    omitted: 3,
  },
])(
  'the generation that replaces a lost one is folded to the end of the log, and sends $sends',
  async ({ parked, offsets, omitted, now = 6_000 }) => {
    const log = memoryLog()
    log.add(
      ...Array.from({ length: 6 }, (_, index) =>
        eventOf('Moved', { to: 'b', amount: 1 }, { id: `m${index}`, at: index * 1_000 }),
      ),
    )
    const control = createControl({ store: memoryStore(), now: systemClock.now })
    await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 }, async () => {})
    const stores = new Map<number, MemoryStore>()
    const opened = (generation: number) => {
      const store = stores.get(generation) ?? memoryStore()
      stores.set(generation, store)
      return store
    }
    const storage = {
      place: 'here',
      lock: async () => ({ release: async () => undefined }),
      discard: async () => undefined,
      open: async (generation: number) => memoryTarget(opened(generation)),
    }
    const served = memoryStore()
    await served.setCheckpoint(4)
    await rebuild({
      domain: ledger,
      log,
      codec: jsonCodec,
      clock: systemClock,
      control,
      served,
      holder: 'one',
      storage,
    })
    await control.flip(
      ledger.name,
      { generation: 2, from: new Map([[0, 4]]), parked },
      (await control.serving(ledger.name)).version,
    )

    const missing = async () => Promise.reject(new Fault('table-missing', 'It is gone.', { retriable: true }))
    const replaced = await rebuild({
      domain: ledger,
      log,
      codec: jsonCodec,
      clock: systemClock,
      control,
      served: replacedEvenIfLost(missing, { domain: ledger, log, control, clock: { now: () => now } }),
      holder: 'two',
      storage,
    })
    expect(replaced.omitted).toBe(omitted)
    const { generation } = replaced
    const built = opened(generation)
    expect(await built.checkpoints()).toEqual(new Map([[0, 6]]))
    expect([...built.items.values()].filter(({ PK }) => PK.startsWith('OUTBOX#')).map(({ _pos }) => _pos)).toEqual(
      offsets,
    )

    await flip({
      domain: ledger.name,
      foldVersion: 1,
      control,
      log,
      admin: { isFollowed: async () => false },
      clock: systemClock,
      to: generation,
      store: async (number) => (number === generation ? built : missing()),
      timeoutMs: 1_000,
      acceptUnfollowed: true,
    })
    expect(await control.serving(ledger.name)).toMatchObject({ generation, from: new Map([[0, 4]]), parked })
  },
)
