import { expect } from 'vitest'
import { createOwnItems } from '../processors/engine/rows/own-items.ts'
import { isExpired, keyOf, type Item, type Key, type Stored } from '../projections/item.ts'
import type { Domain, Get, Projection, Result, Timer } from '../projections/projection.ts'
import type { Event } from '../schemas/event.ts'

/** Items in memory, by their key. Each item is stored whole, with the position of the event that wrote it. */
export type Table = Map<string, Stored>

/** For each table: the projection that wrote each item. No other projection may read or write this item. */
const writers = new WeakMap<Table, Map<string, string>>()

const LAST_INSTANT = Date.UTC(9999, 11, 31)

const fullName = ({ PK, SK }: Key): string => `${PK} / ${SK}`

/** Returns the items of a table by name, without their positions. Default of `nameOf`: `PK / SK`. */
export const contents = (table: Table, nameOf: (key: Key) => string = fullName): Record<string, Item> =>
  Object.fromEntries([...table.values()].map(({ _pos, ...item }) => [nameOf(item), item as Item]).sort())

/** Folds the events of a domain in a test. */
export interface Folds {
  /** Folds one event by every projection that has a fold for it. Returns one result per projection. Throws if a fold breaks a law. */
  foldInto(table: Table, event: Event, position: number, domain?: Domain): readonly Result[]
  /** The table after the events, folded in order into an empty table. */
  tableOf(events: readonly Event[], domain?: Domain): Table
  /** Begins an example: `given(planted()).when(watered()).then({ 'PLANT#fern / CARE': { total: 200 } })`. */
  given(...events: readonly Event[]): Given
}

/** The events that precede the tested ones. */
export interface Given {
  /** Folds the tested events after the given ones. */
  when(...events: readonly Event[]): FoldedExample
}

/** The result of an example, and its assertions. */
export interface FoldedExample {
  /** The result of the first projection that folds the last event. Empty if no projection folds the event. */
  readonly result: Result
  readonly table: Table
  /** The names of the items that the tested events read. */
  readonly reads: readonly string[]
  /** The items by name before the tested events. */
  readonly before: Record<string, Item>
  /** The items by name after the tested events. */
  readonly items: Record<string, Item>
  /** The timers that the tested events set or removed. */
  readonly timers: readonly Timer[]
  /** Expects that the last event was not refused, and that each named item has these attributes. Null: the item must not exist. */
  then(expected: Record<string, object | null>): void
  /** Expects that the last event wrote or removed exactly these items. */
  thenWrites(...names: readonly string[]): void
  /** Expects that the items are the same as before the tested events. */
  thenUnchanged(): void
  /** Expects that the last event is reported as a duplicate and changed no item. */
  thenDuplicate(): void
  /** Expects that the last event was refused with this code and detail, and changed no item. */
  thenRefused(code: string, detail?: string | RegExp): void
}

/**
 * Folds the events of a domain one by one, without an engine. Throws if a fold breaks a law. A fold must not change an item that it read, read
 * or write an item of another projection or of another log key, write the same item twice, or change items and refuse the event.
 * `nameOf` returns the name of an item in expectations. Default: `PK / SK`.
 */
export const foldsOf = (ownDomain: Domain, nameOf: (key: Key) => string = fullName): Folds => {
  const fold = (domain: Domain, parts: Omit<Fold, 'domain'>): readonly Result[] =>
    domain.projections
      .filter(({ folds }) => folds[parts.event.type] !== undefined)
      .map((projection) => foldBy(projection, { ...parts, domain }))
  const foldInto: Folds['foldInto'] = (table, event, position, domain = ownDomain) =>
    fold(domain, { table, event, position, onRead: () => {} })

  const tableOf = (events: readonly Event[], domain: Domain = ownDomain): Table => {
    const table: Table = new Map()
    events.forEach((event, position) => foldInto(table, event, position, domain))
    return table
  }

  const given = (...events: readonly Event[]): Given => ({
    when: (...tested) => {
      const table = tableOf(events)
      const before = contents(table, nameOf)
      const reads: string[] = []
      const results = tested.map((event, index) =>
        fold(ownDomain, {
          table,
          event,
          position: events.length + index,
          onRead: (key) => void reads.push(nameOf(key)),
        }),
      )
      const items = contents(table, nameOf)
      return { table, reads, before, items, ...assertionsOf(results, { before, items, nameOf }) }
    },
  })

  return { foldInto, tableOf, given }
}

interface Fold {
  readonly table: Table
  readonly event: Event
  readonly position: number
  readonly domain: Domain
  readonly onRead: (key: Key) => void
}

/** Folds one event by one projection. The fold receives frozen items, so that a fold that changes an item throws. */
const foldBy = (projection: Projection, { table, event, position, domain, onRead }: Fold): Result => {
  const written = writers.get(table) ?? new Map<string, string>()
  writers.set(table, written)
  const isOwn = (key: Key): boolean => (written.get(keyOf(key)) ?? projection.name) === projection.name
  const ownItems = createOwnItems(domain)
  const find = (key: Key): Stored | undefined => table.get(keyOf(key))
  const get: Get = <I extends Item>(key: Key) => {
    if (Object.keys(key).length !== 2) throw new Error(`get expects PK and SK only: ${JSON.stringify(key)}`)
    if (!isOwn(key)) throw new Error(`${projection.name} reads an item of another projection: ${JSON.stringify(key)}`)
    onRead(key)
    ownItems.requireRead(key, event.meta.key, find)
    const item = find(key)
    return item === undefined || isExpired(item, domain.table.ttl, event.meta.occurredAt)
      ? undefined
      : (item as Item as I)
  }
  const result = projection.folds[event.type]?.(event, get) ?? {}
  requireLaws(result)
  for (const change of result.items ?? []) {
    const { PK, SK } = change
    insist(isOwn({ PK, SK }), `${projection.name} writes an item of another projection: ${PK} ${SK}`)
    insist(!('_pos' in change), `A fold must not write _pos: ${PK} ${SK}`)
    ownItems.requireWrite(change, event.meta.key, find)
    written.set(keyOf(change), projection.name)
    if ('_removed' in change) table.delete(keyOf(change))
    else table.set(keyOf(change), deepFreeze({ ...change, _pos: position }))
  }
  return result
}

const requireLaws = ({ items = [], timers = [], refusal, duplicate }: Result): void => {
  insist(new Set(items.map(keyOf)).size === items.length, 'A result contains a key twice.')
  insist(new Set(timers.map(({ name }) => name)).size === timers.length, 'A result contains a timer twice.')
  insist(
    timers.every(({ at }) => at === null || (at >= 0 && at <= LAST_INSTANT)),
    'A timer is not set to an instant between 1970 and 9999.',
  )
  insist((refusal === undefined && !duplicate) || items.length === 0, 'A refusal or a duplicate changes items.')
}

interface Compared {
  readonly before: Record<string, Item>
  readonly items: Record<string, Item>
  readonly nameOf: (key: Key) => string
}

const assertionsOf = (
  results: readonly (readonly Result[])[],
  { before, items, nameOf }: Compared,
): Omit<FoldedExample, 'table' | 'reads' | 'before' | 'items'> => {
  const [result = {}] = results.at(-1) ?? []
  return {
    result,
    timers: results.flat().flatMap(({ timers = [] }) => timers),
    then: (expected) => {
      expect(result.refusal).toBeUndefined()
      for (const [name, attributes] of Object.entries(expected)) {
        if (attributes === null) expect(items, name).not.toHaveProperty([name])
        else expect(items[name], name).toMatchObject(attributes)
      }
    },
    thenWrites: (...names) => expect((result.items ?? []).map(nameOf).sort()).toEqual([...names].sort()),
    thenUnchanged: () => expect(items).toEqual(before),
    thenDuplicate: () => {
      expect(result).toEqual({ duplicate: true })
      expect(items).toEqual(before)
    },
    thenRefused: (code, detail = '') => {
      expect(result.refusal?.code).toBe(code)
      expect(result.refusal?.detail).toMatch(detail)
      expect(items).toEqual(before)
    },
  }
}

const insist = (isTrue: boolean, rule: string): void => {
  if (!isTrue) throw new Error(rule)
}

const deepFreeze = <T>(value: T): T => {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
