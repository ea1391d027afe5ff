import { isExpired, isTombstone, keyOf, sameItem, type Key, type Stored } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Clock } from '../ports/clock.ts'
import { isChangingAsk } from '../asks/waiting.ts'
import { compare, rereadItems, scanItems, type ItemSide, type Pair } from './compare.ts'
import { createDecisions, isDecision, type DecisionChange } from './decisions.ts'
import { createTallies, shown, type ItemChange, type KindCount } from './differences.ts'
import type { Store } from '../ports/store.ts'
import { isRequestOrOutbox } from '../generations/bookkeeping.ts'
import { tombstonesOf } from '../outgoing/keys.ts'

export type Side = Pick<Store, 'scan' | 'sorted' | 'load' | 'checkpoints'>

export interface DiffParts extends Pick<Domain, 'withoutTombstone'> {
  readonly table: TableSpec
  /** The serving generation. It can change during the comparison. */
  readonly before: Side
  /** Folds the other generation up to the present checkpoints of the serving one, or a little further. Resolves to the other generation. */
  readonly advance: () => Promise<Side>
  /** True if the store of the serving generation removes expired rows. */
  readonly removesExpired: boolean
  readonly clock: Clock
  readonly sample: number
  readonly progress?: (items: number) => void
  readonly signal?: AbortSignal
}

export interface Diffed {
  readonly kinds: readonly KindCount[]
  readonly sample: readonly ItemChange[]
  readonly decisions: readonly DecisionChange[]
  /** The number of events whose decision in the serving generation is unknown, because its store can have removed the expired rows. */
  readonly unknownDecisions: number
  /** The number of items that differ only in attributes of the engine. */
  readonly bookkeeping: number
  /** The number of items that changed too often to be compared. */
  readonly moving: number
  /** The number of rows of the engine in the serving generation. */
  readonly own: number
  /** The number of asks in the other generation that change something outside. If it serves, they wait for an operator. */
  readonly changingAsks: number
  /** The checkpoints of the other generation when the comparison began. */
  readonly positions: ReadonlyMap<number, number>
}

const ROUNDS = 30
const PAUSE_MS = 20

/**
 * Compares all items of two generations, in both directions, while both follow the log. One item of a pair can contain later events than
 * the other item. So a different pair is counted in two cases only: each generation has folded past the last events of both items, or
 * neither item changed while the other generation folded further.
 */
export const diff = async (parts: DiffParts): Promise<Diffed> => {
  const { before, clock, signal } = parts
  const tallies = createTallies(parts.table, parts.sample)
  const judge = createJudge(parts, tallies)
  let after = await parts.advance()
  const positions = await after.checkpoints()
  const decisions = createDecisions(parts, [await before.checkpoints(), positions])
  let bounds = await boundsOf(before, after)
  let [items, own, changingAsks] = [0, 0, 0]
  const scanned =
    (side: 'before' | 'after') =>
    (page: readonly Stored[]): void => {
      signal?.throwIfAborted()
      for (const item of page) if (isDecision(item)) decisions.add(side, item)
      if (side === 'after') return void (changingAsks += page.filter(isChangingAsk).length)
      own += page.filter((item) => isDecision(item) || isRequestOrOutbox(item) || isTombstone(item)).length
      parts.progress?.(items)
    }
  const moving = await compare<Key, Stored>({
    idOf: keyOf,
    rounds: ROUNDS,
    scan: (see) =>
      scanItems(
        { left: withoutEngineRows(before, scanned('before')), right: withoutEngineRows(after, scanned('after')) },
        (pair) => {
          if (pair.left !== undefined) items += 1
          see(pair)
        },
      ),
    advance: async (round) => {
      if (round > 0) await clock.sleep(PAUSE_MS, signal)
      after = await parts.advance()
      bounds = await boundsOf(before, after)
    },
    reread: (pairs, see) => rereadItems({ left: before, right: after }, pairs, see),
    settle: (pair, was) => judge(pair, was !== undefined && isUnchanged(was, pair) ? undefined : bounds),
  })
  const { changes, unknown } = decisions.compared()
  return {
    kinds: tallies.kinds(),
    sample: tallies.sample(),
    bookkeeping: tallies.bookkeeping(),
    decisions: changes,
    unknownDecisions: unknown,
    moving,
    own,
    changingAsks,
    positions,
  }
}

/** For each generation: all partitions are folded up to at least this offset. It is read before the items. */
interface Bounds {
  readonly before: number
  readonly after: number
}

const boundsOf = async (before: Side, after: Side): Promise<Bounds> => ({
  before: await leastOf(before),
  after: await leastOf(after),
})

const leastOf = async (side: Side): Promise<number> => {
  const reached = [...(await side.checkpoints()).values()]
  return reached.length === 0 ? 0 : Math.min(...reached)
}

/**
 * Returns a function that counts a pair as equal or different. If the items differ and one of them can contain later events than the other,
 * the function returns false and counts nothing. Without `bounds` it counts every pair.
 */
const createJudge = ({ table, clock, ...domain }: DiffParts, tallies: ReturnType<typeof createTallies>) => {
  const leavesTombstone = tombstonesOf(domain)
  /**
   * True if the offset of the item's last event is below the bound. If removals of this key leave tombstones, an absent item has never
   * existed, and the result is true for every bound.
   */
  const isWithin = (item: Stored | undefined, key: Key, bound: number): boolean =>
    item === undefined ? leavesTombstone(key) : item._pos < bound
  return ({ key, left, right }: Pair<Key, Stored>, bounds?: Bounds): boolean => {
    const [before, after] = [shown(left), shown(right)]
    if (before !== undefined && after !== undefined && sameItem(before, after)) {
      tallies.same(key)
      return true
    }
    if (bounds !== undefined && !(isWithin(left, key, bounds.after) && isWithin(right, key, bounds.before)))
      return false
    if (before === undefined && after === undefined) return true
    // Each store removes expired items at some later time. So an expired item on one side only is not a difference.
    const lone = before === undefined ? after : after === undefined ? before : undefined
    if (lone === undefined || !isExpired(lone, table.ttl, clock.now())) tallies.differ(key, before, after)
    return true
  }
}

const isUnchanged = (was: Pair<Key, Stored>, now: Pair<Key, Stored>): boolean =>
  sameItem(was.left, now.left) && sameItem(was.right, now.right)

/** A side whose scan leaves out the rows of the engine. `scanned` receives all rows. */
const withoutEngineRows = (side: Side, scanned: (page: readonly Stored[]) => void): ItemSide => ({
  ...side,
  async *scan() {
    for await (const page of side.scan()) {
      scanned(page)
      yield page.filter((item) => !isDecision(item) && !isRequestOrOutbox(item))
    }
  },
})
