import { keyOf, type Item, type Key } from '../../projections/item.ts'
import type { Page } from '../../projections/table.ts'
import type { Log, LogRecord, Subscriber } from '../../processors/engine/log.ts'
import { EVERY } from '../../processors/engine/sort.ts'
import type { Checkpoint, Chunk, SpanOutcome, Store, Write } from '../../processors/engine/store.ts'
import { EXPENSES_BUGS } from './bugs-expenses.ts'
import { SCALES_BUGS, SERIES_BUGS } from './bugs-scales.ts'
import type { Bug, BugContext } from './bug.ts'

/**
 * Mistakes that somebody could make, planted on purpose: a harness that does not notice them proves nothing.
 * Each breaks one promise of a port, as its adapter or the engine around it might.
 */
const storing = (change: (store: Store, context: BugContext) => Partial<Store>): Bug => ({
  store: (store, context) => ({ ...store, ...change(store, context) }),
})

const keyOfWrite = (write: Write) => keyOf('put' in write ? write.put : write.remove)

type Held = (checkpoint: Checkpoint | undefined, context: BugContext) => Checkpoint | undefined

const writing = (change: (write: Write, context: BugContext) => readonly Write[], held: Held = (checkpoint) => checkpoint): Bug => storing((store, context) => ({
  commit: (spans, checkpoint) => store.commit(spans.map((span) => span.map((chunk) => chunk.flatMap((write) => change(write, context))).filter(({ length }) => length > 0)), held(checkpoint, context)),
}))

const subscribing = (change: (subscriber: Subscriber, context: BugContext) => Partial<Subscriber>): Bug => ({
  log: (log, context): Log => ({
    ...log,
    subscribe: (group, subscriber) => log.subscribe(group, { ...subscriber, ...change(subscriber, context) }),
  }),
})

const delivering = (change: (records: readonly LogRecord[], context: BugContext) => readonly LogRecord[]): Bug =>
  subscribing((subscriber, context) => ({ batch: (records, lease) => subscriber.batch(change(records, context), lease) }))

const allApplied = (spans: readonly unknown[]): readonly SpanOutcome[] => spans.map(() => ({ applied: 'all' }))

const current = (write: Write, { table }: BugContext): Write => {
  const found = table.items.get(keyOfWrite(write))
  if ('put' in write) return { ...write, expect: found?._pos ?? null }
  return found ? { ...write, expect: found._pos } : write
}

/** Over whatever checkpoint is there, but never back. */
const unconditional = (checkpoint: Checkpoint | undefined, { table }: BugContext): Checkpoint | undefined => {
  const stored = table.checkpoints.get(checkpoint?.partition ?? 0) ?? 0
  return checkpoint && { ...checkpoint, from: stored, offset: Math.max(stored, checkpoint.offset) }
}

/** Members that believe they still own what others work on. */
const ZOMBIES: Bug['under'] = { rates: { 'pause-before': 0.06, 'rebalance': 0.03, 'late': 0.02, 'crash-late': 0.01 }, moves: [] }

/** Without faults, nothing excuses that an event is appended twice. */
const CALM: Bug['under'] = { domain: 'toy', moves: [], rates: {} }
const FORGETS: Bug['under'] = { domain: 'meals', moves: ['rebuild', 'flip'] }
const FLIPS: Bug['under'] = { domain: 'toy', moves: ['rebuild', 'flip'] }

/** Writes come long after they were given up, and members do not know that they are none. */
const CROWDS: Bug['under'] = { domain: 'toy', moves: [], rates: { 'pause-before': 0.06, 'rebalance': 0.1, 'late': 0.05 } }

/** Which of two halves a process belongs to. */
const halfOf = ({ process }: BugContext) => Math.floor(process.id / 1_000) % 2

export const BUGS: Readonly<Record<string, Bug>> = {
  'conditions are not checked': { under: ZOMBIES, ...storing((store, context) => ({
    commit: (spans, checkpoint) => store.commit(spans.map((span) => span.map((chunk) => chunk.map((write) => current(write, context)))), unconditional(checkpoint, context)),
  })) },
  'the checkpoint is written unconditionally': { under: { domain: 'toy', moves: [], rates: { 'restore': 0.02 } }, ...storing((store, context) => ({
    commit: (spans, checkpoint) => store.commit(spans, unconditional(checkpoint, context)),
  })) },
  'the checkpoint is written before the items': storing((store) => ({
    commit: async (spans, checkpoint) => {
      if (checkpoint) await store.commit([], checkpoint)
      return store.commit(spans)
    },
  })),
  'the checkpoint is one too far': storing((store, { topic }) => ({
    commit: (spans, checkpoint) => {
      const end = checkpoint ? (topic.partitions[checkpoint.partition]?.length ?? 0) : 0
      return store.commit(spans, checkpoint && { ...checkpoint, offset: Math.min(end, checkpoint.offset + 1) })
    },
  })),
  'a lost answer is taken for success': storing((store) => ({
    commit: (spans, checkpoint) => store.commit(spans, checkpoint).catch(() => allApplied(spans)),
  })),
  'a failed condition is taken for success': { under: CROWDS, ...storing((store) => ({
    commit: async (spans, checkpoint) => allApplied(await store.commit(spans, checkpoint)),
  })) },
  'the checkpoint is written though a span failed': { under: CROWDS, ...storing((store, context) => ({
    commit: async (spans, checkpoint) => {
      const outcomes = await store.commit(spans)
      if (checkpoint) await store.commit([], unconditional(checkpoint, context))
      return outcomes
    },
  })) },
  'a commit is not all or nothing': storing((store) => ({
    commit: async (spans, checkpoint) => {
      const torn = spans.map((span) => span.flatMap((chunk): readonly Chunk[] => chunk.map((write) => [write])))
      return store.commit(torn, checkpoint)
    },
  })),
  // The checkpoint would stop most zombies before their writes meet anything.
  'a removal leaves no trace': { under: { ...ZOMBIES, domain: 'toy' }, ...writing((write) => {
    if (!('put' in write) || write.put['_removed'] !== true) return [write]
    return write.expect === null ? [] : [{ remove: { PK: write.put.PK, SK: write.put.SK }, expect: write.expect }]
  }, unconditional) },
  'parked events are forgotten': writing((write) => ('put' in write && write.put.PK.startsWith('PARKED#') ? [] : [write])),
  'the position up to which a parked key was skipped is lost': writing((write) => {
    const offset = 'put' in write && write.put.PK.startsWith('PARKED#') ? write.put['offset'] : undefined
    return 'put' in write && offset !== undefined ? [{ ...write, put: { ...write.put, through: offset } }] : [write]
  }),
  'healing a key for all projections skips the parked event of one projection': { under: { domain: 'toy', moves: [] }, ...storing((store) => ({
    reader: (now) => {
      const reader = store.reader(now)
      const isHealed = ({ key }: Item, { items }: Page) => items.some((other) => other['projection'] === EVERY && other['retry'] === true && other['key'] === key)
      return {
        ...reader,
        query: async (query) => {
          const page = await reader.query(query)
          return query.pk.startsWith('PARKED#') ? { ...page, items: page.items.filter((item) => item['projection'] === EVERY || !isHealed(item, page)) } : page
        },
      }
    },
  })) },
  'the outbox is not written': writing((write) => ('put' in write && write.put.PK.startsWith('OUTBOX#') ? [] : [write])),
  'markers of refusals are not written': writing((write) => ('put' in write && write.put.PK.startsWith('OUTCOME#') ? [] : [write])),
  'an item has the wrong position': writing((write) => ('put' in write && !write.put.PK.includes('#0') ? [{ ...write, put: { ...write.put, _pos: write.put._pos + 1 } }] : [write])),
  'a record is lost on its way': delivering((records, { random }) => (records.length > 1 && random.chance(0.05) ? records.slice(0, -1) : records)),
  'a record is lost and the batch says nothing': delivering((records, { random }) => (records.length > 2 && random.chance(0.2) ? [...records.slice(0, 1), ...records.slice(2)] : records)),
  'records of a batch come out of order': delivering((records) => records.toReversed()),
  'a partition begins one too late': subscribing((subscriber) => ({
    assigned: async (marks) => Math.min(marks.high, (await subscriber.assigned(marks)) + 1),
  })),
  'an append is acknowledged and not kept': {
    log: (log, { random }) => ({
      ...log,
      append: async (records) => (random.chance(0.5) ? records.map(({ key }) => ({ partition: log.partitionOf(key), offset: 0 })) : log.append(records)),
    }),
  },
  'money is rounded on the way': writing((write) => {
    const crates = 'put' in write ? write.put['crates'] : undefined
    return 'put' in write && typeof crates === 'number' ? [{ ...write, put: { ...write.put, crates: crates - (crates % 2) } }] : [write]
  }),
  'the newest write of a span is dropped': storing((store) => ({
    commit: async (spans, checkpoint) => {
      const outcomes = await store.commit(spans.map((span) => (span.length > 1 ? span.slice(0, -1) : span)), checkpoint)
      return outcomes
    },
  })),
  'events are sent without being claimed first': { under: CALM, ledger: (store) => ({
    ...store,
    commit: async (spans) => allApplied(spans),
    load: async (keys) => keys.map(() => undefined),
  }) },
  'the clock of the timers is fast': { under: { domain: 'toy', moves: [] }, clock: (clock) => ({ ...clock, now: () => clock.now() + 5_000 }) },
  'a flip forgets the generation that served before': { under: FLIPS, control: (control) => ({
    ...control,
    serving: async (domain) => ({ ...(await control.serving(domain)), before: [] }),
  }) },
  'a flip is done twice': { under: FLIPS, control: (control) => ({
    ...control,
    flip: async (domain, to, seen) => {
      await control.flip(domain, to, seen)
      await control.flip(domain, { ...to, from: new Map() }, (await control.serving(domain)).version)
    },
  }) },
  'both generations send': {
    under: FLIPS,
    control: (control, context) => ({
      ...control,
      serving: async (domain) => {
        const [pointer, listed] = [await control.serving(domain), (await control.generations(domain)).filter(({ state }) => state === 'following')]
        const own = listed[halfOf(context)]?.generation ?? pointer.generation
        return { ...pointer, generation: own, from: new Map(), before: [] }
      },
    }),
    // What one half sent, the other does not know.
    ledger: (store, context) => {
      const own = <K extends Key>(key: K): K => ({ ...key, SK: `${key.SK}#${halfOf(context)}` })
      return {
        ...store,
        load: (keys) => store.load(keys.map(own)),
        commit: (spans, checkpoint) => store.commit(spans.map((span) => span.map((chunk) => chunk.map((write): Write => ('put' in write ? { ...write, put: own(write.put) } : { ...write, remove: own(write.remove) })))), checkpoint),
      }
    },
  },
  'a fold is not a function of its events': { under: { domain: 'toy', moves: [] }, domain: (domain, { random }) => ({
    ...domain,
    projections: domain.projections.map((one) => ({
      ...one,
      folds: Object.fromEntries(Object.entries(one.folds).map(([type, fold]) => [type, fold && ((event, get) => {
        const result = fold(event, get)
        return random.chance(0.9) ? result : { ...result, items: [...(result.items ?? [])].slice(1) }
      })])),
    })),
  }) },
  'items keep the text of a forgotten person': { under: FORGETS, domain: (domain) => ({
    ...domain,
    ...(domain.personal ? { personal: { ...domain.personal, holds: () => false } } : {}),
  }) },
  'the key of a forgotten person is not destroyed': { under: FORGETS, keys: (keys) => ({
    ...keys,
    step: (subject, step) => (step === 'destroyed' ? Promise.resolve() : keys.step(subject, step)),
  }) },
  'timers are not written': { under: { domain: 'toy', moves: [] }, ...writing((write) => ('put' in write && write.put.PK.startsWith('TIMER#') ? [] : [write])) },
  ...SCALES_BUGS,
  ...SERIES_BUGS,
  ...EXPENSES_BUGS,
}
