import { isExpired, isTrace, keyOf, sameItem, type Key, type Stored } from '../../projections/item.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Clock } from './clock.ts'
import { createDecisions, isDecision, type DecisionChange } from './decisions.ts'
import { createTallies, shown, type ItemChange, type KindCount } from './differences.ts'
import { isMemo, leavesTrace } from './keys.ts'
import type { Store } from './store.ts'

export type Side = Pick<Store, 'scan' | 'load' | 'checkpoints'>

export interface DiffParts {
  readonly table: TableSpec
  /** The generation that serves. It may move meanwhile. */
  readonly before: Side
  /** Brings the other one to where the serving one stands now, or a little further, and gives it. */
  readonly advance: () => Promise<Side>
  /** Whether the store of the serving one removes for good what has expired. */
  readonly collects: boolean
  readonly clock: Clock
  readonly sample: number
  readonly progress?: (items: number) => void
  readonly signal?: AbortSignal
}

export interface Diffed {
  readonly kinds: readonly KindCount[]
  readonly sample: readonly ItemChange[]
  readonly decisions: readonly DecisionChange[]
  /** Refusals of events so old that nobody knows any more what became of them in the serving generation. */
  readonly unknownDecisions: number
  /** Items that differ in our own bookkeeping only. */
  readonly bookkeeping: number
  /** Items that changed too often to be compared. */
  readonly moving: number
  /** Items of the serving one that are the engine's own, and no result of a rule. */
  readonly own: number
  readonly positions: ReadonlyMap<number, number>
}

const PAGE = 500
const ROUNDS = 30

/**
 * Compares every item of two generations, both ways, while both follow the log. A pair counts only when both are known to be as of one
 * position: neither lies beyond what the other has folded, or both held still while the other passed the end of the log.
 */
export const diff = async (parts: DiffParts): Promise<Diffed> => {
  const { before, advance, clock, signal } = parts
  const tallies = createTallies(parts.table, parts.sample)
  const judge = createJudge(parts, tallies)
  const suspects = new Map<string, Pair>()
  const look = (bounds: Bounds) => (pair: Pair): void => {
    if (!judge(pair, bounds)) suspects.set(keyOf(pair.key), pair)
  }
  let after = await advance()
  const positions = await after.checkpoints()
  const decisions = createDecisions(parts, [await before.checkpoints(), positions])
  const own = await lookAtAll(parts, after, { look: look(await boundsOf(before, after)), decided: decisions.add })
  for (let round = 0; round < ROUNDS && suspects.size > 0; round += 1) {
    after = await advance()
    const again = look(await boundsOf(before, after))
    for (const pair of await reread([...suspects.values()], { before, after })) {
      const was = suspects.get(keyOf(pair.key)) as Pair
      suspects.delete(keyOf(pair.key))
      if (heldStill(was, pair)) judge(pair)
      else again(pair)
    }
    if (suspects.size > 0) await clock.sleep(20, signal)
  }
  const { changes, unknown } = decisions.compared()
  return {
    kinds: tallies.kinds(), sample: tallies.sample(), bookkeeping: tallies.bookkeeping(),
    decisions: changes, unknownDecisions: unknown, moving: suspects.size, own, positions,
  }
}

interface Looking {
  readonly look: (pair: Pair) => void
  readonly decided: ReturnType<typeof createDecisions>['add']
}

/** Every pair once: what the serving one has, then what only the other has. The answer is how many of the first are our own. */
const lookAtAll = async ({ before, progress, signal }: DiffParts, after: Side, { look, decided }: Looking): Promise<number> => {
  let [items, own] = [0, 0]
  for await (const page of pagesOf(before, { decided: (item) => decided('before', item), left: () => (own += 1) })) {
    signal?.throwIfAborted()
    const others = await after.load(page)
    for (const [index, item] of page.entries()) look({ key: item, before: item, after: others[index] })
    own += page.filter(isTrace).length
    progress?.((items += page.length))
  }
  for await (const page of pagesOf(after, { decided: (item) => decided('after', item) })) {
    signal?.throwIfAborted()
    const others = await before.load(page)
    for (const [index, item] of page.entries()) if (others[index] === undefined) look({ key: item, before: undefined, after: item })
  }
  return own
}

interface Pair {
  readonly key: Key
  readonly before: Stored | undefined
  readonly after: Stored | undefined
}

/** What either has folded in every partition, read before its items. */
interface Bounds {
  readonly before: number
  readonly after: number
}

const boundsOf = async (before: Side, after: Side): Promise<Bounds> => ({ before: await leastOf(before), after: await leastOf(after) })

const leastOf = async (side: Side): Promise<number> => {
  const reached = [...(await side.checkpoints()).values()]
  return reached.length === 0 ? 0 : Math.min(...reached)
}

/** False while it cannot be told; without bounds it can. */
const createJudge = ({ table, clock }: DiffParts, tallies: ReturnType<typeof createTallies>) => ({ key, ...pair }: Pair, bounds?: Bounds): boolean => {
  const [before, after] = [shown(pair.before), shown(pair.after)]
  if (before !== undefined && after !== undefined && sameItem(before, after)) {
    tallies.same(key)
    return true
  }
  if (bounds !== undefined && !(isWithin(pair.before, key, bounds.after) && isWithin(pair.after, key, bounds.before))) return false
  if (before === undefined && after === undefined) return true
  // What has expired may or may not have been collected yet: neither is a difference.
  const lone = before === undefined ? after : after === undefined ? before : undefined
  if (lone === undefined || !isExpired(lone, table.ttl, clock.now())) tallies.differ(key, before, after)
  return true
}

/** Not there, and no trace of having been: never was, so far. */
const isWithin = (item: Stored | undefined, key: Key, bound: number): boolean => (item === undefined ? leavesTrace(key) : item._pos < bound)

const heldStill = (was: Pair, now: Pair): boolean => sameItem(was.before, now.before) && sameItem(was.after, now.after)

interface Ours {
  readonly decided: (item: Stored) => void
  /** Called for each that is not compared. */
  readonly left?: () => void
}

async function* pagesOf(side: Side, { decided, left }: Ours): AsyncGenerator<readonly Stored[]> {
  for await (const page of side.scan()) {
    const items: Stored[] = []
    for (const item of page) {
      if (!isDecision(item) && !isMemo(item)) items.push(item)
      else left?.()
      if (isDecision(item)) decided(item)
    }
    for (let at = 0; at < items.length; at += PAGE) yield items.slice(at, at + PAGE)
  }
}

const reread = async (pairs: readonly Pair[], { before, after }: { before: Side; after: Side }): Promise<readonly Pair[]> => {
  const again: Pair[] = []
  for (let at = 0; at < pairs.length; at += PAGE) {
    const keys = pairs.slice(at, at + PAGE).map(({ key: { PK, SK } }) => ({ PK, SK }))
    const [old, now] = [await before.load(keys), await after.load(keys)]
    for (const [index, key] of keys.entries()) again.push({ key, before: old[index], after: now[index] })
  }
  return again
}
