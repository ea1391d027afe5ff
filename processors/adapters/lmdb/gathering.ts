import { keyOf } from '../../../projections/item.ts'
import { isFault, type Fault } from '../../../schemas/fault.ts'
import type { Write } from '../../engine/ports/store.ts'
import { asFault } from './environment.ts'
import { withoutUndefined } from './items.ts'
import { advance, emptyPending, merged, type Overlay } from './pending.ts'
import type { Recent } from './recent.ts'
import type { Writer } from './writer.ts'

/** Milliseconds in which commits are gathered before one transaction writes them. Fewer transactions leave more time of the disk to the log. */
const GATHER_MS = 200
/** The pause in milliseconds before a failed write is retried. */
const RETRY_MS = 1_000
/** Commits wait for the disk if more than this number of bytes (estimated) is gathered. */
const MAX_BYTES = 16 * 1024 * 1024
/** The size of an LMDB page in bytes. LMDB copies the whole page of each item that it changes. */
const PAGE = 4_096

/**
 * Gathers accepted writes and passes them to LMDB in one transaction, in their order. Reads see a write as soon as it is accepted, even before
 * LMDB has it.
 */
export const createGathering = (writer: Writer, recent: Recent, onAccept: (write: Write) => void) => {
  let next = emptyPending()
  let writing = emptyPending()
  let bytes = 0
  let draining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let fault: Fault | undefined

  const isIdle = (): boolean => next.items.size === 0 && next.checkpoints.size === 0
  const writeNext = async (): Promise<void> => {
    const size = bytes
    writing = next
    next = emptyPending()
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
      writing = emptyPending()
    }
  }
  const drainAll = async (): Promise<void> => {
    try {
      while (!isIdle()) await writeNext()
    } finally {
      // No await between the check of `next` and this line: a later caller starts a new run of this loop.
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
    next.items.set(id, 'put' in write ? withoutUndefined(write.put) : null)
    onAccept(write)
  }
  /**
   * Writes the gathered commits after `ms` milliseconds. Retries after each failure unless the store is closed. So a full disk that has room again is
   * used even if no new commit arrives.
   */
  const drainIn = (ms: number): void =>
    void (timer ??= setTimeout(
      () => void drain().catch((error: unknown) => (isFault(error, 'store-closed') ? undefined : drainIn(RETRY_MS))),
      ms,
    ))
  return {
    drain,
    accept,
    drainLater: async (size: number): Promise<void> => ((bytes += size) > MAX_BYTES ? drain() : drainIn(GATHER_MS)),
    failing: (): Fault | undefined => fault,
    overlay: createOverlay(
      () => next.items,
      () => writing.items,
    ),
    setCheckpoint: (partition: number, offset: number): void => advance(next.checkpoints, partition, offset),
    /** Resolves when the store accepts new writes. If the last write failed, first writes it again, and rejects if it fails again. */
    ready: async (): Promise<void> => (fault === undefined ? undefined : drain()),
  }
}

export type Gathering = ReturnType<typeof createGathering>

type Items = ReturnType<typeof emptyPending>['items']

const createOverlay = (next: () => Items, writing: () => Items): Overlay => ({
  find: (id) => {
    const item = next().get(id)
    return item === undefined ? writing().get(id) : item
  },
  entries: function* () {
    yield* next()
    for (const entry of writing()) if (!next().has(entry[0])) yield entry
  },
})
