import type { Key } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Position } from '../ports/log.ts'

/**
 * The prefixes of rows in the table of a generation: `OUTBOX#` for derived events that are to be sent, `DERIVED#` for the positions of sent
 * derived events, `TIMER#` for timers by due time, `ARMED#` for timers by name, `ASK#` for asks by priority and due time, `ASKED#` for asks
 * by name. Domains never write under these prefixes.
 */
const OUTBOX = 'OUTBOX#'
export const DERIVED = 'DERIVED#'
const TIMER = 'TIMER#'
const ARMED = 'ARMED#'
const ASK = 'ASK#'
const ASKED = 'ASKED#'

export const outboxPartition = (partition: number): string => `${OUTBOX}${partition}`

/** The key of an outbox row. It contains the projection, because several projections can derive events from one event. */
export const outboxKey = ({ partition, offset }: Position, projection: string, row: number): Key => ({
  PK: outboxPartition(partition),
  SK: `${String(offset).padStart(16, '0')}#${projection}#${String(row).padStart(2, '0')}`,
})
export const isOutbox = ({ PK }: Key): boolean => PK.startsWith(OUTBOX)

/** The prefix of the sort keys of one event's outbox rows. */
export const outboxPrefix = ({ offset }: Position): string => `${String(offset).padStart(16, '0')}#`

/**
 * The partition key of the rows with the positions of the events that were derived from one event. The sender writes such a row when it
 * removes the outbox row.
 */
export const derivedPartition = ({ partition, offset }: Position): string => `${DERIVED}${partition}#${offset}`

export const timerPartition = (partition: number): string => `${TIMER}${partition}`
export const timerKey = (
  partition: number,
  { at, key, name }: { readonly at: number; readonly key: string; readonly name: string },
): Key => ({ PK: timerPartition(partition), SK: `${new Date(at).toISOString()}#${key}#${name}` })
export const armedKey = (key: string, name: string): Key => ({ PK: `${ARMED}${key}`, SK: name })
export const isTimer = ({ PK }: Key): boolean => PK.startsWith(TIMER) || PK.startsWith(ARMED)

export const askPartition = (partition: number, priority: number): string => `${ASK}${partition}#${priority}`
export const askKey = (
  partition: number,
  ask: { readonly at: number; readonly priority: number; readonly key: string; readonly name: string },
): Key => ({
  PK: askPartition(partition, ask.priority),
  SK: `${new Date(ask.at).toISOString()}#${ask.key}#${ask.name}`,
})
export const namedAskKey = (key: string, name: string): Key => ({ PK: `${ASKED}${key}`, SK: name })
export const isAsk = ({ PK }: Key): boolean => PK.startsWith(ASK) || PK.startsWith(ASKED)

/**
 * Returns whether a removal of a row leaves a tombstone. A `TIMER#` row leaves none: it is always removed together with its `ARMED#` row, whose
 * tombstone is enough. So a list of timers contains no tombstones. The same is true of `ASK#` and `ASKED#` rows, and of items that the domain
 * declares.
 */
export const tombstonesOf =
  ({ withoutTombstone = () => false }: Pick<Domain, 'withoutTombstone'>) =>
  (key: Key): boolean =>
    !key.PK.startsWith(TIMER) && !key.PK.startsWith(ASK) && !withoutTombstone(key)
