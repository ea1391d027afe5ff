import type { Key, Stored } from '../../projections/item.ts'
import { changeRow } from './change-row.ts'
import type { Clock } from './clock.ts'
import type { Store } from './store.ts'

/** A batch that a process is about to fold. It is stored first, so that the next process finds it if this one dies. */
export interface Try {
  /** The events from one offset to another, both included. */
  readonly at: number
  readonly through: number
  /** Whether the first of them is folded by itself. */
  readonly alone: boolean
  /** Lives of processes that began it and have not been heard of since. */
  readonly by: readonly string[]
}

/** Of one generation, in the control table: on disk before anything is folded. */
export interface Tries {
  of(name: string): Promise<Try | undefined>
  /** What `next` makes of it, however many change it at once; undefined leaves it as it is, null removes it. */
  change(name: string, next: (was: Try | undefined) => Try | null | undefined): Promise<void>
  /** The name of this life of this process. */
  readonly me: string
}

export const createTries = (store: Store, { domain, generation, me }: { readonly domain: string; readonly generation: number; readonly me: string }): Tries => {
  const keyOf = (name: string): Key => ({ PK: `TRIES#${domain}#g${generation}`, SK: name })
  const of: Tries['of'] = async (name) => toTry((await store.load([keyOf(name)]))[0])
  const change: Tries['change'] = async (name, next) => {
    await changeRow(store, keyOf(name), (was) => {
      const to = next(toTry(was))
      return to && { ...keyOf(name), ...to }
    })
  }
  return { of, change, me }
}

const toTry = (item: Stored | undefined): Try | undefined =>
  item && { at: item['at'] as number, through: item['through'] as number, alone: item['alone'] === true, by: item['by'] as readonly string[] }

/** So many lives may end over a batch before its events are folded one by one, */
export const MOST_TRIES = 2
/** and so many over one event alone before it is taken for the cause. */
const MOST_TRIES_ALONE = 3
/** A process that is alive so long after it began a batch waits for the store. The batch did not kill it. */
const ALIVE_MS = 5_000

export interface Trying {
  readonly tries: Tries
  readonly clock: Clock
}

export interface One {
  readonly name: string
  readonly at: number
  readonly through: number
}

/** Does one thing of which others may have died. `kills`: so many did that it is not tried again. */
export const tryAlone = async ({ tries, clock }: Trying, { name, at, through }: One, work: () => Promise<void>): Promise<'done' | 'kills'> => {
  const { me } = tries
  const isThis = (was: Try | undefined): was is Try => was !== undefined && was.alone && was.at === at
  const lost = async (): Promise<number> => {
    const was = await tries.of(name)
    return isThis(was) ? was.by.filter((life) => life !== me).length : 0
  }
  if ((await lost()) >= MOST_TRIES_ALONE) {
    // Those who live take their names back by then.
    await clock.sleep(2 * ALIVE_MS)
    if ((await lost()) >= MOST_TRIES_ALONE) return 'kills'
  }
  await tries.change(name, (was) => ({ at, through, alone: true, by: [...(isThis(was) ? was.by.filter((life) => life !== me) : []), me] }))
  const takeBack = () => tries.change(name, (was) => (isThis(was) && was.by.includes(me) ? { ...was, by: was.by.filter((life) => life !== me) } : undefined))
  const over = new AbortController()
  void clock.sleep(ALIVE_MS, over.signal).then(() => (over.signal.aborted ? undefined : takeBack())).catch(() => undefined)
  try {
    await work()
    return 'done'
  } catch (error) {
    await takeBack()
    throw error
  } finally {
    over.abort()
  }
}
