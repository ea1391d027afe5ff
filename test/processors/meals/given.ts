import { expect } from 'vitest'
import { isExpired, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { Domain, Get, Result } from '../../../projections/projection.ts'
import type { Event } from '../../../schemas/event.ts'
import { meals } from '../../../processors/meals/domain.ts'

/** A table in memory, written the plain way: every item whole, positions counted per event, nothing batched. */
export type Table = Map<string, Stored>

/** Folds one event at a position and writes what came of it. Everything a fold sees is frozen, so one that mutates fails. */
export const foldInto = (table: Table, event: Event, position: number, domain: Domain = meals): Result => {
  const get: Get = <I extends Item>(key: Key) => {
    expect(Object.keys(key).sort(), 'a key is a key and nothing else').toEqual(['PK', 'SK'])
    const item = table.get(keyOf(key))
    // The port promises the fold the type it wrote itself.
    return item === undefined || isExpired(item, domain.table.ttl, event.meta.occurredAt) ? undefined : (item as Item as I)
  }
  const fold = domain.projections[0]?.folds[event.type]
  if (fold === undefined) throw new Error(`no fold of ${event.type}`)
  const result = fold(event, get)
  const items = result.items ?? []
  expect(new Set(items.map(keyOf)).size, 'a result names each key once').toBe(items.length)
  if (result.refusal !== undefined || result.duplicate) expect(items, 'a refusal or a duplicate changes nothing').toEqual([])
  for (const change of items) {
    expect(change.PK).toBe(`USER#${event.meta.key}`)
    expect(JSON.stringify(change), 'positions are not for folds to write').not.toContain('"_pos"')
    if ('_removed' in change) table.delete(keyOf(change))
    else table.set(keyOf(change), deepFreeze({ ...change, _pos: position }))
  }
  return result
}

export const tableOf = (events: readonly Event[]): Table => {
  const table: Table = new Map()
  events.forEach((event, position) => foldInto(table, event, position))
  return table
}

/** Items without positions, by sort key. */
export const contents = (table: Table): Record<string, Item> =>
  Object.fromEntries([...table.values()].map(({ _pos, ...item }) => [item.SK, item as Item]).sort())

export const given = (...events: readonly Event[]) => ({
  when: (event: Event) => {
    const table = tableOf(events)
    const before = contents(table)
    const result = foldInto(table, event, events.length)
    const after = contents(table)
    return {
      result,
      before,
      items: after,
      /** By sort key, attributes that must be as said; null for an item that must not be there. */
      then: (expected: Record<string, object | null>) => {
        expect(result.refusal).toBeUndefined()
        for (const [sk, attributes] of Object.entries(expected)) {
          if (attributes === null) expect(after, sk).not.toHaveProperty([sk])
          else expect(after[sk], sk).toMatchObject(attributes)
        }
      },
      thenWrites: (...sks: readonly string[]) => expect((result.items ?? []).map(({ SK }) => SK).sort()).toEqual([...sks].sort()),
      thenUnchanged: () => expect(after).toEqual(before),
      thenDuplicate: () => {
        expect(result).toEqual({ duplicate: true })
        expect(after).toEqual(before)
      },
      thenRefused: (code: string, detail: string | RegExp = '') => {
        expect(result.refusal?.code).toBe(code)
        expect(result.refusal?.detail).toMatch(detail)
        expect(after).toEqual(before)
      },
    }
  },
})

const deepFreeze = <T>(value: T): T => {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
