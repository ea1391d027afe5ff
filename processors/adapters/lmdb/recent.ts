import { keyOf, type Key, type Stored } from '../../../projections/item.ts'

/** A cache of items that queries read recently. For example, each request of a user reads the user's token, which changes once a day. */
export interface Recent {
  /** Returns a function that looks into this cache first, and calls `find` for an item that is not in it. */
  cached(find: (key: Key) => Stored | undefined): (key: Key) => Stored | undefined
  /** Removes an item from the cache. To be called before the item changes. */
  drop(id: string): void
  clear(): void
}

const LIMIT = 1_024

export const createRecent = (): Recent => {
  const items = new Map<string, Stored>()
  const remember = (id: string, item: Stored | undefined): Stored | undefined => {
    if (item === undefined) return undefined
    if (items.size >= LIMIT) items.clear()
    items.set(id, item)
    return item
  }
  return {
    cached: (find) => (key) => {
      const id = keyOf(key)
      return items.get(id) ?? remember(id, find(key))
    },
    drop: (id) => void items.delete(id),
    clear: () => items.clear(),
  }
}
