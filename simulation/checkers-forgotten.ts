import type { Item } from '../projections/item.ts'
import type { Codec } from '../schemas/codec.ts'
import { personOf } from '../projections/subject.ts'
import { FORGOTTEN, type Event } from '../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { ForgettingRequest } from './forgetter.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Table } from './store-model.ts'

export interface ForgottenInput {
  readonly topic: Topic
  /** A codec that reads the log with the keys that are not destroyed. */
  readonly codec: Codec
  /** The events as the clients sent them, by id. */
  readonly sentEvents: ReadonlyMap<string, Event>
  readonly forgotten: readonly ForgettingRequest[]
  /** All tables, and the files of builds. */
  readonly tables: Iterable<Table>
}

/** Each personal text ends with a unique tag, so a trace of the text is found in any bytes. */
const TAG = /¤\d+/g
const tagsIn = (text: string): readonly string[] => text.match(TAG) ?? []
const personalTextsOf = (event: Event | undefined): readonly string[] =>
  Object.values(event?.personal ?? {}).filter((text) => typeof text === 'string')

/**
 * Checker C8. Checks that no personal data of a forgotten person can be decoded from the log, that no table contains a trace of such data, and
 * that the log contains no unsealed personal text.
 */
export const checkForgotten = ({
  topic,
  codec,
  sentEvents,
  forgotten,
  tables,
}: ForgottenInput): readonly Violation[] => {
  const details: string[] = []
  const gone = new Set<string>()
  const readableTags = new Set<string>()
  for (const record of topic.partitions.flat()) {
    const event = decoded(codec, record.value)
    if (event === undefined || event.meta.subjectId === null) continue
    const { subjectId } = event.meta
    const texts = personalTextsOf(sentEvents.get(event.meta.eventId))
    if (texts.some((text) => Buffer.from(record.value).includes(text)))
      details.push(`${positionName(record)} contains unsealed personal data`)
    for (const tag of texts.flatMap(tagsIn)) (event.personal === FORGOTTEN ? gone : readableTags).add(tag)
    const isReadable = event.personal !== null && event.personal !== FORGOTTEN
    const isForgotten = forgotten.some(
      ({ subject, ends }) =>
        (subject === subjectId || subject === personOf(subjectId)) && record.offset < (ends[record.partition] ?? 0),
    )
    if (isReadable && isForgotten) details.push(`${positionName(record)} about ${subjectId} can still be read`)
  }
  // A forgotten person can have sent the same text again later. So a text that the log still contains is no trace of forgotten data.
  for (const tag of readableTags) gone.delete(tag)
  for (const { spec, items } of tables)
    for (const item of items.values())
      if (hasTrace(item, gone))
        details.push(`${spec.name} contains a trace of a forgotten person: ${JSON.stringify(item)}`)
  return details.map((detail) => ({ checker: 'C8', detail }))
}

const hasTrace = (item: Item, gone: ReadonlySet<string>) =>
  gone.size > 0 && tagsIn(JSON.stringify(item)).some((tag) => gone.has(tag))

const decoded = (codec: Codec, value: Uint8Array): Event | undefined => {
  try {
    return codec.decode(value)
  } catch {
    return undefined
  }
}
