import { expect } from 'vitest'
import { isExpired, keyOf, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Domain, Get, Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'

/** A table in memory, written the plain way: every item whole, positions counted per event, nothing batched. */
export type Table = Map<string, Stored>

/** Who wrote an item: nobody else may read or write it (law 4). */
const writers = new WeakMap<Table, Map<string, string>>()

const LAST = Date.UTC(9999, 11, 31)

const fullName = ({ PK, SK }: Key): string => `${PK} / ${SK}`

/** Items without positions, by their names. Default: `PK / SK`. */
export const contents = (table: Table, nameOf: (key: Key) => string = fullName): Record<string, Item> =>
  Object.fromEntries([...table.values()].map(({ _pos, ...item }) => [nameOf(item), item as Item]).sort())

/** How a domain's tests fold: `keyIn` returns the log key of an item, `nameOf` the name by which a test expects it. */
export const foldsOf = (own: Domain, keyIn: (pk: string, item: Item) => string | undefined, nameOf: (key: Key) => string = fullName) => {
  /** Folds one event at a position by every projection that hears it. Everything a fold sees is frozen, so one that mutates fails. */
  const foldInto = (table: Table, event: Event, position: number, domain: Domain = own, onRead: (key: Key) => void = () => {}): readonly Result[] =>
    domain.projections.filter(({ folds }) => folds[event.type] !== undefined).map((projection) => {
      const written = writers.get(table) ?? new Map<string, string>()
      writers.set(table, written)
      const owns = (key: Key): boolean => (written.get(keyOf(key)) ?? projection.name) === projection.name
      const get: Get = <I extends Item>(key: Key) => {
        if (Object.keys(key).length !== 2) throw new Error(`a key is a key and nothing else: ${JSON.stringify(key)}`)
        if (!owns(key)) throw new Error(`${projection.name} reads what is another's: ${JSON.stringify(key)}`)
        onRead(key)
        const item = table.get(keyOf(key))
        return item === undefined || isExpired(item, domain.table.ttl, event.meta.occurredAt) ? undefined : (item as Item as I)
      }
      const result = projection.folds[event.type]?.(event, get) ?? {}
      const items = result.items ?? []
      const timers = result.timers ?? []
      insist(new Set(items.map(keyOf)).size === items.length, 'a result names each key once')
      insist(new Set(timers.map(({ name }) => name)).size === timers.length, 'a result names each timer once')
      insist(timers.every(({ at }) => at === null || (at >= 0 && at <= LAST)), 'a timer is set to an instant')
      insist((result.refusal === undefined && !result.duplicate) || items.length === 0, 'a refusal or a duplicate changes nothing')
      for (const change of items) {
        const { PK, SK } = change
        insist(owns({ PK, SK }), `${projection.name} writes what is another's: ${PK} ${SK}`)
        insist(!('_pos' in change), `positions are not for folds to write: ${PK} ${SK}`)
        written.set(keyOf(change), projection.name)
        if ('_removed' in change) table.delete(keyOf(change))
        else {
          insist(keyIn(PK, change) === event.meta.key, `whose is ${PK} ${SK}`)
          table.set(keyOf(change), deepFreeze({ ...change, _pos: position }))
        }
      }
      return result
    })

  const tableOf = (events: readonly Event[], domain: Domain = own): Table => {
    const table: Table = new Map()
    events.forEach((event, position) => foldInto(table, event, position, domain))
    return table
  }

  const given = (...events: readonly Event[]) => ({
    when: (...then: readonly Event[]) => {
      const table = tableOf(events)
      const before = contents(table, nameOf)
      const reads: string[] = []
      const results = then.map((event, index) => foldInto(table, event, events.length + index, own, (key) => reads.push(nameOf(key))))
      const after = contents(table, nameOf)
      const [result = {}] = results.at(-1) ?? []
      return {
        result,
        table,
        /** The names of all that was read. */
        reads,
        before,
        items: after,
        timers: results.flat().flatMap(({ timers = [] }) => timers),
        /** By name, attributes that the item must have; null for an item that must not be there. */
        then: (expected: Record<string, object | null>) => {
          expect(result.refusal).toBeUndefined()
          for (const [name, attributes] of Object.entries(expected)) {
            if (attributes === null) expect(after, name).not.toHaveProperty([name])
            else expect(after[name], name).toMatchObject(attributes)
          }
        },
        thenWrites: (...names: readonly string[]) => expect((result.items ?? []).map(nameOf).sort()).toEqual([...names].sort()),
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

  return { foldInto, tableOf, given }
}

const insist = (holds: boolean, rule: string): void => {
  if (!holds) throw new Error(rule)
}

const deepFreeze = <T>(value: T): T => {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
