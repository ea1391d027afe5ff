import type { Key, Stored } from '../../../projections/item.ts'
import { isFault } from '../../../schemas/fault.ts'

type Found = readonly (Stored | undefined)[]
export type Load = (keys: readonly Key[]) => Promise<Found>

interface PendingLoad {
  readonly keys: readonly Key[]
  readonly resolve: (found: Promise<Found>) => void
}

/** The maximum number of concurrent requests. Further loads wait until a request ends. */
const MAX_REQUESTS = 4
const MAX_KEYS = 100

/**
 * Combines small loads of concurrent callers into shared requests while earlier requests are open. The request of a load begins after the call,
 * so a load is as consistent as without sharing. If the store rejects a shared request, each of its loads is sent alone, so an invalid key fails
 * only its own load.
 */
export const batchLoads = (load: Load): Load => {
  const waiting: PendingLoad[] = []
  let openRequests = 0
  const send = async (loads: readonly PendingLoad[]): Promise<void> => {
    openRequests += 1
    const shared = load(loads.flatMap(({ keys }) => keys))
    let from = 0
    for (const { keys, resolve } of loads) {
      const [begin, end] = [from, (from += keys.length)]
      resolve(
        shared.then(
          (found) => found.slice(begin, end),
          (error: unknown) =>
            loads.length > 1 && isFault(error, 'item-rejected') ? load(keys) : Promise.reject(error),
        ),
      )
    }
    await shared.catch(() => undefined)
    openRequests -= 1
    sendNext()
  }
  const sendNext = (): void => {
    if (openRequests >= MAX_REQUESTS || waiting.length === 0) return
    let [count, keys] = [1, waiting[0]?.keys.length ?? 0]
    while (count < waiting.length && (keys += waiting[count]?.keys.length ?? 0) <= MAX_KEYS) count += 1
    void send(waiting.splice(0, count))
  }
  return (keys) =>
    new Promise((resolve) => {
      waiting.push({ keys, resolve })
      sendNext()
    })
}
