import type { Item, Key } from '../projections/item.ts'
import type { Page } from '../projections/table.ts'
import type { Chunk, Write } from '../processors/engine/ports/store.ts'
import type { Bug, BugContext } from './bug.ts'
import { ASK_BUGS } from './bugs-asks.ts'
import { allApplied, current, delivering, storing, subscribing, unconditional, writing } from './bug-ports.ts'
import { EVERY_PROJECTION } from '../processors/engine/ports/log.ts'
import type { SimulatedDomains } from './run.ts'

/** Faults that make zombies: members that write to a partition after another member has taken it over. */
const ZOMBIES: Bug['options'] = {
  rates: { 'pause-before': 0.06, rebalance: 0.03, late: 0.02, 'crash-late': 0.01 },
  moves: [],
}

/** No faults. Without faults the sender may append an event only once, so the checkers find every second append. */
const CALM: Bug['options'] = { domain: 'toy', moves: [], rates: {} }
const FLIPS: Bug['options'] = { domain: 'toy', moves: ['rebuild', 'flip'] }

/** Faults that make zombies, and writes that take effect long after their process received an error. */
const CROWDS: Bug['options'] = { domain: 'toy', moves: [], rates: { 'pause-before': 0.06, rebalance: 0.1, late: 0.05 } }

/** Divides the nodes into two halves. Returns 0 for a node with an even index, and 1 for a node with an odd index. */
const halfOf = ({ process }: BugContext) => Math.floor(process.id / 1_000) % 2

/** The planted bugs of the engine and of the domains, by name. */
export const bugsOf = (domains: SimulatedDomains): Readonly<Record<string, Bug>> =>
  Object.assign({}, ENGINE_BUGS, ASK_BUGS, ...Object.values(domains).map(({ bugs }) => bugs ?? {})) as Record<
    string,
    Bug
  >

/**
 * Mistakes that a developer of an adapter or of the engine could make. Each mistake breaks one rule of a port. The simulation must detect
 * every mistake.
 */
const ENGINE_BUGS: Readonly<Record<string, Bug>> = {
  'conditions are not checked': {
    options: ZOMBIES,
    ...storing((store, context) => ({
      commit: (spans, checkpoint) =>
        store.commit(
          spans.map((span) => span.map((chunk) => chunk.map((write) => current(write, context)))),
          unconditional(checkpoint, context),
        ),
    })),
  },
  'the checkpoint is written unconditionally': {
    options: { domain: 'toy', moves: [], rates: { restore: 0.02 } },
    ...storing((store, context) => ({
      commit: (spans, checkpoint) => store.commit(spans, unconditional(checkpoint, context)),
    })),
  },
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
  'a failed condition is taken for success': {
    options: CROWDS,
    ...storing((store) => ({ commit: async (spans, checkpoint) => allApplied(await store.commit(spans, checkpoint)) })),
  },
  'the checkpoint is written though a span failed': {
    options: CROWDS,
    ...storing((store, context) => ({
      commit: async (spans, checkpoint) => {
        const outcomes = await store.commit(spans)
        if (checkpoint) await store.commit([], unconditional(checkpoint, context))
        return outcomes
      },
    })),
  },
  'a commit is not all or nothing': storing((store) => ({
    commit: async (spans, checkpoint) => {
      const torn = spans.map((span) => span.flatMap((chunk): readonly Chunk[] => chunk.map((write) => [write])))
      return store.commit(torn, checkpoint)
    },
  })),
  // The checkpoint is written unconditionally, because its condition would stop most zombies before they write an item.
  'a removal leaves no tombstone': {
    options: { ...ZOMBIES, domain: 'toy' },
    ...writing((write) => {
      if (!('put' in write) || write.put['_removed'] !== true) return [write]
      return write.expect === null ? [] : [{ remove: { PK: write.put.PK, SK: write.put.SK }, expect: write.expect }]
    }, unconditional),
  },
  'parked events are forgotten': writing((write) =>
    'put' in write && write.put.PK.startsWith('PARKED#') ? [] : [write],
  ),
  'the position up to which a parked key was skipped is lost': writing((write) => {
    const offset = 'put' in write && write.put.PK.startsWith('PARKED#') ? write.put['offset'] : undefined
    return 'put' in write && offset !== undefined ? [{ ...write, put: { ...write.put, through: offset } }] : [write]
  }),
  'healing a key for all projections skips the parked event of one projection': {
    options: { domain: 'toy', moves: [] },
    ...storing((store) => ({
      reader: (now) => {
        const reader = store.reader(now)
        const isHealed = ({ key }: Item, { items }: Page) =>
          items.some((row) => row['projection'] === EVERY_PROJECTION && row['retry'] === true && row['key'] === key)
        return {
          ...reader,
          query: async (query) => {
            const page = await reader.query(query)
            return query.pk.startsWith('PARKED#')
              ? {
                  ...page,
                  items: page.items.filter((item) => item['projection'] === EVERY_PROJECTION || !isHealed(item, page)),
                }
              : page
          },
        }
      },
    })),
  },
  'the outbox is not written': writing((write) =>
    'put' in write && write.put.PK.startsWith('OUTBOX#') ? [] : [write],
  ),
  'rows of refusals are not written': writing((write) =>
    'put' in write && write.put.PK.startsWith('OUTCOME#') ? [] : [write],
  ),
  'an item has the wrong position': writing((write) =>
    'put' in write && !write.put.PK.includes('#0')
      ? [{ ...write, put: { ...write.put, _pos: write.put._pos + 1 } }]
      : [write],
  ),
  'the last record of a batch is lost': delivering((records, { random }) =>
    records.length > 1 && random.chance(0.05) ? records.slice(0, -1) : records,
  ),
  'a record in the middle of a batch is lost': delivering((records, { random }) =>
    records.length > 2 && random.chance(0.2) ? [...records.slice(0, 1), ...records.slice(2)] : records,
  ),
  'the records of a batch are delivered in reverse order': delivering((records) => records.toReversed()),
  'a partition begins one too late': subscribing((subscriber) => ({
    assigned: async (watermark) => Math.min(watermark.high, (await subscriber.assigned(watermark)) + 1),
  })),
  'an append is acknowledged but not stored': {
    log: (log, { random }) => ({
      ...log,
      append: async (records) =>
        random.chance(0.5)
          ? records.map(({ key }) => ({ partition: log.partitionOf(key), offset: 0 }))
          : log.append(records),
    }),
  },
  'an amount is rounded before it is written': writing((write) => {
    const crates = 'put' in write ? write.put['crates'] : undefined
    return 'put' in write && typeof crates === 'number'
      ? [{ ...write, put: { ...write.put, crates: crates - (crates % 2) } }]
      : [write]
  }),
  'the newest write of a span is dropped': storing((store) => ({
    commit: async (spans, checkpoint) => {
      const outcomes = await store.commit(
        spans.map((span) => (span.length > 1 ? span.slice(0, -1) : span)),
        checkpoint,
      )
      return outcomes
    },
  })),
  'events are sent without being claimed first': {
    options: CALM,
    ledger: (store) => ({
      ...store,
      commit: async (spans) => allApplied(spans),
      load: async (keys) => keys.map(() => undefined),
    }),
  },
  'the clock of the timers is fast': {
    options: { domain: 'toy', moves: [] },
    clock: (clock) => ({ ...clock, now: () => clock.now() + 5_000 }),
  },
  'a flip forgets the generation that served before': {
    options: FLIPS,
    control: (control) => ({
      ...control,
      serving: async (domain) => ({ ...(await control.serving(domain)), before: [] }),
    }),
  },
  'a flip is written twice': {
    options: FLIPS,
    control: (control) => ({
      ...control,
      flip: async (domain, to, seen) => {
        await control.flip(domain, to, seen)
        await control.flip(domain, { ...to, from: new Map() }, (await control.serving(domain)).version)
      },
    }),
  },
  'both generations send': {
    options: FLIPS,
    control: (control, context) => ({
      ...control,
      serving: async (domain) => {
        const [pointer, listed] = [
          await control.serving(domain),
          (await control.generations(domain)).filter(({ state }) => state === 'following'),
        ]
        const own = listed[halfOf(context)]?.generation ?? pointer.generation
        return { ...pointer, generation: own, from: new Map(), before: [] }
      },
    }),
    // Each half has its own ledger rows, so it does not find the rows of the events that the other half has sent.
    ledger: (store, context) => {
      const own = <K extends Key>(key: K): K => ({ ...key, SK: `${key.SK}#${halfOf(context)}` })
      return {
        ...store,
        load: (keys) => store.load(keys.map(own)),
        commit: (spans, checkpoint) =>
          store.commit(
            spans.map((span) =>
              span.map((chunk) =>
                chunk.map((write): Write =>
                  'put' in write ? { ...write, put: own(write.put) } : { ...write, remove: own(write.remove) },
                ),
              ),
            ),
            checkpoint,
          ),
      }
    },
  },
  'a fold is not a function of its events': {
    options: { domain: 'toy', moves: [] },
    domain: (domain, { random }) => ({
      ...domain,
      projections: domain.projections.map((projection) => ({
        ...projection,
        folds: Object.fromEntries(
          Object.entries(projection.folds).map(([type, fold]) => [
            type,
            fold &&
              ((event, get) => {
                const result = fold(event, get)
                return random.chance(0.9) ? result : { ...result, items: [...(result.items ?? [])].slice(1) }
              }),
          ]),
        ),
      })),
    }),
  },
  'timers are not written': {
    options: { domain: 'toy', moves: [] },
    ...writing((write) => ('put' in write && write.put.PK.startsWith('TIMER#') ? [] : [write])),
  },
}
