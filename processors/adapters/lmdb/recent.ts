import { keyOf, type Key, type Stored } from '../../../projections/item.ts'

/** Items that questions asked for lately: a token is read for every request of its user, and changes once a day. */
export interface Recent {
  /** Looks here first, and keeps what was found. */
  finding(find: (key: Key) => Stored | undefined): (key: Key) => Stored | undefined
  /** To be called before an item changes. */
  drop(id: string): void
  clear(): void
}

const LIMIT = 1_024

export const createRecent = (): Recent => {
  const items = new Map<string, Stored>()
  const keep = (id: string, item: Stored | undefined): Stored | undefined => {
    if (item === undefined) return undefined
    if (items.size >= LIMIT) items.clear()
    items.set(id, item)
    return item
  }
  return {
    finding: find => key => {
      const id = keyOf(key)
      return items.get(id) ?? keep(id, find(key))
    },
    drop: id => void items.delete(id),
    clear: () => items.clear(),
  }
}
