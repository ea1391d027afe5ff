import { isPart } from '../../../projections/subject.ts'
import type { KeyStore, PersonalLogKey } from '../ports/key-store.ts'
import type { Pipeline } from '../run/pipeline.ts'

export interface PlainPlaces {
  readonly places: readonly PersonalLogKey[]
  /** The number of events. */
  readonly events: number
}

/**
 * Returns the log keys of the person with events from the time before personal data was sealed, and the number of these events. The log key
 * of such an event is the id of the person. Parts of a person did not exist at that time.
 */
export const plainPlaces = async (
  { keys, pipelines }: { readonly keys: Pick<KeyStore, 'founding'>; readonly pipelines: ReadonlyMap<string, Pipeline> },
  subject: string,
): Promise<PlainPlaces> => {
  const places: PersonalLogKey[] = []
  const topics = new Set<string>()
  let events = 0
  for (const { domain, log, codec } of pipelines.values()) {
    const ends = new Map(
      (keys.founding.plainBefore[domain.name] ?? []).map(({ partition, offset }) => [partition, offset]),
    )
    // Several domains can fold one topic.
    if (isPart(subject) || domain.personal === undefined || ends.size === 0 || topics.has(domain.topic)) continue
    topics.add(domain.topic)
    const before = events
    // Events that were removed from the log need no forgetting, so the read begins at the first event that the log still has.
    const first = (await log.watermarks()).find(({ partition }) => partition === log.partitionOf(subject))?.low ?? 0
    for await (const records of log.readKey(subject, first)) {
      for (const { partition, offset, value } of records)
        if (offset < (ends.get(partition) ?? 0) && isAbout(codec, value, subject)) events += 1
    }
    if (events > before) places.push({ domain: domain.name, key: subject })
  }
  return { places, events }
}

const isAbout = (codec: Pipeline['codec'], value: Uint8Array, subject: string): boolean => {
  try {
    const { meta, personal } = codec.decode(value)
    return personal !== null && meta.subjectId === subject
  } catch {
    return false
  }
}
