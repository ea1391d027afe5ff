import type { Ask } from '../../projections/ask.ts'
import { bare, keyOf, sameItem, type Item, type Key } from '../../projections/item.ts'
import { removed, type Change, type Derived, type Get, type Result, type Timer } from '../../projections/projection.ts'

/**
 * Collects the changes of one event. `get` returns each item with the changes that this event has made so far. The result omits items that
 * did not change.
 */
export interface Work {
  readonly get: Get
  put(item: Item): void
  remove(key: Key): void
  arm(timer: Timer): void
  ask(ask: Ask): void
  derive(derived: Derived): void
  result(): Result
}

/** Begins the work on one event. The parameter `get` reads the items as they were before the event. */
export const startWork = (get: Get): Work => {
  const changes = new Map<string, Change>()
  const timers = new Map<string, Timer>()
  const asks = new Map<string, Ask>()
  const derived: Derived[] = []
  const read: Get = <I extends Item>(key: Key) => {
    const change = changes.get(keyOf(key))
    if (change === undefined) return get<I>({ PK: key.PK, SK: key.SK })
    return '_removed' in change ? undefined : (change as I)
  }
  return {
    get: read,
    put: (item) => void changes.set(keyOf(item), bare(item)),
    remove: (key) => void changes.set(keyOf(key), removed(key)),
    arm: (timer) => void timers.set(timer.name, timer),
    ask: (ask) => void asks.set(ask.name, ask),
    derive: (event) => void derived.push(event),
    result: () => ({
      ...(changes.size > 0 && { items: [...changes.values()].filter((change) => differs(change, get)) }),
      ...(timers.size > 0 && { timers: [...timers.values()] }),
      ...(asks.size > 0 && { asks: [...asks.values()] }),
      ...(derived.length > 0 && { derived }),
    }),
  }
}

const differs = (change: Change, get: Get): boolean => {
  const before = get({ PK: change.PK, SK: change.SK })
  if ('_removed' in change) return before !== undefined
  return before === undefined || !sameItem(bare(before), change)
}
