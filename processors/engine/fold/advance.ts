import { earliest, NOTHING_DUE } from '../../../projections/outgoing-rows.ts'
import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { Series } from '../ports/series.ts'
import { RejectedSpans, type Checkpoint, type SpanOutcome, type Store } from '../ports/store.ts'
import { foldSpan, MISSING, type FoldedSpan, type ItemCache, type KeySpan } from './span.ts'

export interface AdvancedSpan extends Pick<FoldedSpan, 'outcomes' | 'due' | 'poison'> {
  readonly span: KeySpan
}

export interface AdvanceParts {
  readonly store: Store
  /** The store of the events' points. The points are written before the items and the checkpoint. Absent: no points are stored. */
  readonly series?: Pick<Series, 'write'> | undefined
  readonly spans: readonly KeySpan[]
  /** The last commit moves this checkpoint. If a span is poisoned, no commit moves the checkpoint: the caller first parks the key. */
  readonly checkpoint?: Checkpoint
  /** Called for each span whose commit failed because a stored item was newer. */
  readonly conflicted?: () => void
  /** Finds which event of a rejected span the store cannot store (poison/rejected-spans.ts). Default: `advance` throws the fault `RejectedSpans`. */
  readonly isolate?: (parts: AdvanceParts, span: KeySpan, error: unknown) => Promise<AdvancedSpan>
}

/**
 * Folds the spans and commits their changes. If another process has changed an item, the commit fails: then takes the stored items from the
 * result of the commit and folds again. The `_pos` of an item shows which events are already applied. Resolves when each event of each span
 * is in the items, or its span is poisoned. An event is poison if its fold throws or if the store rejects its items for good. Throws other
 * faults of the store; calling again is safe.
 */
export const advance = async (parts: AdvanceParts): Promise<readonly AdvancedSpan[]> => {
  const { store, series, spans, checkpoint, conflicted, isolate } = parts
  const cache = createItemCache(store)
  const results = new Map<KeySpan, AdvancedSpan>()
  let pending = spans
  for (;;) {
    const folded = await foldAll(pending, cache)
    for (const [index, each] of folded.entries()) mergeResult(results, pending[index] as KeySpan, each)
    const points = folded.flatMap((each) => each.points)
    if (points.length > 0 && series !== undefined) await writePoints({ store, series, checkpoint }, points)
    const isPoisoned = [...results.values()].some(({ poison }) => poison !== undefined)
    const chunks = folded.map((each) => each.chunks)
    const committed = await store
      .commit(chunks, isPoisoned ? unmovedCheckpoint(checkpoint) : checkpoint)
      .catch(unlessRejected)
    if (committed instanceof RejectedSpans) {
      if (isolate === undefined) throw committed
      for (const [index, error] of committed.spans) {
        const span = pending[index] as KeySpan
        results.set(span, await isolate(parts, span, error))
      }
      // The spans that were not rejected are folded again, as they may not be applied. If there are none, the next commit only writes the checkpoint.
      pending = pending.filter((_, index) => !committed.spans.has(index))
      cache.forget()
      continue
    }
    const behind = pending.filter((_, index) => committed[index]?.applied !== 'all')
    for (const outcome of committed) if (outcome.applied !== 'all') conflicted?.()
    if (behind.length === 0) return spans.map((span) => results.get(span) as AdvancedSpan)
    replaceCached(cache, committed)
    pending = behind
  }
}

/** Keeps the first outcome of each event. If a repeated fold finds an event applied, an earlier commit or another process applied it. */
const mergeResult = (results: Map<KeySpan, AdvancedSpan>, span: KeySpan, folded: FoldedSpan) => {
  const earlier = results.get(span)
  results.set(span, {
    span,
    outcomes: folded.outcomes.map((outcome, index) => outcome ?? earlier?.outcomes[index]),
    due: earliest(folded.due, earlier?.due ?? NOTHING_DUE),
    ...(folded.poison === undefined ? {} : { poison: folded.poison }),
  })
}

/** Checks the stored checkpoint before the write: a process that lost its partition must not write points, because nothing corrects wrong points. */
const writePoints = async (
  { store, series, checkpoint }: Pick<AdvanceParts, 'store' | 'series'> & { checkpoint: Checkpoint | undefined },
  points: FoldedSpan['points'],
): Promise<void> => {
  if (checkpoint !== undefined) await store.commit([], unmovedCheckpoint(checkpoint))
  await series?.write(points)
}

/** Returns a checkpoint for a commit that must not move it: the commit only checks that the stored checkpoint is still `from`. */
export const unmovedCheckpoint = <C extends Checkpoint | undefined>(checkpoint: C): C =>
  checkpoint && { ...checkpoint, offset: checkpoint.from }

const unlessRejected = (error: unknown): RejectedSpans => {
  if (error instanceof RejectedSpans) return error
  throw error
}

/**
 * Folds the spans and loads the items that are missing. If another process folds the same events, loads the items again until two loads are
 * equal: only then do all items show the state of the same moment.
 */
const foldAll = async (spans: readonly KeySpan[], cache: LoadingCache): Promise<readonly FoldedSpan[]> => {
  const folded = spans.map((span) => foldSpan(span, cache))
  const foldAgain = (isUnfinished: (each: FoldedSpan) => boolean) => {
    for (const [index, each] of folded.entries())
      if (isUnfinished(each)) folded[index] = foldSpan(spans[index] as KeySpan, cache)
  }
  for (;;) {
    const missing = folded.flatMap(({ misses }) => misses)
    const contested = folded.flatMap((each) => each.contested)
    if (missing.length > 0) {
      await cache.load(missing)
      foldAgain(({ misses }) => misses.length > 0)
    } else {
      if (contested.length === 0 || !(await cache.load(contested))) return folded
      foldAgain((each) => each.contested.length > 0)
    }
  }
}

interface LoadingCache extends ItemCache {
  /** Resolves to true if a loaded item differs from the cached one. */
  load(keys: readonly Key[]): Promise<boolean>
  add(item: Stored): void
  forget(): void
}

/** Caches the items that this batch loaded. A store with `peek` needs no cache: it reads without await, and only this process writes to it. */
const createItemCache = (store: Store): LoadingCache => {
  const items = new Map<string, Stored | undefined>()
  const { peek } = store
  const find: ItemCache['find'] =
    peek ??
    ((key) => {
      const id = keyOf(key)
      return items.get(id) ?? (items.has(id) ? undefined : MISSING)
    })
  return {
    isSoleWriter: peek !== undefined,
    find,
    load: async (keys) => {
      const wanted = new Map(keys.map((key) => [keyOf(key), key]))
      const loaded = await store.load([...wanted.values()])
      let isChanged = false
      for (const [index, id] of [...wanted.keys()].entries()) {
        isChanged ||= items.get(id)?._pos !== loaded[index]?._pos
        items.set(id, loaded[index])
      }
      return isChanged
    },
    add: (item) => void items.set(keyOf(item), item),
    forget: () => items.clear(),
  }
}

/** Keeps only the items that the failed commit returned, because the other cached items can be out of date. */
const replaceCached = (cache: LoadingCache, outcomes: readonly SpanOutcome[]) => {
  cache.forget()
  for (const outcome of outcomes) if (outcome.applied !== 'all') for (const item of outcome.current) cache.add(item)
}
