import type { Codec } from '../schemas/codec.ts'
import { personOf } from '../projections/subject.ts'
import type { Event } from '../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { FaultKind } from './faults.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Expected } from './reference.ts'

/** Faults that can hide from a sender that its event was appended. Only a run with one of them may append an event twice. */
const DOUBTFUL: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'crash-after',
  'crash-late',
  'crash-within',
  'crash-before',
  'lose',
  'partial',
  'late',
  'pause-before',
  'pause-after',
  'slow',
  'restore',
])

export interface SentInput {
  readonly topic: Topic
  readonly codec: Codec
  readonly expected: Expected
  /** The faults that struck in this run. */
  readonly faults: readonly { readonly kind: FaultKind }[]
  /** The people who were forgotten. A fold that finds no personal data can return other events than before. */
  readonly forgotten: readonly { readonly subject: string }[]
}

interface Appended {
  readonly event: Event
  readonly at: number
}

/**
 * Checks that the log contains every derived event that a fold returned and no others, and only timer events that a fold requested, none too
 * early. If no fault of `DOUBTFUL` struck, also checks that no event is in the log twice.
 */
export const checkSent = (sent: SentInput): readonly Violation[] => {
  const gone = new Set(sent.forgotten.map(({ subject }) => personOf(subject)))
  const appended = eventsOf(sent)
  const certain = isCertain(sent.faults)
  const isKnown: IsKnown = (key) => !gone.has(key)
  return [...checkDerived(appended, sent, { certain, isKnown }), ...checkTimers(appended, sent, { certain, isKnown })]
}

/** True if no fault of `DOUBTFUL` struck. */
export const isCertain = (faults: SentInput['faults']): boolean => !faults.some(({ kind }) => DOUBTFUL.has(kind))

/** Decodes the events of the log. Leaves out the copies that the fault `duplicate` made. */
const eventsOf = ({ topic, codec }: SentInput): readonly Appended[] =>
  topic.partitions
    .flat()
    .filter((record) => !topic.copies.has(positionName(record)))
    .flatMap(({ value, timestamp }) => {
      try {
        return [{ event: codec.decode(value), at: timestamp }]
      } catch {
        return []
      }
    })

/** Returns true if the folds of the final log return the same events for this log key as during the run. */
type IsKnown = (key: string) => boolean

interface Certainty {
  readonly certain: boolean
  readonly isKnown: IsKnown
}

const duplicatesIn = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
]

const checkDerived = (
  appended: readonly Appended[],
  { expected }: SentInput,
  { certain, isKnown }: Certainty,
): readonly Violation[] => {
  const wantedName = ({ cause, type, key }: Expected['derived'][number]) => `${cause} ${type} ${key}`
  const wanted = new Set(expected.derived.map(wantedName))
  const derived = appended.filter(({ event }) => event.meta.source === 'derived')
  const nameOf = ({ event: { type, meta } }: Appended) => `${meta.causationId} ${type} ${meta.key}`
  const found = new Set(derived.map(nameOf))
  return [
    ...[...new Set(expected.derived.filter(({ key }) => isKnown(key)).map(wantedName))]
      .filter((name) => !found.has(name))
      .map((name) => `never sent: ${name}`),
    ...[...new Set(derived.filter(({ event }) => isKnown(event.meta.key)).map(nameOf))]
      .filter((name) => !wanted.has(name))
      .map((name) => `no fold derived it: ${name}`),
    ...(certain ? duplicatesIn(derived.map(({ event }) => event.meta.eventId)).map((id) => `sent twice: ${id}`) : []),
  ].map((detail) => ({ checker: 'derived', detail }))
}

const checkTimers = (
  appended: readonly Appended[],
  { expected }: SentInput,
  { certain, isKnown }: Certainty,
): readonly Violation[] => {
  const fired = appended.filter(({ event }) => event.meta.source === 'timer')
  return [
    ...fired
      .filter(({ event }) => isKnown(event.meta.key) && !expected.timers.has(event.meta.eventId))
      .map(({ event }) => `never armed: ${event.meta.eventId}`),
    ...fired
      .filter(({ event, at }) => at < (expected.timers.get(event.meta.eventId) ?? 0))
      .map(({ event }) => `too early: ${event.meta.eventId}`),
    ...(certain ? duplicatesIn(fired.map(({ event }) => event.meta.eventId)).map((id) => `fired twice: ${id}`) : []),
  ].map((detail) => ({ checker: 'timers', detail }))
}
