import { keyOf, type Stored } from '../../../projections/item.ts'
import type { Fault } from '../../../schemas/fault.ts'
import type { Write } from '../../engine/store.ts'
import { asFault } from './environment.ts'
import { tidy } from './items.ts'
import type { Writer } from './writer.ts'

/** Milliseconds for which commits gather before they go to LMDB together: the log needs the disk more than they do. */
const GATHER = 10
/** Items that may wait for LMDB before commits wait too. */
const MAX_WAITING = 20_000

/** Writes that were accepted and are not in LMDB yet, by key; null is a removal. */
interface Pending {
  readonly items: Map<string, Stored | null>
  readonly checkpoints: Map<number, number>
}

const nothing = (): Pending => ({ items: new Map(), checkpoints: new Map() })

/** A checkpoint never goes backwards. */
export const advance = (checkpoints: Map<number, number>, partition: number, offset: number): void => {
  if ((checkpoints.get(partition) ?? -1) < offset) checkpoints.set(partition, offset)
}

/** `older` with `newer` laid over it. */
const merged = (older: Pending, newer: Pending): Pending => {
  const checkpoints = new Map(older.checkpoints)
  for (const [partition, offset] of newer.checkpoints) advance(checkpoints, partition, offset)
  return { items: new Map([...older.items, ...newer.items]), checkpoints }
}

/** What is accepted counts at once, for every read by key; it goes to LMDB in the order and the company in which it was accepted. */
export const createGathering = (writer: Writer) => {
  let next = nothing()
  let writing = nothing()
  let draining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let fault: Fault | undefined

  const isIdle = (): boolean => next.items.size === 0 && next.checkpoints.size === 0
  const writeNext = async (): Promise<void> => {
    writing = next
    next = nothing()
    try {
      await writer.write(writing)
      fault = undefined
    } catch (error) {
      next = merged(writing, next)
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
      // In the same breath as the look at what is next: who comes later starts anew.
      draining = undefined
    }
  }
  /** Everything accepted so far is in LMDB. */
  const drain = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (draining === undefined && !isIdle()) draining = drainAll()
    await draining
  }
  return {
    drain,
    find: (id: string): Stored | undefined => {
      let item = next.items.get(id)
      if (item === undefined) item = writing.items.get(id)
      return item === undefined ? writer.tables().items.get(id) : (item ?? undefined)
    },
    accept: (write: Write): void => {
      if ('put' in write) next.items.set(keyOf(write.put), tidy(write.put))
      else next.items.set(keyOf(write.remove), null)
    },
    reached: (partition: number, offset: number): void => advance(next.checkpoints, partition, offset),
    /** After a failed write nothing new is accepted until the old is written. */
    ready: async (): Promise<void> => {
      if (fault !== undefined) await drain()
    },
    later: async (): Promise<void> => {
      if (next.items.size > MAX_WAITING) await drain()
      else timer ??= setTimeout(() => void drain().catch(() => undefined), GATHER)
    },
  }
}

export type Gathering = ReturnType<typeof createGathering>
