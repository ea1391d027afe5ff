import { v5 } from 'uuid'
import type { AskAnswer } from '../../../projections/ask.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import type { AskRow } from '../outgoing/asks.ts'
import type { Log, Position } from '../ports/log.ts'

/** `meta.source` of an event that answers an ask. */
const FETCHER_SOURCE = 'fetcher'

/** Returns the events of an answer. Their ids depend only on the ask and on their number, unless the handler gives an id. */
export const answerEvents = (
  { id, key, cause, correlation }: Pick<AskRow, 'id' | 'key' | 'cause' | 'correlation'>,
  answers: readonly AskAnswer[],
  now: number,
): readonly Event[] =>
  answers.map(({ type, data, personal = null, subjectId = null, eventId }, index) => ({
    type,
    meta: {
      eventId: eventId ?? v5(`answer:${index}`, id),
      key,
      occurredAt: now,
      recordedAt: now,
      source: FETCHER_SOURCE,
      correlationId: correlation,
      causationId: cause,
      actorId: null,
      subjectId,
      request: null,
    },
    data,
    personal,
  }))

export interface AppendParts {
  readonly log: Pick<Log, 'append'>
  readonly codec: Pick<Codec, 'encode' | 'keysFor'>
}

/** Appends the events of an answer in one call. Resolves to the position of the last one. Undefined if there are no events. */
export const appendAnswers = async (
  { log, codec }: AppendParts,
  events: readonly Event[],
): Promise<Position | undefined> => {
  if (events.length === 0) return undefined
  await codec.keysFor?.(events)
  const positions = await log.append(
    events.map((event) => ({ key: event.meta.key, value: codec.encode(event), event })),
  )
  return positions.at(-1)
}
