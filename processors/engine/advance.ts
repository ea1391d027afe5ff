import { keyOf, type Key, type Stored } from '../../projections/item.ts'
import type { Outcome } from '../../projections/projection.ts'
import type { Heard } from './decide.ts'
import type { Series } from './series.ts'
import { foldSpan, MISSING, type FoldedSpan, type KeySpan, type Known } from './span.ts'
import { commitOrReject, holding, isolate, writePoints } from './rejecting.ts'
import { RejectedSpans } from './store-faults.ts'
import type { Checkpoint, SpanOutcome, Store } from './store.ts'

export interface Advanced {
  readonly span: KeySpan
  readonly outcomes: readonly (Outcome | undefined)[]
  /** Whether an event put something into the outbox. */
  readonly sends: boolean
  readonly poison?: { readonly heard: Heard; readonly error: unknown }
}

export interface Advance {
  readonly store: Store
  /** Where points go, before anything says that they are there. */
  readonly series?: Pick<Series, 'write'> | undefined
  readonly spans: readonly KeySpan[]
  /** Moved with the last commit, unless a span turned out poisoned: then it stays where it is, and the caller parks the key first. */
  readonly checkpoint?: Checkpoint
  /** Called for every commit that met a newer item; the span is folded again from what is there. */
  readonly conflicted?: () => void
}

/**
 * Folds and commits. If a condition failed, takes the stored items and folds again: `_pos` shows which events are applied.
 * Resolves when every event of every span is in the items, or its span is poisoned. An event is poison if its fold throws or if the store
 * rejects its items for good. Other faults of the store pass through; calling again is safe.
 */
export const advance = async (parts: Advance): Promise<readonly Advanced[]> => {
  const { store, series, spans, checkpoint, conflicted } = parts
  const known = createKnown(store)
  const results = new Map<KeySpan, Advanced>()
  let pending = spans
  for (;;) {
    const folded = await foldAll(pending, known)
    for (const [index, one] of folded.entries()) settle(results, pending[index] as KeySpan, one)
    const points = folded.flatMap((one) => one.points)
    if (points.length > 0 && series !== undefined) await writePoints(parts, points)
    const poisoned = [...results.values()].some(({ poison }) => poison !== undefined)
    const committed = await commitOrReject(store, folded, poisoned ? holding(checkpoint) : checkpoint)
    if (committed instanceof RejectedSpans) {
      for (const [index, error] of committed.spans) await isolate(parts, { advance, results, span: pending[index] as KeySpan, error })
      // The other spans may be applied or not: folding them again finds out. If there are none, the next commit moves the checkpoint.
      pending = pending.filter((_, index) => !committed.spans.has(index))
      known.forget()
      continue
    }
    const outcomes = committed
    const behind = pending.filter((_, index) => outcomes[index]?.applied !== 'all')
    for (const outcome of outcomes) if (outcome.applied !== 'all') conflicted?.()
    relearn(known, outcomes, behind.length)
    if (behind.length === 0) return spans.map((span) => results.get(span) as Advanced)
    pending = behind
  }
}

/** The first word on an event stands: what a later try finds applied was applied by the earlier one, or by another who heard the same. */
const settle = (results: Map<KeySpan, Advanced>, span: KeySpan, { outcomes, sends, poison }: FoldedSpan) => {
  const earlier = results.get(span)
  const told = outcomes.map((outcome, index) => outcome ?? earlier?.outcomes[index])
  results.set(span, { span, outcomes: told, sends: sends || earlier?.sends === true, ...(poison === undefined ? {} : { poison }) })
}

/** Loads what the folds miss; where another writer shows itself, until two loads in a row agree: only then were the items all there at once. */
const foldAll = async (spans: readonly KeySpan[], known: Cache): Promise<readonly FoldedSpan[]> => {
  const folded = spans.map((span) => foldSpan(span, known))
  const again = (unfinished: (one: FoldedSpan) => boolean) => {
    for (const [index, one] of folded.entries()) if (unfinished(one)) folded[index] = foldSpan(spans[index] as KeySpan, known)
  }
  for (;;) {
    const missing = folded.flatMap(({ misses }) => misses)
    const contested = folded.flatMap((one) => one.contested)
    if (missing.length > 0) {
      await known.load(missing)
      again(({ misses }) => misses.length > 0)
    } else {
      if (contested.length === 0 || !(await known.load(contested))) return folded
      again((one) => one.contested.length > 0)
    }
  }
}

interface Cache extends Known {
  /** Resolves to whether anything turned out other than it was known. */
  load(keys: readonly Key[]): Promise<boolean>
  learn(item: Stored): void
  forget(): void
}

/** What was loaded for this batch. A store that reads without await needs no cache, never misses, and has one writer. */
const createKnown = (store: Store): Cache => {
  const items = new Map<string, Stored | undefined>()
  const { peek } = store
  const find: Known['find'] =
    peek ??
    ((key) => {
      const id = keyOf(key)
      return items.get(id) ?? (items.has(id) ? undefined : MISSING)
    })
  return {
    alone: peek !== undefined,
    find,
    load: async (keys) => {
      const wanted = new Map(keys.map((key) => [keyOf(key), key]))
      const found = await store.load([...wanted.values()])
      let other = false
      for (const [index, id] of [...wanted.keys()].entries()) {
        other ||= items.get(id)?._pos !== found[index]?._pos
        items.set(id, found[index])
      }
      return other
    },
    learn: (item) => items.set(keyOf(item), item),
    forget: () => items.clear(),
  }
}

/** A failed condition means others wrote: only what came back is known to be current. */
const relearn = (known: Cache, outcomes: readonly SpanOutcome[], behind: number) => {
  if (behind === 0) return
  known.forget()
  for (const outcome of outcomes) if (outcome.applied !== 'all') for (const item of outcome.current) known.learn(item)
}
