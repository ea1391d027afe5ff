import type { Outcome } from '../../projections/projection.ts'
import type { Advance, Advanced } from './advance.ts'
import type { FoldedSpan, KeySpan } from './span.ts'
import { RejectedSpans } from './store-faults.ts'
import type { Checkpoint, SpanOutcome, Store } from './store.ts'

/** Points of a wrong state would keep their version for ever, so the checkpoint is required before them too. */
export const writePoints = async ({ store, series, checkpoint }: Advance, points: FoldedSpan['points']): Promise<void> => {
  if (checkpoint !== undefined) await store.commit([], holding(checkpoint))
  await series?.write(points)
}

/** Requires the checkpoint and leaves it where it is. */
export const holding = (checkpoint: Checkpoint | undefined): Checkpoint | undefined => checkpoint && { ...checkpoint, offset: checkpoint.from }

export const commitOrReject = async (store: Store, folded: readonly FoldedSpan[], checkpoint: Checkpoint | undefined): Promise<readonly SpanOutcome[] | RejectedSpans> => {
  try {
    return await store.commit(folded.map(({ chunks }) => chunks), checkpoint)
  } catch (error) {
    if (error instanceof RejectedSpans) return error
    throw error
  }
}

interface Isolating {
  readonly advance: (parts: Advance) => Promise<readonly Advanced[]>
  readonly results: Map<KeySpan, Advanced>
  readonly span: KeySpan
  readonly error: unknown
}

/** Commits the events of a rejected span one by one, up to the first one that the store rejects by itself: the same event in every batching. */
export const isolate = async (parts: Advance, { advance, results, span, error }: Isolating): Promise<void> => {
  const [only] = span.heard
  if (span.heard.length === 1 && only !== undefined) return void results.set(span, { span, outcomes: [], sends: false, poison: { heard: only, error } })
  const outcomes: (Outcome | undefined)[] = []
  let sends = false
  let poison: Advanced['poison']
  for (const heard of span.heard) {
    const [one] = await advance({ ...parts, spans: [{ ...span, heard: [heard] }], ...(parts.checkpoint && { checkpoint: holding(parts.checkpoint) as Checkpoint }) })
    outcomes.push(...(one?.outcomes ?? []))
    sends ||= one?.sends === true
    poison = one?.poison
    if (poison !== undefined) break
  }
  results.set(span, { span, outcomes, sends, ...(poison && { poison }) })
}
