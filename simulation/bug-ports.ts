import { keyOf } from '../projections/item.ts'
import type { LogRecord, Subscriber } from '../processors/engine/ports/log.ts'
import type { Checkpoint, SpanOutcome, Store, Write } from '../processors/engine/ports/store.ts'
import type { Bug, BugContext } from './bug.ts'
import type { OpenTopic } from '../processors/engine/ports/log-admin.ts'

/** Returns a bug that replaces functions of the item store. */
export const storing = (change: (store: Store, context: BugContext) => Partial<Store>): Bug => ({
  store: (store, context) => ({ ...store, ...change(store, context) }),
})

const keyOfWrite = (write: Write) => keyOf('put' in write ? write.put : write.remove)

type ChangeCheckpoint = (checkpoint: Checkpoint | undefined, context: BugContext) => Checkpoint | undefined

/**
 * Returns a bug that replaces each write of a commit by the writes that `change` returns, and the checkpoint by the result of
 * `changeCheckpoint`. Default of `changeCheckpoint`: the checkpoint stays as it is.
 */
export const writing = (
  change: (write: Write, context: BugContext) => readonly Write[],
  changeCheckpoint: ChangeCheckpoint = (checkpoint) => checkpoint,
): Bug =>
  storing((store, context) => ({
    commit: (spans, checkpoint) =>
      store.commit(
        spans.map((span) =>
          span.map((chunk) => chunk.flatMap((write) => change(write, context))).filter(({ length }) => length > 0),
        ),
        changeCheckpoint(checkpoint, context),
      ),
  }))

/** Returns a bug that replaces functions of each subscriber of the log. */
export const subscribing = (change: (subscriber: Subscriber, context: BugContext) => Partial<Subscriber>): Bug => ({
  log: (log, context): OpenTopic => ({
    ...log,
    subscribe: (group, subscriber) => log.subscribe(group, { ...subscriber, ...change(subscriber, context) }),
  }),
})

/** Returns a bug that replaces the records of each delivered batch. */
export const delivering = (change: (records: readonly LogRecord[], context: BugContext) => readonly LogRecord[]): Bug =>
  subscribing((subscriber, context) => ({
    batch: (records, lease) => subscriber.batch(change(records, context), lease),
  }))

export const allApplied = (spans: readonly unknown[]): readonly SpanOutcome[] => spans.map(() => ({ applied: 'all' }))

/**
 * Returns the write with a condition that always holds: the item has the position that it has now. A removal of an item that does not exist is
 * returned unchanged.
 */
export const current = (write: Write, { table }: BugContext): Write => {
  const found = table.items.get(keyOfWrite(write))
  if ('put' in write) return { ...write, expect: found?._pos ?? null }
  return found ? { ...write, expect: found._pos } : write
}

/**
 * Returns the checkpoint with a condition that always holds: the checkpoint has the offset that is stored now. The new offset is never lower than
 * the stored offset.
 */
export const unconditional = (checkpoint: Checkpoint | undefined, { table }: BugContext): Checkpoint | undefined => {
  const stored = table.checkpoints.get(checkpoint?.partition ?? 0) ?? 0
  return checkpoint && { ...checkpoint, from: stored, offset: Math.max(stored, checkpoint.offset) }
}
