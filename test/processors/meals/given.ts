import { expect } from 'vitest'
import { isExpired, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { Get, Result } from '../../../projections/projection.ts'
import type { Event } from '../../../schemas/event.ts'
import { meals } from '../../../processors/meals/domain.ts'

/** A table in memory, written the plain way: every item whole, positions counted per event, nothing batched. */
export type Table = Map<string, Stored>

/** Folds one event at a position and writes what came of it. Everything a fold sees is frozen, so one that mutates fails. */
export const foldInto = (table: Table, event: Event, position: number, read: (sk: string) => void = () => {}): Result => {
  const get: Get = <I extends Item>(key: Key) => {
    if (Object.keys(key).length !== 2) throw new Error(`a key is a key and nothing else: ${JSON.stringify(key)}`)
    read(key.SK)
    const item = table.get(keyOf(key))
    // The port promises the fold the type it wrote itself.
    return item === undefined || isExpired(item, meals.table.ttl, event.meta.occurredAt) ? undefined : (item as Item as I)
  }
  const fold = meals.projections[0]?.folds[event.type]
  if (fold === undefined) throw new Error(`no fold of ${event.type}`)
  const result = fold(event, get)
  const items = result.items ?? []
  expect(new Set(items.map(keyOf)).size, 'a result names each key once').toBe(items.length)
  if (result.refusal !== undefined || result.duplicate) expect(items, 'a refusal or a duplicate changes nothing').toEqual([])
  for (const change of items) {
    if (change.PK !== `USER#${event.meta.key}`) throw new Error(`${change.PK} is not of the event's key`)
    if (JSON.stringify(change).includes('"_pos"')) throw new Error(`positions are not for folds to write: ${JSON.stringify(change)}`)
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
    const reads: string[] = []
    const result = foldInto(table, event, events.length, (sk) => reads.push(sk))
    const after = contents(table)
    return {
      result,
      reads,
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
