import fc from 'fast-check'
import { expect } from 'vitest'
import { canonical, type Item, type Stored } from '../../projections/item.ts'
import type { Event } from '../../schemas/event.ts'

type Table = Map<string, Stored>

/** Every item, without positions, in the one form in which items are compared. */
export const bytes = (table: Table): string => [...table.values()].map(({ _pos, ...item }) => canonical(item as Item)).sort().join('\n')

/** A domain's histories, and how it folds them. */
export interface Histories {
  readonly aHistory: fc.Arbitrary<readonly Event[]>
  foldInto(table: Table, event: Event, position: number): unknown
  tableOf(events: readonly Event[]): Table
  /** What of them was no refusal and no duplicate. */
  applied(events: readonly Event[]): readonly Event[]
}

export const anyDuplication = ({ aHistory, applied, tableOf }: Histories): void =>
  fc.assert(fc.property(aHistory, fc.infiniteStream(fc.nat({ max: 1000 })), (history, pick) => {
    const events = applied(history)
    const again: Event[] = []
    for (const event of events) {
      again.push(event)
      const earlier = again[pick.next().value % again.length]
      if (earlier !== undefined) again.push(earlier)
    }
    expect(bytes(tableOf(again))).toBe(bytes(tableOf(events)))
  }))

/** Of one key and all others. */
export const anyOrder = ({ aHistory, tableOf }: Histories, key: string): void =>
  fc.assert(fc.property(aHistory, fc.infiniteStream(fc.boolean()), (events, coin) => {
    const [one, other] = [events.filter(({ meta }) => meta.key === key), events.filter(({ meta }) => meta.key !== key)]
    const interleaved: Event[] = []
    while (one.length + other.length > 0) {
      const next = (one.length > 0 && coin.next().value === true) || other.length === 0 ? one.shift() : other.shift()
      if (next !== undefined) interleaved.push(next)
    }
    expect(bytes(tableOf(interleaved))).toBe(bytes(tableOf(events)))
  }))

export const foldedAgain = ({ aHistory, foldInto }: Histories): void =>
  fc.assert(fc.property(aHistory, (events) => {
    const [a, b]: [Table, Table] = [new Map(), new Map()]
    events.forEach((event, position) => expect(foldInto(a, event, position)).toEqual(foldInto(b, event, position)))
    expect(bytes(a)).toBe(bytes(b))
  }))
