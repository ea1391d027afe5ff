import { keyOf } from '../../../projections/item.ts'
import { isFault, type Fault } from '../../../schemas/fault.ts'
import type { Write } from '../../engine/store.ts'
import { asFault } from './environment.ts'
import { tidy } from './items.ts'
import { advance, merged, nothing, type Overlay } from './pending.ts'
import type { Recent } from './recent.ts'
import type { Writer } from './writer.ts'

/** Milliseconds for which commits gather before they go to LMDB together: the log needs the disk more than they do. */
const GATHER = 200
/** Milliseconds until a write that failed is tried again. */
const AGAIN = 1_000
/** About what may wait for LMDB before commits wait too. */
const MAX_BYTES = 16 * 1024 * 1024
/** LMDB copies the page in which an item lies. */
const PAGE = 4_096

/** What is accepted counts at once, for every read; it goes to LMDB in the order and the company in which it was accepted. */
export const createGathering = (writer: Writer, recent: Recent, told: (write: Write) => void) => {
  let next = nothing()
  let writing = nothing()
  let bytes = 0
  let draining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let fault: Fault | undefined

  const isIdle = (): boolean => next.items.size === 0 && next.checkpoints.size === 0
  const writeNext = async (): Promise<void> => {
    const size = bytes
    writing = next
    next = nothing()
    bytes = 0
    try {
      await writer.write({ ...writing, bytes: 2 * size + writing.items.size * PAGE })
      fault = undefined
    } catch (error) {
      next = merged(writing, next)
      bytes += size
      fault = asFault(error, 'store-unavailable', 'The table could not be written')
      throw fault
    } finally {
      writing = nothing()
    }
  }
  const drainAll = async (): Promise<void> => {
    try {
      while (!isIdle()) await writeNext()
    } finally {
      // No await between this and the last check of `next`: a later caller starts a new drain.
      draining = undefined
    }
  }
  const drain = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (draining === undefined && !isIdle()) draining = drainAll()
    await draining
  }
  const accept = (write: Write): void => {
    const id = keyOf('put' in write ? write.put : write.remove)
    recent.drop(id)
    next.items.set(id, 'put' in write ? tidy(write.put) : null)
    told(write)
  }
  /** Again after a failure: a full disk may have room while nothing new is accepted. */
  const drainIn = (ms: number): void => void (timer ??= setTimeout(() => void drain().catch((error: unknown) => (isFault(error, 'store-closed') ? undefined : drainIn(AGAIN))), ms))
  return {
    drain, accept,
    later: async (size: number): Promise<void> => ((bytes += size) > MAX_BYTES ? drain() : drainIn(GATHER)),
    failing: (): Fault | undefined => fault,
    overlay: overlayOf(() => next.items, () => writing.items),
    reached: (partition: number, offset: number): void => advance(next.checkpoints, partition, offset),
    /** After a failed write nothing new is accepted until the old is written. */
    ready: async (): Promise<void> => (fault === undefined ? undefined : drain()),
  }
}

export type Gathering = ReturnType<typeof createGathering>

type Items = ReturnType<typeof nothing>['items']

const overlayOf = (next: () => Items, writing: () => Items): Overlay => ({
  find: id => {
    const item = next().get(id)
    return item === undefined ? writing().get(id) : item
  },
  entries: function* () {
    yield* next()
    for (const entry of writing()) if (!next().has(entry[0])) yield entry
  },
})
