import { hash } from 'node:crypto'
import { isTrace, type Item, type Key } from '../../projections/item.ts'
import type { Position } from './log.ts'

/** The engine's own items in a generation's table. Domains never write under these names. */
const IDEM = 'IDEM#'
const OUTCOME = 'OUTCOME#'
const OUTBOX = 'OUTBOX#'
const DERIVED = 'DERIVED#'
const PARKED = 'PARKED#'
const TIMER = 'TIMER#'
const ARMED = 'ARMED#'

export const idempotencyKey = (actor: string, request: string, key: string): Key => ({ PK: `${IDEM}${actor}#${request}`, SK: key })
export const outcomeKey = ({ partition, offset }: Position): Key => ({ PK: `${OUTCOME}${partition}#${offset}`, SK: 'OUTCOME' })
/** The position in an outcome's key. */
export const positionOf = ({ PK }: Key): Position => {
  const [partition, offset] = PK.slice(OUTCOME.length).split('#').map(Number) as [number, number]
  return { partition, offset }
}
export const outboxPartition = (partition: number): string => `${OUTBOX}${partition}`
/** Several projections may want something sent of one event. */
export const outboxKey = ({ partition, offset }: Position, projection: string, row: number): Key => ({
  PK: outboxPartition(partition),
  SK: `${String(offset).padStart(16, '0')}#${projection}#${String(row).padStart(2, '0')}`,
})
/** The beginning of the sort keys of the outbox rows of one event. */
export const outboxRowsOf = ({ offset }: Position): string => `${String(offset).padStart(16, '0')}#`
/** Where the positions of the events that are derived from one event are kept, after their outbox rows are removed. */
export const derivedPartition = ({ partition, offset }: Position): string => `${DERIVED}${partition}#${offset}`
export const parkedPartition = (partition: number): string => `${PARKED}${partition}`
/** `*` parks the key for every projection: its event could not even be read. */
export const parkedKey = (partition: number, projection: string, key: string): Key => ({ PK: parkedPartition(partition), SK: `${projection}#${short(key)}` })

/** A log key that is no part of an item's key: an entry can be written for every log key, however long it is. */
const MAX_LOG_KEY_BYTES = 512
const short = (key: string): string => (Buffer.byteLength(key) > MAX_LOG_KEY_BYTES || key.includes('\u0000') ? `sha256:${hash('sha256', key)}` : key)

export const timerPartition = (partition: number): string => `${TIMER}${partition}`
export const timerKey = (partition: number, { at, key, name }: { readonly at: number; readonly key: string; readonly name: string }): Key => ({
  PK: timerPartition(partition),
  SK: `${new Date(at).toISOString()}#${key}#${name}`,
})
export const armedKey = (key: string, name: string): Key => ({ PK: `${ARMED}${key}`, SK: name })

export const isOutcome = ({ PK }: Key): boolean => PK.startsWith(OUTCOME)
export const isParking = ({ PK }: Key): boolean => PK.startsWith(PARKED)
export const isTimer = ({ PK }: Key): boolean => PK.startsWith(TIMER) || PK.startsWith(ARMED)

/** Rows that come and go by what was sent or healed: they are not a function of the log alone, so nothing compares them. */
export const isTransient = (item: Item): boolean => item.PK.startsWith(OUTBOX) || item.PK.startsWith(DERIVED) || isParking(item) || isTrace(item)

/** The engine's memory of requests and of what is to be sent: no result of a rule. */
export const isMemo = ({ PK }: Key): boolean => PK.startsWith(IDEM) || PK.startsWith(OUTBOX) || PK.startsWith(DERIVED)

/** None of the domain's own. */
export const isBookkeeping = (key: Key): boolean => isMemo(key) || isOutcome(key) || isParking(key) || isTimer(key)

/** Keys written once, by one position: nothing to load before writing them. */
export const isByPosition = ({ PK }: Key): boolean => PK.startsWith(OUTCOME) || PK.startsWith(OUTBOX)

/** A timer's row is always written beside its `ARMED#` item, whose position tells: the row itself goes without a trace, and keeps the list of what is due short. */
export const leavesTrace = ({ PK }: Key): boolean => !PK.startsWith(TIMER)
