import type { Item } from '../../projections/item.ts'
import type { Codec } from '../../schemas/codec.ts'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { Violation } from './checkers.ts'
import type { Asked } from './forgetter.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Table } from './store-model.ts'

export interface Remains {
  readonly topic: Topic
  /** With the keys that are left. */
  readonly codec: Codec
  /** As they were said, by id. */
  readonly said: ReadonlyMap<string, Event>
  readonly forgotten: readonly Asked[]
  /** All there is on any disk. */
  readonly tables: Iterable<Table>
}

/** Every personal word ends with a mark of its own, so that its trace is found in any bytes. */
const MARK = /¤\d+/g
const marksIn = (text: string): readonly string[] => text.match(MARK) ?? []
const wordsOf = (event: Event | undefined): readonly string[] => Object.values(event?.personal ?? {}).filter((word) => typeof word === 'string')

/** C8: nothing that a forgotten person said can be read from the log any more, and no trace of it is in any table; nobody's words lie plain in the log. */
export const checkForgotten = ({ topic, codec, said, forgotten, tables }: Remains): readonly Violation[] => {
  const details: string[] = []
  const gone = new Set<string>()
  const known = new Set<string>()
  for (const record of topic.partitions.flat()) {
    const event = decoded(codec, record.value)
    if (event === undefined || event.meta.subjectId === null) continue
    const words = wordsOf(said.get(event.meta.eventId))
    if (words.some((word) => Buffer.from(record.value).includes(word))) details.push(`${positionName(record)} lies plain in the log`)
    for (const mark of words.flatMap(marksIn)) (event.personal === FORGOTTEN ? gone : known).add(mark)
    const readable = event.personal !== null && event.personal !== FORGOTTEN
    const asked = forgotten.some(({ subject, ends }) => subject === event.meta.subjectId && record.offset < (ends[record.partition] ?? 0))
    if (readable && asked) details.push(`${positionName(record)} about ${event.meta.subjectId} can still be read`)
  }
  // The same words said again later, by somebody who came back, are theirs.
  for (const mark of known) gone.delete(mark)
  for (const { spec, items } of tables) for (const item of items.values()) if (tracesIn(item, gone)) details.push(`a trace in ${spec.name}: ${JSON.stringify(item)}`)
  return details.map((detail) => ({ checker: 'C8', detail }))
}

const tracesIn = (item: Item, gone: ReadonlySet<string>) => gone.size > 0 && marksIn(JSON.stringify(item)).some((mark) => gone.has(mark))

const decoded = (codec: Codec, value: Uint8Array): Event | undefined => {
  try {
    return codec.decode(value)
  } catch {
    return undefined
  }
}
