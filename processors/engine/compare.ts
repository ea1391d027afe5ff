import { keyOf, type Key, type Stored } from '../../projections/item.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { atMost, endsOf, missingTo, type Positions } from './positions.ts'
import { sideBySide } from './side-by-side.ts'
import type { Store } from './store.ts'

/** The entries of both sides under one key, as they were read. */
export interface Pair<K, T extends K> {
  readonly key: K
  readonly left: T | undefined
  readonly right: T | undefined
}

type See<K, T extends K> = (pair: Pair<K, T>) => void
type Unsettled<K, T extends K> = ReadonlyMap<string, Pair<K, T>>

interface Comparison<K, T extends K> {
  readonly idOf: (key: K) => string
  /** Reads every pair once. */
  readonly scan: (see: See<K, T>) => Promise<void>
  /** Lets one side catch up with the other. */
  readonly advance: (round: number) => Promise<void>
  /** Reads these pairs again. A pair that neither side has any more may be left out. */
  readonly reread: (pairs: Unsettled<K, T>, see: See<K, T>) => Promise<void>
  /** Returns true if the pair is equal, or different for certain. `before` is the pair as it was read the time before. */
  readonly settle: (pair: Pair<K, T>, before: Pair<K, T> | undefined) => boolean
  /** How often unsettled pairs are read again. */
  readonly rounds: number
}

/**
 * Compares two sides while at least one of them changes: reads all pairs, lets one side catch up, and reads the unsettled pairs again.
 * Resolves to the number of pairs that remain unsettled after the last round.
 */
export const compare = async <K, T extends K>({ idOf, scan, advance, reread, settle, rounds }: Comparison<K, T>): Promise<number> => {
  const look = async (read: (see: See<K, T>) => Promise<void>, before: Unsettled<K, T>): Promise<Unsettled<K, T>> => {
    const unsettled = new Map<string, Pair<K, T>>()
    await read((pair) => {
      const was = before.size === 0 ? undefined : before.get(idOf(pair.key))
      if (!settle(pair, was)) unsettled.set(idOf(pair.key), pair)
    })
    return unsettled
  }
  let unsettled = await look(scan, new Map())
  for (let round = 0; round < rounds && unsettled.size > 0; round += 1) {
    await advance(round)
    const before = unsettled
    unsettled = await look((see) => reread(before, see), before)
  }
  return unsettled.size
}

export type ItemSide = Pick<Store, 'scan' | 'sorted' | 'load'>

interface ItemSides {
  readonly left: ItemSide
  readonly right: ItemSide
  /** No process writes to the right side during a scan. Then equal counts prove that it has no item that the left side lacks. */
  readonly isRightStill?: true
}

const PAGE = 500

/** Two stores in one pass if both are sorted; otherwise each is scanned, and its items are loaded from the other. */
export const scanItems = async ({ left, right, isRightStill }: ItemSides, see: See<Key, Stored>): Promise<void> => {
  if (left.sorted && right.sorted) {
    const pair = (one: Stored | undefined, other: Stored | undefined) => see({ key: (one ?? other) as Stored, left: one, right: other })
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
    for (const [index, item] of items.entries()) if (others[index] === undefined) see({ key: item, left: undefined, right: item })
  }
}

export const rereadItems = async ({ left, right }: ItemSides, pairs: Unsettled<Key, Stored>, see: See<Key, Stored>): Promise<void> => {
  const keys = [...pairs.values()].map(({ key: { PK, SK } }) => ({ PK, SK }))
  for (let at = 0; at < keys.length; at += PAGE) {
    const part = keys.slice(at, at + PAGE)
    const [ones, others] = [await left.load(part), await right.load(part)]
    for (const [index, key] of part.entries()) see({ key, left: ones[index], right: others[index] })
  }
}

/** The order of `Store.sorted`: by the UTF-8 bytes of the keys. */
const byKey = (a: Key, b: Key): number => (a.SK === b.SK && a.PK === b.PK ? 0 : Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b))))

async function* cut(pages: AsyncIterable<readonly Stored[]>): AsyncGenerator<readonly Stored[]> {
  for await (const page of pages) for (let at = 0; at < page.length; at += PAGE) yield page.slice(at, at + PAGE)
}

const countOf = async ({ scan }: ItemSide): Promise<number> => {
  let count = 0
  for await (const page of scan()) count += page.length
  return count
}

/** Each page without the entries that do not count. */
export async function* only<T>(pages: AsyncIterable<readonly T[]>, counts: (each: T) => boolean): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.filter(counts)
}

interface ReachedParts {
  readonly log: Pick<Log, 'watermarks'>
  readonly clock: Clock
  /** The wait ends after this time, also if the stores make progress. Default: no limit. */
  readonly patienceMs?: number
  readonly signal?: AbortSignal | undefined
}

interface Reached {
  /** At most the end of the log as it was when the wait began. */
  readonly positions: Positions
  readonly isAtEnd: boolean
}

/** A generation that makes no progress for this long has no processor that follows it. */
const STILL_MS = 3_000
const POLL_MS = 20
/** A verification compares what is stored: it waits this long for a processor that is behind, and no longer. */
export const VERIFY_PATIENCE_MS = 5_000

/** Waits until every store has passed the present end of the log, none makes progress, or `patienceMs` are over. */
export const untilReached = async (stores: readonly Pick<Store, 'checkpoints'>[], { log, clock, patienceMs = Infinity, signal }: ReachedParts): Promise<readonly Reached[]> => {
  const ends = await endsOf(log)
  const until = clock.now() + patienceMs
  for (let [last, movedAt] = ['', clock.now()]; ; await clock.sleep(POLL_MS, signal)) {
    const reached = await Promise.all(stores.map(async (store) => atMost(ends, await store.checkpoints())))
    const found = reached.map((positions) => ({ positions, isAtEnd: missingTo(ends, positions) === 0 }))
    if (found.every(({ isAtEnd }) => isAtEnd)) return found
    signal?.throwIfAborted()
    const now = JSON.stringify(reached.map((positions) => [...positions]))
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (clock.now() - movedAt >= STILL_MS || clock.now() >= until) return found
  }
}
