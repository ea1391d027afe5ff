import { describe, expect, test } from 'vitest'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import { parkedIn } from '../../../../processors/engine/poison/parked-entry.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import type { Store } from '../../../../processors/engine/ports/store.ts'
import { keyOf, type Item, type Key } from '../../../../projections/item.ts'
import { projection, removed, type Domain, type Get, type Result } from '../../../../projections/projection.ts'
import type { Event } from '../../../../schemas/event.ts'
import { jsonPacking } from '../../../../simulation/json-packing.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { eventOf, jsonCodec } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryTarget } from '../memory-target.ts'
import { virtualClock } from '../virtual-clock.ts'

/** The ways in which a fold uses an item. The name of a box does not determine the log key of its owner; the partition of a key does. */
const USES = {
  packs: ({ meta, data }: Used): Result => ({ items: [{ ...boxKey(data.box), owner: meta.key }] }),
  'reads a box': ({ data }: Used, get: Get): Result => ({
    refusal: { code: String(get(boxKey(data.box))), detail: '' },
  }),
  'removes a box': ({ data }: Used): Result => ({ items: [removed(boxKey(data.box))] }),
  'gives a box away': ({ data }: Used): Result => ({ items: [{ ...boxKey(data.box), owner: 'b' }] }),
  'forgets the owner of a box': ({ data }: Used): Result => ({ items: [boxKey(data.box)] }),
  'reads in a partition': (_: Used, get: Get): Result => ({ refusal: { code: String(get(noteKey('b'))), detail: '' } }),
  'writes in a partition': (): Result => ({ items: [noteKey('b')] }),
  'removes in a partition': (): Result => ({ items: [removed(noteKey('b'))] }),
}
type Use = keyof typeof USES
type Used = Event<'Used', { readonly use: Use; readonly box: string }>

const boxKey = (box: string): Key => ({ PK: `BOX#${box}`, SK: 'BOX' })
const noteKey = (key: string): Key => ({ PK: `KEY#${key}`, SK: 'NOTE' })

const boxes: Domain = {
  name: 'boxes',
  topic: 'boxes.events',
  table: { name: 'boxes', ttl: 'ttl', indexes: [] },
  partitions: {
    keyIn: (pk, item) => (pk.startsWith('KEY#') ? pk.slice('KEY#'.length) : (item?.['owner'] as string | undefined)),
    example: 'KEY#a',
  },
  foldVersion: 1,
  projections: [projection<Used>('boxes', { Used: (event, get) => USES[event.data.use](event, get) })],
}

const used = (key: string, use: Use, box = 'blue'): Event => ({
  ...eventOf('Closed', {}, { id: `${key} ${use} ${box}`, key }),
  type: 'Used',
  data: { use, box },
})

const live = async (events: readonly Event[], stored: readonly Item[] = []): Promise<MemoryStore> => {
  const [log, store] = [memoryLog(events.slice(0, 1)), memoryStore()]
  for (const item of stored) store.items.set(keyOf(item), { _pos: 1_000, ...item })
  await startProcessor({ domain: boxes, generation: 1, log, store, codec: jsonCodec, clock: virtualClock() })
  // In two batches, because the events of different keys in one batch do not read the items of each other.
  await log.deliver()
  log.add(...events.slice(1))
  await log.deliver()
  return store
}

const built = async (events: readonly Event[]): Promise<MemoryStore> => {
  const store = memoryStore()
  const ends = new Map([[0, events.length]])
  const target = memoryTarget(store, jsonPacking())
  await build({ domain: boxes, log: memoryLog(events), codec: jsonCodec, target, ends })
  return store
}

const parked = async (store: Store) =>
  (await parkedIn(store, [0])).map(({ code, key, offset, reason }) => ({ code, key, offset, reason }))

const FOREIGN: readonly (readonly [use: Use, reason: RegExp])[] = [
  ['packs', /uses the item BOX#blue BOX of the log key "b" for an event of the log key "a"/],
  ['reads a box', /uses the item BOX#blue BOX of the log key "b"/],
  ['removes a box', /uses the item BOX#blue BOX of the log key "b"/],
  ['reads in a partition', /uses the item KEY#b NOTE of the log key "b"/],
  ['writes in a partition', /uses the item KEY#b NOTE of the log key "b"/],
  ['removes in a partition', /uses the item KEY#b NOTE of the log key "b"/],
]

describe('a fold that uses an item of another log key', () => {
  test.each(FOREIGN)(
    'and %s: its key is parked, live and in a rebuild, and the other key continues',
    async (use, reason) => {
      const events = [used('b', 'packs'), used('a', use), used('b', 'packs', 'red')]
      for (const store of [await live(events), await built(events)]) {
        expect(await parked(store)).toEqual([
          { code: 'foreign-item', key: 'a', offset: 1, reason: expect.stringMatching(reason) as string },
        ])
        expect(store.items.get(keyOf(boxKey('blue')))).toMatchObject({ owner: 'b', _pos: 0 })
        expect(store.items.get(keyOf(boxKey('red')))).toMatchObject({ owner: 'b', _pos: 2 })
      }
    },
  )

  test.each<[Use, RegExp]>([
    ['gives a box away', /of the log key "b" for an event of the log key "a"/],
    ['forgets the owner of a box', /of no known log key for an event of the log key "a"/],
  ])('and %s: its key is parked', async (use, reason) => {
    const events = [used('a', 'packs'), used('a', use)]
    for (const store of [await live(events), await built(events)])
      expect(await parked(store)).toMatchObject([
        { code: 'foreign-item', offset: 1, reason: expect.stringMatching(reason) as string },
      ])
  })

  test.each<Use>(['packs', 'reads a box', 'removes a box'])(
    'and %s: the event is parked, and not skipped, although the position of the item is later than the event',
    async (use) => {
      const expired = { ...boxKey('blue'), owner: 'b', ttl: 1 }
      for (const item of [{ ...boxKey('blue'), owner: 'b' }, expired])
        expect(await parked(await live([used('a', use)], [item]))).toMatchObject([{ code: 'foreign-item', offset: 0 }])
    },
  )

  test('is not found in items of its own log key, or in items that do not exist', async () => {
    const events = [used('b', 'reads in a partition'), used('b', 'writes in a partition'), used('b', 'removes a box')]
    const more = [used('a', 'packs'), used('a', 'packs'), used('a', 'reads a box'), used('a', 'removes a box')]
    for (const store of [await live([...events, ...more]), await built([...events, ...more])])
      expect(await parked(store)).toEqual([])
  })
})
