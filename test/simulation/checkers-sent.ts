import type { Codec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { FaultKind } from './faults.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Expected } from './reference.ts'

/** Faults that can hide from a sender that its event was appended. Only a run with one of them may append an event twice. */
const DOUBTFUL: ReadonlySet<FaultKind> = new Set<FaultKind>(['crash-after', 'crash-late', 'crash-within', 'crash-before', 'lose', 'partial', 'late', 'pause-before', 'pause-after', 'slow'])

export interface Sent {
  readonly topic: Topic
  readonly codec: Codec
  readonly expected: Expected
  /** What struck in this run. */
  readonly faults: readonly { readonly kind: FaultKind }[]
}

interface Appended {
  readonly event: Event
  readonly at: number
}

/** What went out is what the folds wanted, all of it, once and not too early. */
export const checkSent = (sent: Sent): readonly Violation[] => {
  const certain = !sent.faults.some(({ kind }) => DOUBTFUL.has(kind))
  const appended = eventsOf(sent)
  return [...checkDerived(appended, sent, certain), ...checkTimers(appended, sent, certain)]
}

/** Copies that the broker made by itself are nobody's doing. */
const eventsOf = ({ topic, codec }: Sent): readonly Appended[] =>
  topic.partitions.flat().filter((record) => !topic.copies.has(positionName(record))).flatMap(({ value, timestamp }) => {
    try {
      return [{ event: codec.decode(value), at: timestamp }]
    } catch {
      return []
    }
  })

const twice = (names: readonly string[]): readonly string[] => [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]

const checkDerived = (appended: readonly Appended[], { expected }: Sent, certain: boolean): readonly Violation[] => {
  const wanted = new Set(expected.derived.map(({ cause, type, key }) => `${cause} ${type} ${key}`))
  const said = appended.filter(({ event }) => event.meta.source === 'derived').map(({ event: { type, meta } }) => `${meta.causationId} ${type} ${meta.key}`)
  const known = new Set(said)
  return [
    ...[...wanted].filter((name) => !known.has(name)).map((name) => `never sent: ${name}`),
    ...[...known].filter((name) => !wanted.has(name)).map((name) => `nothing wanted: ${name}`),
    ...(certain ? twice(said).map((name) => `sent twice: ${name}`) : []),
  ].map((detail) => ({ checker: 'derived', detail }))
}

const checkTimers = (appended: readonly Appended[], { expected }: Sent, certain: boolean): readonly Violation[] => {
  const fired = appended.filter(({ event }) => event.meta.source === 'timer')
  return [
    ...fired.filter(({ event }) => !expected.timers.has(event.meta.eventId)).map(({ event }) => `never armed: ${event.meta.eventId}`),
    ...fired.filter(({ event, at }) => at < (expected.timers.get(event.meta.eventId) ?? 0)).map(({ event }) => `too early: ${event.meta.eventId}`),
    ...(certain ? twice(fired.map(({ event }) => event.meta.eventId)).map((id) => `fired twice: ${id}`) : []),
  ].map((detail) => ({ checker: 'timers', detail }))
}
