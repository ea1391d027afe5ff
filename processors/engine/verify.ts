import { isExpired, keyOf, sameItem, type Key, type Stored } from '../../projections/item.ts'
import type { Clock } from './clock.ts'
import { build, type BuildParts } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import { compare, only, rereadItems, scanItems, untilReached, VERIFY_PATIENCE_MS, type ItemSide, type Pair } from './compare.ts'
import { shown } from './differences.ts'
import { isTransient } from './keys.ts'
import type { Log } from './log.ts'
import { endsOf, totalOf, type Positions } from './positions.ts'
import type { Store } from './store.ts'

/** A stored item that is not what its log folds to. */
export interface Difference extends Key {
  readonly kind: 'missing' | 'extra' | 'changed'
  readonly stored?: Stored
  readonly folded?: Stored
}

export interface Verified {
  readonly events: number
  readonly items: number
  readonly differences: readonly Difference[]
  /** Items that changed at every comparison, so that the result is unknown. */
  readonly moving: number
}

interface VerifyParts extends Omit<BuildParts, 'target' | 'ends' | 'log'> {
  readonly log: BuildParts['log'] & Pick<Log, 'watermarks'>
  readonly store: Pick<Store, 'scan' | 'sorted' | 'load' | 'checkpoints'>
  /** A local store to fold into: empty, or folded up to its checkpoints. */
  readonly scratch: BuildTarget
  readonly clock: Clock
  /** Only some log keys' items, when the log given reads only those keys. */
  readonly belongs?: (item: Stored) => boolean
}

const ROUNDS = 20
const PAUSE_MS = 20

/**
 * Folds the log again and compares every stored item, in both directions. Live items change during the comparison, and are written before
 * their checkpoint. So if a pair differs, the log is folded past everything that was stored when the pair was read, and the pair is read
 * again. It is reported only if both items are at the same event, or the stored item did not change in between.
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
    scan: (see) => scanItems(sides, (pair) => {
      if (pair.left !== undefined) items += 1
      see(pair)
    }),
    advance: async (round) => {
      if (round > 0) await clock.sleep(PAUSE_MS, signal)
      for (const { positions } of await untilReached([store], { log, clock, patienceMs: VERIFY_PATIENCE_MS, signal })) await foldTo(positions)
    },
    reread: (pairs, see) => rereadItems(sides, pairs, see),
    settle: (pair, before) => {
      if (sameItem(pair.left, pair.right)) return true
      if (!isCertain(pair, before)) return false
      certain.push(differenceOf(pair))
      return true
    },
  })
  // If nobody follows, the last writer may have stored items past its checkpoint.
  if (certain.length > 0) await foldTo(await endsOf(log))
  const differences = certain.filter((found) => !isGone(found, domain.table.ttl, clock.now()) && !sameItem(found.stored, scratch.peek(found)))
  return { events, items, differences, moving }
}

/** Readers see no tombstones, so a stored one counts as absent. */
const sidesOf = ({ store, scratch, belongs = () => true }: VerifyParts) => {
  const counted = (side: ItemSide): ItemSide => ({
    ...(side.sorted && { sorted: side.sorted }),
    scan: () => only(side.scan(), (item) => !isTransient(item) && belongs(item)),
    load: async (keys) => (await side.load(keys)).map(shown),
  })
  return { left: counted(store), right: counted(scratch), isRightStill: true } as const
}

/** At the same event both must be equal. A stored item that did not change while everything that it may contain was folded must be equal too. */
const isCertain = ({ left, right }: Pair<Key, Stored>, before: Pair<Key, Stored> | undefined): boolean =>
  before !== undefined && ((left !== undefined && left._pos === right?._pos) || sameItem(left, before.left))

const differenceOf = ({ key: { PK, SK }, left: stored, right: folded }: Pair<Key, Stored>): Difference => {
  const kind = stored === undefined ? 'missing' : folded === undefined ? 'extra' : 'changed'
  return { PK, SK, kind, ...(stored && { stored }), ...(folded && { folded }) }
}

/** The store may or may not have collected an expired item yet: neither is a difference. */
const isGone = ({ kind, stored, folded }: Difference, ttl: string, now: number): boolean =>
  kind !== 'changed' && isExpired((stored ?? folded) as Stored, ttl, now)
