import { isExpired, keyOf, sameItem, type Key, type Stored } from '../../../projections/item.ts'
import type { Clock } from '../ports/clock.ts'
import { build, type BuildParts } from '../rebuild/build.ts'
import type { BuildTarget } from '../rebuild/build-target.ts'
import {
  compare,
  only,
  rereadItems,
  scanItems,
  untilCaughtUp,
  VERIFY_PATIENCE_MS,
  type ItemSide,
  type Pair,
} from './compare.ts'
import { shown } from './differences.ts'
import type { Log } from '../ports/log.ts'
import { endsOf, totalOf, type Positions } from '../generations/positions.ts'
import type { Store } from '../ports/store.ts'
import { isTransient } from '../generations/bookkeeping.ts'

/** A stored item that differs from the fold of the log. */
export interface Difference extends Key {
  readonly kind: 'missing' | 'extra' | 'changed'
  readonly stored?: Stored
  readonly folded?: Stored
}

export interface Verified {
  readonly events: number
  readonly items: number
  readonly differences: readonly Difference[]
  /** The number of items that changed again before each read, so that it is unknown whether they differ from the fold of the log. */
  readonly moving: number
}

interface VerifyParts extends Omit<BuildParts, 'target' | 'ends' | 'log'> {
  readonly log: BuildParts['log'] & Pick<Log, 'watermarks'>
  readonly store: Pick<Store, 'scan' | 'sorted' | 'load' | 'checkpoints'>
  /** The local store for the fold: empty, or folded up to its checkpoints. */
  readonly scratch: BuildTarget
  readonly clock: Clock
  /** Selects the items to compare, if `log` reads only some keys. Default: all items. */
  readonly belongs?: (item: Stored) => boolean
}

const ROUNDS = 20
const PAUSE_MS = 20

/**
 * Folds the log again and compares all stored items, in both directions. Items can change during the comparison, and a processor writes
 * items before their checkpoint. So if a pair differs, folds all events that the stored item can contain, and reads the pair again. Reports
 * the pair only if both items are at the same event, or the stored item did not change in between.
 */
export const verify = async (parts: VerifyParts): Promise<Verified> => {
  const { store, scratch, log, clock, signal, domain } = parts
  const sides = sidesOf(parts)
  const certain: Difference[] = []
  let items = 0
  let events = totalOf(await scratch.checkpoints())
  const foldTo = async (ends: Positions) => void (events += (await build({ ...parts, target: scratch, ends })).events)
  await foldTo(await store.checkpoints())
  const moving = await compare<Key, Stored>({
    idOf: keyOf,
    rounds: ROUNDS,
    scan: (see) =>
      scanItems(sides, (pair) => {
        if (pair.left !== undefined) items += 1
        see(pair)
      }),
    advance: async (round) => {
      if (round > 0) await clock.sleep(PAUSE_MS, signal)
      for (const { positions } of await untilCaughtUp([store], { log, clock, patienceMs: VERIFY_PATIENCE_MS, signal }))
        await foldTo(positions)
    },
    reread: (pairs, see) => rereadItems(sides, pairs, see),
    settle: (pair, before) => {
      if (sameItem(pair.left, pair.right)) return true
      if (!isCertain(pair, before)) return false
      certain.push(differenceOf(pair))
      return true
    },
  })
  // If no processor runs now, the last one can have stored items past its checkpoint. So these items are compared with a fold to the end of the log.
  if (certain.length > 0) await foldTo(await endsOf(log))
  const differences = certain.filter(
    (found) => !isGone(found, domain.table.ttl, clock.now()) && !sameItem(found.stored, scratch.peek(found)),
  )
  return { events, items, differences, moving }
}

/** Returns the two sides of the comparison: the stored items and the folded items. Tombstones count as absent, because readers do not see them. */
const sidesOf = ({ store, scratch, belongs = () => true }: VerifyParts) => {
  const counted = (side: ItemSide): ItemSide => ({
    ...(side.sorted && { sorted: side.sorted }),
    scan: () => only(side.scan(), (item) => !isTransient(item) && belongs(item)),
    load: async (keys) => (await side.load(keys)).map(shown),
  })
  return { left: counted(store), right: counted(scratch), isRightStill: true } as const
}

/**
 * True if the two items must be equal: both are at the same event, or the stored item did not change while all events that it can contain
 * were folded.
 */
const isCertain = ({ left, right }: Pair<Key, Stored>, before: Pair<Key, Stored> | undefined): boolean =>
  before !== undefined && ((left !== undefined && left._pos === right?._pos) || sameItem(left, before.left))

const differenceOf = ({ key: { PK, SK }, left: stored, right: folded }: Pair<Key, Stored>): Difference => {
  const kind = stored === undefined ? 'missing' : folded === undefined ? 'extra' : 'changed'
  return { PK, SK, kind, ...(stored && { stored }), ...(folded && { folded }) }
}

/** True for an expired item that only one side has. Each store removes expired items at some later time, so this is not a difference. */
const isGone = ({ kind, stored, folded }: Difference, ttl: string, now: number): boolean =>
  kind !== 'changed' && isExpired((stored ?? folded) as Stored, ttl, now)
