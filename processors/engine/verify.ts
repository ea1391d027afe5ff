import { canonical, isExpired, isTrace, keyOf, sameItem, type Key, type Stored } from '../../projections/item.ts'
import type { Clock } from './clock.ts'
import { build, totalOf, type BuildParts } from './build.ts'
import type { BuildTarget } from './build-target.ts'
import { isTransient } from './keys.ts'
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
}

export interface VerifyParts extends Omit<BuildParts, 'target' | 'ends'> {
  readonly store: Pick<Store, 'scan' | 'load' | 'checkpoints'>
  /** A local store to fold into: empty, or folded up to its checkpoints. */
  readonly scratch: BuildTarget
  readonly clock: Clock
  /** Only this log key's items, when the log given reads only that key. */
  readonly belongs?: (key: Key) => boolean
}

const ROUNDS = 20
const PAGE = 100

/**
 * Folds the log afresh and compares every stored item, both ways. Live items move meanwhile: whatever differs is folded on
 * and compared again, and reported only when it held still and is still different.
 */
export const verify = async (parts: VerifyParts): Promise<Verified> => {
  const { store, scratch, clock, belongs = () => true } = parts
  const folded = async () => (await build({ ...parts, target: scratch, ends: await store.checkpoints() })).events
  const counts = (item: Stored) => !isTransient(item) && belongs(item)
  let events = totalOf(await scratch.checkpoints()) + (await folded())
  let items = 0
  let suspects = new Map<string, Difference>()
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
  for (let round = 0; round < ROUNDS && suspects.size > 0; round += 1) {
    events += await folded()
    const again = await recheck(suspects, { store, scratch })
    const moved = [...again].some(([id, difference]) => !sameStored(difference, suspects.get(id)))
    suspects = again
    if (!moved) break
    await clock.sleep(20)
  }
  const lasting = [...suspects.values()].filter((difference) => !isGone(difference, parts.domain.table.ttl, clock.now()))
  return { events, items, differences: lasting }
}

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
  if (stored !== undefined && folded !== undefined && sameItem(stored, folded)) return
  if (stored === undefined && folded === undefined) return
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

const recheck = async (suspects: ReadonlyMap<string, Difference>, { store, scratch }: { store: VerifyParts['store']; scratch: BuildTarget }) => {
  const again = new Map<string, Difference>()
  const keys = [...suspects.values()]
  for (let at = 0; at < keys.length; at += PAGE) {
    const part = keys.slice(at, at + PAGE)
    const stored = await store.load(part)
    for (const [index, key] of part.entries()) note(again, { key, stored: stored[index], folded: scratch.peek(key) })
  }
  return again
}

const sameStored = (a: Difference, b: Difference | undefined): boolean =>
  b !== undefined && (a.stored ? canonical(a.stored) : '') === (b.stored ? canonical(b.stored) : '')

/** What has expired may or may not have been collected yet: neither is a difference. */
const isGone = ({ kind, stored, folded }: Difference, ttl: string, now: number): boolean =>
  kind !== 'changed' && isExpired((stored ?? folded) as Stored, ttl, now)
