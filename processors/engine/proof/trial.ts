import { isTombstone, keyOf, stamped, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { Domain, Outcome } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { messageOf } from '../../../schemas/fault.ts'
import { APPLIED, createDecide, decidersOf, type Decider } from '../fold/decide.ts'
import type { Parked } from '../poison/parked-entry.ts'
import type { Store } from '../ports/store.ts'
import { rowRulesOf } from '../outgoing/row-rules.ts'
import { parkedKey } from '../poison/keys.ts'
import { EVERY_PROJECTION, type Log } from '../ports/log.ts'

export interface TrialParts {
  readonly domain: Domain
  readonly codec: Codec
  readonly log: Pick<Log, 'partitionOf'>
  readonly store: Pick<Store, 'load'>
}

/**
 * Computes the outcomes that the events would have if they were appended now, in this order. Writes nothing. An event that would change
 * no item is a duplicate. An event of a parked key, and an event whose fold throws, is `parked`.
 */
export const tryEvents = async (
  { domain, codec, log, store }: TrialParts,
  events: readonly Event[],
): Promise<readonly Outcome[]> => {
  const rules = rowRulesOf(domain, codec)
  // The derived events are counted and not encoded, because a key that seals them may not be in memory.
  const outgoing: typeof rules.outgoing = (cause, { derived = [], ...result }, get) => {
    const rows = rules.outgoing(cause, result, get)
    return rows && { ...rows, count: rows.count + derived.length }
  }
  const deciders = decidersOf(domain, { ...rules, outgoing })
  const names = [EVERY_PROJECTION, ...domain.projections.map(({ name }) => name)]
  const parking = [...new Set(events.map(({ meta }) => meta.key))].flatMap((key) =>
    names.map((name) => ({ key, at: parkedKey(log.partitionOf(key), name, key) })),
  )
  const entries = await store.load(parking.map(({ at }) => at))
  const parked = new Map(
    parking.flatMap(({ key }, index) => {
      const entry = entries[index]
      return entry === undefined || isTombstone(entry) ? [] : [[key, (entry as Stored & Parked).reason] as const]
    }),
  )
  const loaded = new Map<string, Stored | undefined>()
  for (;;) {
    const state = createState(loaded)
    const outcomes = events.map((event) => {
      const reason = parked.get(event.meta.key)
      return reason === undefined ? tryOne(deciders, event, state) : ({ kind: 'parked', reason, behind: true } as const)
    })
    if (state.misses.size === 0) return outcomes
    const keys = [...state.misses.values()]
    for (const [index, item] of (await store.load(keys)).entries()) loaded.set(keyOf(keys[index] as Key), item)
  }
}

/** The stored items with the changes of the events so far. */
interface State {
  find(key: Key): Stored | undefined
  set(key: Key, item: Stored | undefined): void
  /** The items that a fold read and that are not loaded yet. If there are such items, the outcomes are not valid. */
  readonly misses: Map<string, Key>
}

const createState = (loaded: ReadonlyMap<string, Stored | undefined>): State => {
  const changed = new Map<string, Stored | undefined>()
  const misses = new Map<string, Key>()
  return {
    misses,
    find: (key) => {
      const id = keyOf(key)
      if (changed.has(id)) return changed.get(id)
      if (!loaded.has(id)) misses.set(id, { PK: key.PK, SK: key.SK })
      return loaded.get(id)
    },
    set: (key, item) => void changed.set(keyOf(key), item),
  }
}

/** Higher than the offset of each stored item, so that no event counts as applied before. */
const OFFSET = Number.MAX_SAFE_INTEGER

const tryOne = (deciders: readonly Decider[], event: Event, state: State): Outcome => {
  let outcome: Outcome | undefined
  for (const decider of deciders) {
    if (decider.projection.folds[event.type] === undefined) continue
    try {
      const decision = createDecide(decider, state.find)({ partition: 0, offset: OFFSET, event })
      if (decision.outcome.kind !== 'applied') return decision.outcome
      for (const change of decision.changes) decider.measure(change)
      for (const change of decision.changes)
        state.set(change, '_removed' in change ? undefined : stamped(change as Item, OFFSET))
      if (decision.changes.length > 0) outcome = APPLIED
    } catch (error) {
      return { kind: 'parked', reason: messageOf(error) }
    }
  }
  return outcome ?? { kind: 'duplicate', of: event.meta.eventId }
}
