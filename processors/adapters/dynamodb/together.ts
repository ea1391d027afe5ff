import type { Key, Stored } from '../../../projections/item.ts'
import { isFault } from '../../../schemas/fault.ts'

type Found = readonly (Stored | undefined)[]
export type Load = (keys: readonly Key[]) => Promise<Found>

interface Asked {
  readonly keys: readonly Key[]
  readonly told: (found: Promise<Found>) => void
}

/** Requests under way at once; what is asked for meanwhile waits for the first that ends. */
const WIDTH = 4
const MOST_KEYS = 100

/**
 * Small reads of many callers share requests when they come faster than they are answered. Each begins after it was asked for, so it is
 * as consistent as one alone; and what the store refuses of several together is asked for one by one, so that nobody pays for another's key.
 */
export const readTogether = (load: Load): Load => {
  const waiting: Asked[] = []
  let underWay = 0
  const send = async (asked: readonly Asked[]): Promise<void> => {
    underWay += 1
    const all = load(asked.flatMap(({ keys }) => keys))
    let from = 0
    for (const { keys, told } of asked) {
      const [begin, end] = [from, (from += keys.length)]
      told(all.then((found) => found.slice(begin, end), (error: unknown) => (asked.length > 1 && isFault(error, 'item-rejected') ? load(keys) : Promise.reject(error))))
    }
    await all.catch(() => undefined)
    underWay -= 1
    next()
  }
  const next = (): void => {
    if (underWay >= WIDTH || waiting.length === 0) return
    let [count, keys] = [1, waiting[0]?.keys.length ?? 0]
    while (count < waiting.length && (keys += waiting[count]?.keys.length ?? 0) <= MOST_KEYS) count += 1
    void send(waiting.splice(0, count))
  }
  return (keys) => new Promise((resolve) => {
    waiting.push({ keys, told: resolve })
    next()
  })
}
