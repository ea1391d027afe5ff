import fc from 'fast-check'
import { expect } from 'vitest'
import { advance } from '../../processors/engine/fold/advance.ts'
import { decidersOf, type Decider } from '../../processors/engine/fold/decide.ts'
import type { KeySpan } from '../../processors/engine/fold/span.ts'
import { requireStorable } from '../../processors/engine/rows/storable.ts'
import { canonical, isTombstone, type Item, type Stored } from '../../projections/item.ts'
import type { Result } from '../../projections/projection.ts'
import { engineRefusals, kindOf } from '../../projections/refusal.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import { typeOf } from '../../schemas/sources.ts'
import { memoryStore, type MemoryStore } from '../memory-store.ts'
import { foldsOf, type Table } from '../folds.ts'
import { edgeOf } from '../edge/edge.ts'
import { propertyRuns } from '../property-runs.ts'
import { foldedTypes, type Rule } from './case.ts'
import { foldDrawn } from './drawn.ts'
import { anyEvents, foldedSchemas, histories, ownTypes } from './events.ts'
import { isBookkeeping } from '../../processors/engine/generations/bookkeeping.ts'
import { rowRulesOf } from '../../processors/engine/outgoing/row-rules.ts'

/** Returns a text with every item in canonical form and order, without its position. Two tables with equal items have the same text. */
const bytes = (table: Table): string =>
  [...table.values()]
    .map(({ _pos, ...item }) => canonical(item as Item))
    .sort()
    .join('\n')

const byKey = <T>(list: readonly T[], keyOf: (member: T) => string): ReadonlyMap<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const member of list) groups.set(keyOf(member), [...(groups.get(keyOf(member)) ?? []), member])
  return groups
}

const everyEventIsFolded: Rule = (subject) => {
  const folded = foldedTypes(subject.record.domain)
  const described = new Set(foldedSchemas(subject).map(typeOf))
  expect(
    ownTypes(subject).filter((type) => !folded.has(type)),
    'events without a fold',
  ).toEqual([])
  expect(
    [...folded].filter((type) => !described.has(type)),
    'folds without a schema',
  ).toEqual([])
}

/**
 * Rule: no event makes a fold throw or break a law. `foldDrawn` checks this. The laws: only one projection writes an item, an event writes only
 * items of its log key, a result contains each item once, and a refusal changes nothing. An event that changes items that leave no tombstone
 * also changes another item.
 */
const isTotal: Rule = (subject) => {
  const { domain } = subject.record
  const fold = foldDrawn(domain)
  fc.assert(
    fc.property(histories(subject), anyEvents(subject), (history, any) => {
      const table: Table = new Map()
      for (const [position, event] of [...history, ...any].entries()) {
        for (const { items = [] } of fold(table, event, position)) {
          for (const item of items) requireStorable(domain.table, item)
          const leavesNone = items.filter((item) => domain.withoutTombstone?.(item) === true)
          if (leavesNone.length > 0)
            expect(leavesNone.length, 'items that leave no tombstone').toBeLessThan(items.length)
        }
      }
    }),
    propertyRuns(150),
  )
}

const repeatsItself: Rule = (subject) => {
  const { foldInto } = foldsOf(subject.record.domain)
  fc.assert(
    fc.property(histories(subject), (events) => {
      const [first, second]: [Table, Table] = [new Map(), new Map()]
      for (const [position, event] of events.entries())
        expect(foldInto(first, event, position)).toEqual(foldInto(second, event, position))
      expect(bytes(first)).toBe(bytes(second))
    }),
    propertyRuns(50),
  )
}

const hasChanges = ({ items = [], derived = [] }: Result): boolean => items.length + derived.length > 0

const repeatsChangeNothing: Rule = (subject) => {
  const { foldInto, tableOf } = foldsOf(subject.record.domain)
  const { isApplied = (_, changed) => changed.includes(true) } = subject
  const appliedOf = (events: readonly Event[]): ReadonlySet<Event> => {
    const table: Table = new Map()
    return new Set(
      events.filter((event, position) => isApplied(event, foldInto(table, event, position).map(hasChanges))),
    )
  }
  let repeated = 0
  fc.assert(
    fc.property(histories(subject), fc.infiniteStream(fc.nat({ max: 1000 })), (events, pick) => {
      const applied = appliedOf(events)
      const again: Event[] = []
      const repeatable: Event[] = []
      for (const event of events) {
        again.push(event)
        if (applied.has(event)) repeatable.push(event)
        if (repeatable.length > 0) again.push(repeatable[pick.next().value % repeatable.length] as Event)
      }
      repeated += repeatable.length
      expect(bytes(tableOf(again))).toBe(bytes(tableOf(events)))
    }),
    propertyRuns(125),
  )
  expect(repeated, 'events of the histories that changed something').toBeGreaterThan(0)
}

const keysAreApart: Rule = (subject) => {
  const { tableOf } = foldsOf(subject.record.domain)
  fc.assert(
    fc.property(histories(subject), fc.infiniteStream(fc.nat({ max: 1000 })), (events, pick) => {
      const queues = [...byKey(events, ({ meta }) => meta.key).values()]
      const mixed: Event[] = []
      while (mixed.length < events.length) {
        const waiting = queues.filter((queue) => queue.length > 0)
        mixed.push(waiting[pick.next().value % waiting.length]?.shift() as Event)
      }
      expect(bytes(tableOf(mixed))).toBe(bytes(tableOf(events)))
    }),
    propertyRuns(50),
  )
}

/** Folds the events with the engine, in batches. `next` returns the size of the next batch, and the number of earlier events to deliver again. */
const foldInBatches = async (
  deciders: readonly Decider[],
  events: readonly Event[],
  next: () => { readonly size: number; readonly again: number },
): Promise<MemoryStore> => {
  const store = memoryStore()
  for (let end = 0; end < events.length;) {
    const { size, again } = next()
    const from = Math.max(0, end - again)
    end = Math.min(events.length, end + size)
    const logged = events.slice(from, end).map((event, index) => ({ partition: 0, offset: from + index, event }))
    const spans: readonly KeySpan[] = deciders.flatMap((decider) =>
      [
        ...byKey(
          logged.filter(({ event }) => decider.projection.folds[event.type] !== undefined),
          ({ event }) => event.meta.key,
        ),
      ].map(([key, ofKey]) => ({ decider, key, events: ofKey })),
    )
    for (const { poison } of await advance({ store, spans })) if (poison !== undefined) throw poison.error
  }
  return store
}

const domainItems = (items: Iterable<Stored>): readonly string[] =>
  [...items]
    .filter((item) => !isBookkeeping(item) && !isTombstone(item))
    .map(canonical)
    .sort()

const batchesDoNotMatter: Rule = async (subject) => {
  const { tableOf } = foldsOf(subject.record.domain)
  const codec = openCodec({ folder: subject.record.domain.schemas, schemas: subject.schemas ?? [] })
  const deciders = decidersOf(subject.record.domain, rowRulesOf(subject.record.domain, codec))
  const batch = fc.record({ size: fc.integer({ min: 1, max: 20 }), again: fc.nat({ max: 5 }) })
  await fc.assert(
    fc.asyncProperty(histories(subject), fc.infiniteStream(batch), async (events, batches) => {
      const cut = await foldInBatches(deciders, events, () => batches.next().value)
      const single = await foldInBatches(deciders, events, () => ({ size: 1, again: 0 }))
      expect(cut.dump()).toEqual(single.dump())
      expect(domainItems(cut.items.values())).toEqual(domainItems(tableOf(events).values()))
    }),
    propertyRuns(25),
  )
}

/** The edge derives the HTTP status of a refusal from the kind of the refusal's code. So the edge must list every code. */
const refusalsAreListed: Rule = (subject) => {
  const edge = edgeOf(subject.record)
  if (edge === undefined) return
  const fold = foldDrawn(subject.record.domain)
  const lists = [...edge.refusals, engineRefusals]
  fc.assert(
    fc.property(histories(subject), anyEvents(subject), (history, any) => {
      const table: Table = new Map()
      for (const [position, event] of [...history, ...any].entries())
        for (const { refusal } of fold(table, event, position))
          if (refusal !== undefined)
            expect(kindOf(refusal.code, lists), `the kind of ${refusal.code} in the refusals of the edge`).toBeDefined()
    }),
    propertyRuns(50),
  )
}

export const FOLD_RULES: Readonly<Record<string, Rule>> = {
  'every event of its schemas is folded, and every fold has a schema': everyEventIsFolded,
  'no event that the schemas allow makes a fold throw, break a law or write what no store can hold': isTotal,
  'the edge lists every code with which a fold refuses an event': refusalsAreListed,
  'the same events give the same results': repeatsItself,
  'an event that was applied changes nothing when it is repeated at any later offset': repeatsChangeNothing,
  'the order of events of different keys does not matter': keysAreApart,
  'batches of any size, with some events delivered twice, give the same items': batchesDoNotMatter,
}
