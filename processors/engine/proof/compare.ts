import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { atMost, endsOf, missingTo, type Positions } from '../generations/positions.ts'
import { sideBySide } from './side-by-side.ts'
import type { Store } from '../ports/store.ts'

/** A comparison has a left and a right side. A pair is the entry of each side with the same key, as they were read. Undefined: the side has none. */
export interface Pair<K, T extends K> {
  readonly key: K
  readonly left: T | undefined
  readonly right: T | undefined
}

type See<K, T extends K> = (pair: Pair<K, T>) => void
type Unsettled<K, T extends K> = ReadonlyMap<string, Pair<K, T>>

interface Comparison<K, T extends K> {
  readonly idOf: (key: K) => string
  /** Reads both sides once and passes each pair to `see`. */
  readonly scan: (see: See<K, T>) => Promise<void>
  /** Lets one side catch up: folds into it the events that the other side contains already. */
  readonly advance: (round: number) => Promise<void>
  /** Reads these pairs again. This function may leave out a pair that neither side has any more. */
  readonly reread: (pairs: Unsettled<K, T>, see: See<K, T>) => Promise<void>
  /**
   * Returns true if the pair is certainly equal or certainly different. `before` is the pair as it was read the last time. Undefined: this
   * is the first read.
   */
  readonly settle: (pair: Pair<K, T>, before: Pair<K, T> | undefined) => boolean
  /** The maximum number of times that unsettled pairs are read again. */
  readonly rounds: number
}

/**
 * Compares two sides while at least one of them changes: reads all pairs, lets one side catch up, and reads again the unsettled pairs,
 * whose result is not certain yet. Resolves to the number of pairs that are still unsettled after the last round.
 */
export const compare = async <K, T extends K>({
  idOf,
  scan,
  advance,
  reread,
  settle,
  rounds,
}: Comparison<K, T>): Promise<number> => {
  const readPairs = async (
    read: (see: See<K, T>) => Promise<void>,
    before: Unsettled<K, T>,
  ): Promise<Unsettled<K, T>> => {
    const unsettled = new Map<string, Pair<K, T>>()
    await read((pair) => {
      const was = before.size === 0 ? undefined : before.get(idOf(pair.key))
      if (!settle(pair, was)) unsettled.set(idOf(pair.key), pair)
    })
    return unsettled
  }
  let unsettled = await readPairs(scan, new Map())
  for (let round = 0; round < rounds && unsettled.size > 0; round += 1) {
    await advance(round)
    const before = unsettled
    unsettled = await readPairs((see) => reread(before, see), before)
  }
  return unsettled.size
}

export type ItemSide = Pick<Store, 'scan' | 'sorted' | 'load'>

interface ItemSides {
  readonly left: ItemSide
  readonly right: ItemSide
  /** True if no process writes to the right side during a scan. Then equal counts prove that the right side has no additional item. */
  readonly isRightStill?: true
}

const PAGE = 500

/**
 * Reads each pair of items once. If both stores are sorted, reads them side by side in one pass. Otherwise scans each store and loads the
 * items with the same keys from the other one.
 */
export const scanItems = async ({ left, right, isRightStill }: ItemSides, see: See<Key, Stored>): Promise<void> => {
  if (left.sorted && right.sorted) {
    const pair = (leftItem: Stored | undefined, rightItem: Stored | undefined) =>
      see({ key: (leftItem ?? rightItem) as Stored, left: leftItem, right: rightItem })
    return sideBySide<Stored>({ left: left.scan(), right: right.scan(), order: byKey, pair })
  }
  let both = 0
  for await (const items of cut(left.scan())) {
    const others = await right.load(items)
    for (const [index, item] of items.entries()) {
      if (others[index] !== undefined) both += 1
      see({ key: item, left: item, right: others[index] })
    }
  }
  if (isRightStill && (await countOf(right)) === both) return
  for await (const items of cut(right.scan())) {
    const others = await left.load(items)
    for (const [index, item] of items.entries())
      if (others[index] === undefined) see({ key: item, left: undefined, right: item })
  }
}

export const rereadItems = async (
  { left, right }: ItemSides,
  pairs: Unsettled<Key, Stored>,
  see: See<Key, Stored>,
): Promise<void> => {
  const keys = [...pairs.values()].map(({ key: { PK, SK } }) => ({ PK, SK }))
  for (let at = 0; at < keys.length; at += PAGE) {
    const part = keys.slice(at, at + PAGE)
    const [ones, others] = [await left.load(part), await right.load(part)]
    for (const [index, key] of part.entries()) see({ key, left: ones[index], right: others[index] })
  }
}

/** The order of a sorted store: by the UTF-8 bytes of the keys. */
const byKey = (a: Key, b: Key): number =>
  a.SK === b.SK && a.PK === b.PK ? 0 : Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b)))

async function* cut(pages: AsyncIterable<readonly Stored[]>): AsyncGenerator<readonly Stored[]> {
  for await (const page of pages) for (let at = 0; at < page.length; at += PAGE) yield page.slice(at, at + PAGE)
}

const countOf = async ({ scan }: ItemSide): Promise<number> => {
  let count = 0
  for await (const page of scan()) count += page.length
  return count
}

/** The pages without the entries for which `counts` returns false. */
export async function* only<T>(
  pages: AsyncIterable<readonly T[]>,
  counts: (each: T) => boolean,
): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.filter(counts)
}

interface CaughtUpParts {
  readonly log: Pick<Log, 'watermarks'>
  readonly clock: Clock
  /** The wait ends after this time, even if the stores make progress. Default: no limit. */
  readonly patienceMs?: number
  readonly signal?: AbortSignal | undefined
}

interface StoreProgress {
  /** The checkpoints, each at most at the end that its partition had when the wait began. */
  readonly positions: Positions
  readonly isAtEnd: boolean
}

/** The wait ends if no store makes progress for this long, because then no processor follows the generations. */
const STILL_MS = 3_000
const POLL_MS = 20
/** A verification waits at most this long for a processor that is behind, and then compares the stored items. */
export const VERIFY_PATIENCE_MS = 5_000

/**
 * Waits until one of these: each store is at the present end of the log, no store makes progress, or `patienceMs` have passed. Resolves to
 * the progress of each store.
 */
export const untilCaughtUp = async (
  stores: readonly Pick<Store, 'checkpoints'>[],
  { log, clock, patienceMs = Infinity, signal }: CaughtUpParts,
): Promise<readonly StoreProgress[]> => {
  const ends = await endsOf(log)
  const until = clock.now() + patienceMs
  for (let [last, movedAt] = ['', clock.now()]; ; await clock.sleep(POLL_MS, signal)) {
    const positions = await Promise.all(stores.map(async (store) => atMost(ends, await store.checkpoints())))
    const progress = positions.map((each) => ({ positions: each, isAtEnd: missingTo(ends, each) === 0 }))
    if (progress.every(({ isAtEnd }) => isAtEnd)) return progress
    signal?.throwIfAborted()
    const now = JSON.stringify(positions.map((each) => [...each]))
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (clock.now() - movedAt >= STILL_MS || clock.now() >= until) return progress
  }
}
