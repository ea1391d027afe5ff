import { isExpired, isTrace, keyOf, sameItem, type Key, type Stored } from '../../projections/item.ts'
import type { Clock } from './clock.ts'
import { build, type BuildParts } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import { isTransient } from './keys.ts'
import type { Log } from './log.ts'
import { atMost, endsOf, missingTo, totalOf, type Positions } from './positions.ts'
import { sideBySide } from './side-by-side.ts'
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
  /** Items that changed every time they were looked at, so that nothing is said of them. */
  readonly moving: number
}

export interface VerifyParts extends Omit<BuildParts, 'target' | 'ends' | 'log'> {
  readonly log: BuildParts['log'] & Pick<Log, 'watermarks'>
  readonly store: Pick<Store, 'scan' | 'sorted' | 'load' | 'checkpoints'>
  /** A local store to fold into: empty, or folded up to its checkpoints. */
  readonly scratch: BuildTarget
  readonly clock: Clock
  /** Only some log keys' items, when the log given reads only those keys. */
  readonly belongs?: (item: Stored) => boolean
}

const ROUNDS = 20
const PAGE = 100
const PATIENCE_MS = 5_000
const POLL_MS = 20

/**
 * Folds the log afresh and compares every stored item, both ways. Live items move meanwhile, and are written before their
 * checkpoint: whatever differs is folded on past all that was stored when it was read, and compared again, and reported only when
 * it stands at the same event as its fold or held still meanwhile.
 */
export const verify = async (parts: VerifyParts): Promise<Verified> => {
  const { store, scratch, belongs = () => true } = parts
  const counts = (item: Stored) => !isTransient(item) && belongs(item)
  const begun = totalOf(await scratch.checkpoints()) + (await foldTo(parts, await store.checkpoints()))
  const { suspects, items } = await (store.sorted && scratch.sorted ? compareSorted : compareScanned)({ store, scratch, counts })
  const { events, differences, moving } = await settle(parts, suspects)
  return { events: begun + events, items, differences, moving }
}

interface Comparing extends Pick<VerifyParts, 'store' | 'scratch'> {
  readonly counts: (item: Stored) => boolean
}

interface Compared {
  readonly suspects: ReadonlyMap<string, Difference>
  readonly items: number
}

/** Both in the order of their keys. */
const compareSorted = async ({ store, scratch, counts }: Comparing): Promise<Compared> => {
  const suspects = new Map<string, Difference>()
  let items = 0
  await sideBySide<Stored>({
    left: store.scan(),
    right: scratch.scan(),
    counts,
    order: (stored, folded) => (stored.SK === folded.SK && stored.PK === folded.PK ? 0 : inBytes(stored, folded)),
    pair: (stored, folded) => {
      if (stored !== undefined) items += 1
      note(suspects, { key: (stored ?? folded) as Stored, stored, folded })
    },
  })
  return { suspects, items }
}

const inBytes = (a: Key, b: Key): number => Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b)))

const compareScanned = async ({ store, scratch, counts }: Comparing): Promise<Compared> => {
  const suspects = new Map<string, Difference>()
  let items = 0
  for await (const page of store.scan()) {
    for (const stored of page.filter(counts)) {
      items += 1
      note(suspects, { stored, folded: scratch.peek(stored), key: stored })
    }
  }
  const extra = [...suspects.values()].filter(({ kind }) => kind === 'extra').length
  // As many as were found stored: then none is missing, and no store need be asked for each of them.
  if ((await countOf(scratch, counts)) !== items - extra) {
    for await (const page of scratch.scan()) await compareBack(page.filter(counts), { store, suspects })
  }
  return { suspects, items }
}

const foldTo = async (parts: VerifyParts, ends: Positions): Promise<number> =>
  (await build({ ...parts, target: parts.scratch, ends })).events

/** Looks at what differs again and again, until each of them is the same, or different for sure. */
const settle = async (parts: VerifyParts, first: ReadonlyMap<string, Difference>) => {
  const { scratch, clock, domain } = parts
  const certain: Difference[] = []
  let suspects = first
  let events = 0
  for (let round = 0; round < ROUNDS && suspects.size > 0; round += 1) {
    if (round > 0) await clock.sleep(POLL_MS)
    const ends = await endsPassed(parts)
    events += await foldTo(parts, ends)
    const unsure = new Map<string, Difference>()
    for (const [id, difference] of await recheck(suspects, parts)) {
      if (isSettled(difference, suspects.get(id))) certain.push(difference)
      else unsure.set(id, difference)
    }
    suspects = unsure
  }
  // Where nobody follows, items may lie ahead of the checkpoint of whoever wrote them last.
  if (certain.length > 0) events += await foldTo(parts, await endsOf(parts.log))
  const lasting = certain.filter((found) => !isGone(found, domain.table.ttl, clock.now()) && !sameItem(found.stored, scratch.peek(found)))
  return { events, differences: lasting, moving: suspects.size }
}

/** The ends of the log as of now, once they are in the items; where nobody follows, what is. */
const endsPassed = async ({ log, store, clock }: VerifyParts): Promise<Positions> => {
  const ends = await endsOf(log)
  for (const until = clock.now() + PATIENCE_MS; ; await clock.sleep(POLL_MS)) {
    const reached = await store.checkpoints()
    if (missingTo(ends, reached) === 0 || clock.now() >= until) return atMost(ends, reached)
  }
}

/** At the same event they must be the same; and what held still while all that it may show was folded is what it is. */
const isSettled = (now: Difference, before: Difference | undefined): boolean =>
  (now.stored !== undefined && now.stored._pos === now.folded?._pos) || (before !== undefined && sameItem(now.stored, before.stored))

const countOf = async (scratch: BuildTarget, counts: (item: Stored) => boolean): Promise<number> => {
  let count = 0
  for await (const page of scratch.scan()) for (const item of page) if (counts(item)) count += 1
  return count
}

interface Pair {
  readonly key: Key
  readonly stored: Stored | undefined
  readonly folded: Stored | undefined
}

const note = (suspects: Map<string, Difference>, { key: { PK, SK }, stored: found, folded }: Pair) => {
  const stored = found !== undefined && isTrace(found) ? undefined : found
  if (sameItem(stored, folded)) return
  const kind = stored === undefined ? 'missing' : folded === undefined ? 'extra' : 'changed'
  suspects.set(keyOf({ PK, SK }), { PK, SK, kind, ...(stored && { stored }), ...(folded && { folded }) })
}

const compareBack = async (page: readonly Stored[], { store, suspects }: { store: VerifyParts['store']; suspects: Map<string, Difference> }) => {
  for (let at = 0; at < page.length; at += PAGE) {
    const part = page.slice(at, at + PAGE)
    const found = await store.load(part)
    for (const [index, folded] of part.entries()) if (found[index] === undefined) note(suspects, { key: folded, stored: undefined, folded })
  }
}

const recheck = async (suspects: ReadonlyMap<string, Difference>, { store, scratch }: VerifyParts) => {
  const again = new Map<string, Difference>()
  const keys = [...suspects.values()]
  for (let at = 0; at < keys.length; at += PAGE) {
    const part = keys.slice(at, at + PAGE)
    const stored = await store.load(part)
    for (const [index, key] of part.entries()) note(again, { key, stored: stored[index], folded: scratch.peek(key) })
  }
  return again
}

/** What has expired may or may not have been collected yet: neither is a difference. */
const isGone = ({ kind, stored, folded }: Difference, ttl: string, now: number): boolean =>
  kind !== 'changed' && isExpired((stored ?? folded) as Stored, ttl, now)
