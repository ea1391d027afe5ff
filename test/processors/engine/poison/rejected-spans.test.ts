import { describe, expect, test } from 'vitest'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import { parkedIn } from '../../../../processors/engine/poison/parked-entry.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import { keyOf, type Item } from '../../../../projections/item.ts'
import { projection, type Domain } from '../../../../projections/projection.ts'
import type { Event } from '../../../../schemas/event.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { STORABLE_SPEC, unstorable } from '../../../contracts/store-limits.ts'
import { jsonPacking } from '../../../../simulation/json-packing.ts'
import { eventOf, jsonCodec } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'
import { virtualClock } from '../virtual-clock.ts'
import { RejectedSpans, type Store } from '../../../../processors/engine/ports/store.ts'

type Written = Event<'Written', { text: string }>

/** A domain whose events contain a name. Each event writes `items[name]`, or a small item if there is none, and the item LAST of its key. */
const domainOf = (items: Readonly<Record<string, Item>>): Domain => ({
  name: 'ledger',
  topic: 'ledger.events',
  table: { ...STORABLE_SPEC, indexes: STORABLE_SPEC.indexes },
  // The items that no store accepts belong to key a.
  partitions: { keyIn: (pk) => (pk.startsWith('KEY#') ? pk.slice('KEY#'.length) : 'a'), example: 'KEY#a' },
  foldVersion: 1,
  projections: [
    projection<Written>('notes', {
      Written: ({ meta, data }) => {
        const { _pos, ...item } = (items[data.text] ?? { PK: `KEY#${meta.key}`, SK: `ITEM#${data.text}` }) as Item & {
          _pos?: number
        }
        return { items: [{ PK: `KEY#${meta.key}`, SK: 'LAST', text: data.text }, item] }
      },
    }),
  ],
})

const written = (text: string, key: string): Event => ({
  ...eventOf('Closed', {}, { id: `${key}-${text}`, key }),
  type: 'Written',
  data: { text },
})
/** The event of the bad item is the third of key a. Events of key b are before and after it. */
const events = [
  written('1', 'a'),
  written('1', 'b'),
  written('2', 'a'),
  written('bad', 'a'),
  written('2', 'b'),
  written('4', 'a'),
  written('3', 'b'),
]

const summary = async (store: Store) =>
  (await parkedIn(store, [0])).map(({ code, key, offset, through, waiting, projection: name }) => ({
    code,
    key,
    offset,
    through,
    waiting,
    name,
  }))
const lastOf = (store: { readonly items: ReadonlyMap<string, Item> }, key: string) =>
  store.items.get(keyOf({ PK: `KEY#${key}`, SK: 'LAST' }))?.['text']

const live = async (domain: Domain, wrap: (store: Store) => Store = (store) => store) => {
  const [log, store] = [memoryLog(events), memoryStore()]
  await startProcessor({ domain, generation: 1, log, store: wrap(store), codec: jsonCodec, clock: virtualClock() })
  await log.deliver()
  return store
}

const built = async (domain: Domain) => {
  const [log, store] = [memoryLog(events), memoryStore()]
  await build({
    domain,
    log,
    codec: jsonCodec,
    target: memoryTarget(store, jsonPacking()),
    ends: new Map([[0, events.length]]),
  })
  return store
}

describe('an item that no store accepts parks its key', () => {
  test.each(unstorable)(
    '%s: the same result live and in a rebuild, and no other key is parked',
    async (_, item, code) => {
      const domain = domainOf({ bad: item })
      const stores = [
        await live(domain),
        await live(domain, (store) => ({
          ...store,
          peek: (key) => (store as ReturnType<typeof memoryStore>).items.get(keyOf(key)),
        })),
        await built(domain),
      ]
      for (const store of stores) {
        expect(await summary(store)).toEqual([{ code, key: 'a', offset: 3, through: 6, waiting: 1, name: 'notes' }])
        expect([lastOf(store, 'a'), lastOf(store, 'b')]).toEqual(['2', '3'])
        expect(await store.checkpoints()).toEqual(new Map([[0, 7]]))
      }
    },
  )
})

describe('an item that only the store rejects parks its key', () => {
  /** Rejects items that the rules of the engine accept, like a service with another limit. */
  const rejecting = (store: Store): Store => ({
    ...store,
    commit: async (spans, checkpoint) => {
      const isBad = (span: (typeof spans)[number]) => JSON.stringify(span).includes('ITEM#bad')
      const rejected = new Map(
        [...spans.entries()]
          .filter(([, span]) => isBad(span))
          .map(([index]) => [index, new Fault('item-rejected', 'The service rejects it.')]),
      )
      if (rejected.size === 0) return store.commit(spans, checkpoint)
      await store.commit(spans.filter((span) => !isBad(span)))
      throw new RejectedSpans(rejected)
    },
  })

  test('at the event that the store rejects alone; the events before it and other keys are folded', async () => {
    const store = await live(domainOf({}), rejecting)
    expect(await summary(store)).toEqual([
      { code: 'item-rejected', key: 'a', offset: 3, through: 6, waiting: 1, name: 'notes' },
    ])
    expect([lastOf(store, 'a'), lastOf(store, 'b')]).toEqual(['2', '3'])
    expect(await store.checkpoints()).toEqual(new Map([[0, 7]]))
  })

  test('with a store that accepts each event alone, but no two together, nothing is lost and the checkpoint moves', async () => {
    const offsets: number[] = []
    const store = await live(domainOf({}), (inner) => ({
      ...inner,
      commit: async (spans, checkpoint) => {
        const together = [...spans.entries()].filter(([, span]) => JSON.stringify(span).split('ITEM#').length > 2)
        if (together.length > 0)
          throw new RejectedSpans(
            new Map(together.map(([index]) => [index, new Fault('item-rejected', 'The service takes one at a time.')])),
          )
        if (checkpoint !== undefined) offsets.push(checkpoint.offset)
        return inner.commit(spans, checkpoint)
      },
    }))
    expect(await summary(store)).toEqual([])
    expect([lastOf(store, 'a'), lastOf(store, 'b')]).toEqual(['4', '3'])
    expect(offsets.at(-1)).toBe(7)
    expect(await store.checkpoints()).toEqual(new Map([[0, 7]]))
  })
})

test('a log key that is too long for an item key is parked under its hash', async () => {
  const long = 'k'.repeat(3_000)
  const [log, store] = [memoryLog([written('1', long), written('2', long), written('1', 'b')]), memoryStore()]
  await startProcessor({ domain: domainOf({}), generation: 1, log, store, codec: jsonCodec, clock: virtualClock() })
  await log.deliver()
  log.add(written('3', long), written('2', 'b'))
  await log.deliver()
  expect(await parkedIn(store, [0])).toMatchObject([
    { key: long, offset: 0, waiting: 2, SK: expect.stringMatching(/^notes#sha256:[0-9a-f]{64}$/) as string },
  ])
  expect(lastOf(store, 'b')).toBe('2')
  const [again, target] = [memoryLog(), memoryStore()]
  again.records.push(...log.records)
  await build({
    domain: domainOf({}),
    log: again,
    codec: jsonCodec,
    target: memoryTarget(target, jsonPacking()),
    ends: new Map([[0, 5]]),
  })
  expect(await summary(target)).toEqual(await summary(store))
})
