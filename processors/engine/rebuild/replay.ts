import type { Change, Outcome } from '../../../projections/projection.ts'
import { isRetriable } from '../../../schemas/fault.ts'
import {
  APPLIED,
  createDecide,
  decidersOf,
  type Decide,
  type Cause,
  type Decider,
  type LoggedEvent,
} from '../fold/decide.ts'
import { readRecord, type Poison } from '../fold/sort.ts'
import type { UnsentEvents } from '../generations/generation.ts'
import { rowRulesOf, type IsOutgoing } from '../outgoing/row-rules.ts'
import { parkedFrom, parkedName, type Parked, type StoredParked } from '../poison/parked-entry.ts'
import { EVERY_PROJECTION, type LogRecord } from '../ports/log.ts'
import type { BuildParts } from './build.ts'
import type { PointBuffer } from './point-buffer.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * A packed item (converted to bytes) has at most this many bytes per byte of `sizeOf`. The worst case is a number of one digit: its size is
 * 2, and it is packed to up to 9 bytes.
 */
const PACKED = 5

interface Folding {
  readonly items: Pick<WorkingSet, 'find' | 'put' | 'remove'>
  readonly points: Pick<PointBuffer, 'add'>
  /** Receives the entries of the keys that this build parks. */
  readonly parked: Parked[]
  /** The entries that are stored already. */
  readonly parkedBefore: readonly StoredParked[]
  /** The last offset of this partition's build. The events of a parked key up to this offset are skipped. */
  readonly through: number
}

/** The outcome of one record. `logged` is absent if the record was not decoded or could not be decoded. */
interface Folded {
  readonly logged?: LoggedEvent
  readonly outcome: Outcome
}

const DISCARDED: Outcome = {
  kind: 'refused',
  refusal: {
    code: 'discarded',
    detail: 'An operator discarded the event. tributary parked --discarded shows who and why.',
  },
}
const BEHIND: Outcome = { kind: 'parked', reason: 'an earlier event of this key could not be folded', behind: true }

export interface Replay {
  fold(record: LogRecord): Folded
  /** Adds to each parked entry the number of events that were skipped since the last call. */
  settle(): void
  /** The number of events whose derived events got no outbox rows because they are too old. */
  omitted(): number
}

/**
 * Folds records in the order of the log into `items`. Does not check `_pos`, because nothing else writes these items. Used by a build and
 * for the history of one key.
 */
export const createReplay = (
  { domain, codec, unsent }: Pick<BuildParts, 'domain' | 'codec' | 'unsent'>,
  { items, points, parked, parkedBefore, through }: Folding,
): Replay => {
  const { isSent, omitted } = createIsSent(unsent)
  const rules = rowRulesOf(domain, codec, isSent)
  const deciders = decidersOf(domain, rules).map((decider) => ({
    ...decider,
    decide: createDecide(decider, items.find),
  }))
  const parkedEntries = new Map(
    parkedBefore.map((entry) => [parkedName(entry), { entry: { ...entry, through }, behind: 0 }]),
  )
  const park = (poison: Poison): Outcome => {
    const entry = parkedFrom(poison, through)
    parkedEntries.set(parkedName(entry), { entry: { ...entry, _pos: entry.offset }, behind: 0 })
    parked.push(entry)
    return { kind: 'parked', reason: entry.reason }
  }
  /** Returns true, and counts the event, if the key is parked for the projection. */
  const skipIfParked = (name: string, key: string): boolean => {
    const found = parkedEntries.size === 0 ? undefined : parkedEntries.get(`${name}#${key}`)
    if (found !== undefined) found.behind += 1
    return found !== undefined
  }
  const settle = () => {
    for (const [name, { entry, behind }] of parkedEntries) {
      const settled = { ...entry, waiting: entry.waiting + behind }
      parkedEntries.set(name, { entry: settled, behind: 0 })
      items.put(settled, settled._pos, PACKED * rules.measure(settled))
    }
  }
  /** Folds one event for one projection. Undefined if the projection does not fold the event. */
  const foldOne = (
    decider: Decider & { readonly decide: Decide },
    logged: LoggedEvent,
    discarded: LogRecord['discarded'],
  ): Outcome | undefined => {
    const { meta, type } = logged.event
    const { name, folds } = decider.projection
    if (folds[type] === undefined || discarded?.includes(name) === true) return undefined
    if (skipIfParked(name, meta.key)) return BEHIND
    try {
      const { outcome, changes, points: decided } = decider.decide(logged)
      apply(changes, { items, offset: logged.offset, measure: decider.measure })
      for (const point of decided) points.add({ ...point, version: logged.offset + 1 })
      return outcome
    } catch (error) {
      if (isRetriable(error)) throw error
      return park({
        projection: name,
        key: meta.key,
        position: logged,
        error,
        type,
        eventId: meta.eventId,
        recordedAt: meta.recordedAt,
        personal: logged.event.personal,
      })
    }
  }
  const fold = (record: LogRecord): Folded => {
    if (record.key !== null && skipIfParked(EVERY_PROJECTION, record.key)) return { outcome: BEHIND }
    const logged = readRecord(codec, record)
    if (logged === 'discarded') return { outcome: DISCARDED }
    if ('error' in logged) return { outcome: park(logged) }
    let outcome = APPLIED
    for (const decider of deciders) {
      const found = foldOne(decider, logged, record.discarded)
      if (found !== undefined && decider.decides.has(logged.event.type)) outcome = found
    }
    return { logged, outcome }
  }
  return { fold, settle, omitted }
}

/** Measures all changes before it applies the first one: a change that is too large parks the key, and then no change of its event may be applied. */
const apply = (
  changes: readonly Change[],
  { items, offset, measure }: Pick<Folding, 'items'> & Pick<Decider, 'measure'> & { readonly offset: number },
): void => {
  const sizes = changes.map(measure)
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index] as Change
    if ('_removed' in change) items.remove(change)
    else items.put(change, offset, PACKED * (sizes[index] as number))
  }
}

/** Decides which events of a build get outbox rows, and counts those that get none because they are too old. */
const createIsSent = (unsent: readonly UnsentEvents[] | undefined) => {
  let omitted = 0
  const isSent: IsOutgoing = (cause) => {
    const matching = matchingUnsent(unsent, cause)
    if (matching.length === 0) return false
    const isRecent = matching.some(({ since = -Infinity }) => cause.event.meta.recordedAt >= since)
    if (!isRecent) omitted += 1
    return isRecent
  }
  return { isSent, omitted: () => omitted }
}

/** The entries of `unsent` that contain the event, of any age. Empty if the serving generation sends the derived events of the event. */
const matchingUnsent = (
  unsent: readonly UnsentEvents[] = [],
  { event: { meta }, partition, offset, projection }: Cause,
): readonly UnsentEvents[] =>
  unsent.filter(
    (each) =>
      (each.key ?? meta.key) === meta.key &&
      (each.partition ?? partition) === partition &&
      each.offset <= offset &&
      (each.projection === projection || each.projection === EVERY_PROJECTION),
  )
