import { personOf } from '../../../projections/subject.ts'
import type { KeyStore, PersonalLogKey } from '../ports/key-store.ts'
import type { Pipeline } from '../run/pipeline.ts'

/** Log keys of one topic with data of a person. */
export interface PlacePage {
  /** The pipelines of all domains that fold the topic into items with personal data. At least one. */
  readonly pipelines: readonly [Pipeline, ...Pipeline[]]
  readonly keys: readonly string[]
}

export interface PlaceParts {
  readonly keys: Pick<KeyStore, 'places'>
  readonly pipelines: ReadonlyMap<string, Pipeline>
}

/**
 * Yields the log keys with data of the person, page by page. The last pages contain the id of the person as a log key of each topic, because
 * the key store may not list it: the events that were derived for the person have this log key. `unknown` receives the log keys of domains
 * that this program does not have.
 */
export async function* placePages(
  { keys, pipelines }: PlaceParts,
  subject: string,
  unknown: (place: PersonalLogKey) => void = () => undefined,
): AsyncGenerator<PlacePage> {
  const own = personOf(subject)
  const topics = new Map<string, PlacePage['pipelines']>()
  for await (const page of keys.places(subject)) {
    const byTopic = new Map<string, Set<string>>()
    for (const place of page) {
      const [first, ...others] = personalPipelines(pipelines, place.domain)
      if (first === undefined) {
        unknown(place)
        continue
      }
      const { topic } = first.domain
      topics.set(topic, [first, ...others])
      if (place.key !== own) byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(place.key))
    }
    for (const [topic, found] of byTopic)
      yield { pipelines: topics.get(topic) as PlacePage['pipelines'], keys: [...found] }
  }
  for (const found of topics.values()) yield { pipelines: found, keys: [own] }
}

/** The pipelines of the domains with personal items that fold the same topic as this domain. */
const personalPipelines = (pipelines: ReadonlyMap<string, Pipeline>, name: string): readonly Pipeline[] => {
  const topic = pipelines.get(name)?.domain.topic
  return [...pipelines.values()].filter(({ domain }) => domain.topic === topic && domain.personal !== undefined)
}
