import { keyOf, type Key, type Stored } from '../../projections/item.ts'
import type { Outcome } from '../../projections/projection.ts'
import type { Heard } from './decide.ts'
import { foldSpan, MISSING, type FoldedSpan, type KeySpan, type Known } from './span.ts'
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
  readonly spans: readonly KeySpan[]
  /** Written with the last commit, unless a span turned out poisoned: then the caller parks its key first. */
  readonly checkpoint?: Checkpoint
  /** Called for every commit that met a newer item; the span is folded again from what is there. */
  readonly conflicted?: () => void
}

/**
 * Fold, commit, and where a condition failed take what is there now and fold again: what was applied shows itself by `_pos`.
 * Resolves when every event of every span is in the items (or its span is poisoned). Faults of the store pass through; calling again is safe.
 */
export const advance = async ({ store, spans, checkpoint, conflicted }: Advance): Promise<readonly Advanced[]> => {
  const known = createKnown(store)
  const results = new Map<KeySpan, Advanced>()
  let pending = spans
  do {
    const folded = await foldAll(pending, known)
    for (const [index, one] of folded.entries()) settle(results, pending[index] as KeySpan, one)
    const poisoned = [...results.values()].some(({ poison }) => poison !== undefined)
    const outcomes = await store.commit(folded.map(({ chunks }) => chunks), poisoned ? undefined : checkpoint)
    const behind = pending.filter((_, index) => outcomes[index]?.applied !== 'all')
    for (const outcome of outcomes) if (outcome.applied !== 'all') conflicted?.()
    relearn(known, outcomes, behind.length)
    pending = behind
  } while (pending.length > 0)
  return spans.map((span) => results.get(span) as Advanced)
}

/** The first word on an event stands: what a later try finds applied was applied by the earlier one, or by another who heard the same. */
const settle = (results: Map<KeySpan, Advanced>, span: KeySpan, { outcomes, sends, poison }: FoldedSpan) => {
  const earlier = results.get(span)
  const told = outcomes.map((outcome, index) => outcome ?? earlier?.outcomes[index])
  results.set(span, { span, outcomes: told, sends: sends || earlier?.sends === true, ...(poison === undefined ? {} : { poison }) })
}

const foldAll = async (spans: readonly KeySpan[], known: Cache): Promise<readonly FoldedSpan[]> => {
  const folded = spans.map((span) => foldSpan(span, known))
  for (;;) {
    const missing = folded.flatMap(({ misses }) => misses)
    if (missing.length === 0) return folded
    await known.load(missing)
    for (const [index, one] of folded.entries()) {
      if (one.misses.length > 0) folded[index] = foldSpan(spans[index] as KeySpan, known)
    }
  }
}

interface Cache extends Known {
  load(keys: readonly Key[]): Promise<void>
  learn(item: Stored): void
  forget(): void
}

/** What was loaded for this batch. A store that reads without await needs no cache and never misses. */
const createKnown = (store: Store): Cache => {
  const items = new Map<string, Stored | undefined>()
  const { peek } = store
  const find: Known['find'] =
    peek === undefined ? (id) => (items.has(id) ? items.get(id) : MISSING) : (_, key) => peek(key)
  return {
    find,
    load: async (keys) => {
      const wanted = new Map(keys.map((key) => [keyOf(key), key]))
      const found = await store.load([...wanted.values()])
      for (const [index, id] of [...wanted.keys()].entries()) items.set(id, found[index])
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
