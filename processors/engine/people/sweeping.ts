import { v5 } from 'uuid'
import { keyOf, type Key } from '../../../projections/item.ts'
import { pages } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import { NAMESPACE } from '../outgoing/outbox.ts'
import type { Clock } from '../ports/clock.ts'
import type { Position } from '../ports/log.ts'
import { followingGenerations, type OpenGeneration } from '../run/open-generations.ts'
import type { Pipeline } from '../run/pipeline.ts'
import { placePages, type PlacePage, type PlaceParts } from './place-pages.ts'

export interface SweepParts extends PlaceParts {
  readonly clock: Clock
  /** The time that a generation has to fold the events `PersonForgotten` of one append. */
  readonly timeoutMs: number
}

export interface Swept {
  readonly places: number
  readonly items: number
  readonly left: readonly string[]
  /** The pipelines of all topics with data of these people. */
  readonly pipelines: ReadonlySet<Pipeline>
}

/** Removes the personal data of these people or parts from the items of all log keys that the key store lists for them. */
export const sweep = async (parts: SweepParts, subjects: readonly string[]): Promise<Swept> => {
  let [places, items] = [0, 0]
  const left: string[] = []
  const pipelines = new Set<Pipeline>()
  for (const subject of subjects) {
    const pagesOfSubject = placePages(parts, subject, ({ domain, key }) =>
      left.push(
        `This program does not have the domain ${domain}, which has data of the person under the key ${key}. Run the command with a program that has the domain.`,
      ),
    )
    for await (const page of pagesOfSubject) {
      for (const pipeline of page.pipelines) pipelines.add(pipeline)
      const swept = await sweepPage(parts, page, subject)
      places += page.keys.length
      items += swept.items
      left.push(...swept.left)
    }
  }
  return { places, items, left, pipelines }
}

/** The maximum number of items that one event names. A fold makes at most two changes per item, so the changes of one event fit into one commit. */
const ITEMS_PER_EVENT = 40
/** The maximum number of items of one append. If there are more, a later append names them. */
const ITEMS_PER_APPEND = 40_000

/**
 * Appends PersonForgotten to all log keys of the page, waits until every generation has folded the events, and repeats this while items still
 * contain the person's data. Stops if a generation does not fold the events.
 */
const sweepPage = async (
  parts: SweepParts,
  { pipelines, keys }: PlacePage,
  subject: string,
): Promise<Pick<Swept, 'items' | 'left'>> => {
  const followed = await Promise.all(
    pipelines.map(async (pipeline) => ({ pipeline, generations: await followingGenerations(pipeline) })),
  )
  let items = 0
  // The first append also contains the log keys without such items: when its events are folded, all earlier events are folded too.
  let { found, later } = await itemsWithPersonalData(followed, keys, subject)
  for (let pending = keys; pending.length > 0; pending = [...found.keys(), ...later]) {
    const left = await appendForgotten(parts, { pipelines, subject, found, keys: pending })
    for (const named of found.values()) items += named.length
    if (left.length > 0) return { items, left }
    ;({ found, later } = await itemsWithPersonalData(followed, pending, subject))
  }
  return { items, left: [] }
}

interface Followed {
  readonly pipeline: Pipeline
  readonly generations: readonly OpenGeneration[]
}

const PAGE = 200

interface Found {
  /** The items with data of the person, by log key. Log keys without such items are absent. */
  readonly found: ReadonlyMap<string, readonly Key[]>
  /** The log keys whose items were not read, because one append cannot name more items. */
  readonly later: readonly string[]
}

const itemsWithPersonalData = async (
  followed: readonly Followed[],
  keys: readonly string[],
  subject: string,
): Promise<Found> => {
  const found = new Map<string, readonly Key[]>()
  let count = 0
  for (const [index, key] of keys.entries()) {
    if (count >= ITEMS_PER_APPEND) return { found, later: keys.slice(index) }
    const ofKey = new Map<string, Key>()
    for await (const item of personalItems(followed, key, subject)) {
      ofKey.set(keyOf(item), { PK: item.PK, SK: item.SK })
      if (count + ofKey.size >= ITEMS_PER_APPEND) break
    }
    count += ofKey.size
    if (ofKey.size > 0) found.set(key, [...ofKey.values()])
  }
  return { found, later: [] }
}

async function* personalItems(followed: readonly Followed[], key: string, subject: string): AsyncGenerator<Key> {
  for (const { pipeline, generations } of followed) {
    const { personal } = pipeline.domain
    if (personal === undefined) continue
    for (const { store } of generations) {
      const reader = store.reader(() => 0)
      for (const pk of personal.partitions(key, subject))
        for await (const items of pages(reader, { pk, limit: PAGE }))
          for (const item of items) if (personal.hasPersonalData(item, subject)) yield item
    }
  }
}

interface Appending {
  readonly pipelines: PlacePage['pipelines']
  readonly subject: string
  readonly keys: readonly string[]
  readonly found: ReadonlyMap<string, readonly Key[]>
}

/** Appends the events in one append, and waits until every generation has folded them. */
const appendForgotten = async (
  { clock, timeoutMs }: SweepParts,
  { pipelines, subject, keys, found }: Appending,
): Promise<readonly string[]> => {
  const [{ log, codec }] = pipelines
  const events: Event[] = []
  for (const key of keys) {
    const items = found.get(key) ?? []
    for (let at = 0; at === 0 || at < items.length; at += ITEMS_PER_EVENT)
      events.push(eventOf({ subject, key, items: items.slice(at, at + ITEMS_PER_EVENT), now: clock.now() }))
  }
  const positions = await log.append(
    events.map((event) => ({ key: event.meta.key, value: codec.encode(event), event })),
  )
  const last = new Map<string, Position>()
  for (const [index, { meta }] of events.entries()) last.set(meta.key, positions[index] as Position)
  const results = pipelines.map(async (pipeline) => {
    const generations = await followingGenerations(pipeline)
    return Promise.all(generations.map((generation) => untilFolded(pipeline, generation, { last, timeoutMs })))
  })
  return (await Promise.all(results)).flat(2)
}

/** Waits until the generation has folded the last event of each log key. Returns the reasons why it has not folded all of them. */
const untilFolded = async (
  { domain }: Pipeline,
  { generation, outcomes }: OpenGeneration,
  { last, timeoutMs }: { readonly last: ReadonlyMap<string, Position>; readonly timeoutMs: number },
): Promise<readonly string[]> => {
  const found = await Promise.all(
    [...last].map(async ([key, position]) => ({
      key,
      outcome: await outcomes.untilOutcome({ ...position, key }, timeoutMs),
    })),
  )
  const parked = found.flatMap(({ key, outcome }) =>
    outcome !== 'pending' && outcome.kind === 'parked'
      ? [
          `In generation ${generation} of ${domain.name} the key ${key} is parked (${outcome.reason}). Heal it: tributary parked.`,
        ]
      : [],
  )
  const isPending = found.some(({ outcome }) => outcome === 'pending')
  return isPending
    ? [
        `Generation ${generation} of ${domain.name} has not folded the event PersonForgotten: no processor follows the generation, or its processor is behind. Start a processor, or drop the generation if it is not needed.`,
        ...parked,
      ]
    : parked
}

const eventOf = ({
  subject,
  key,
  items,
  now,
}: {
  readonly subject: string
  readonly key: string
  readonly items: readonly Key[]
  readonly now: number
}): PersonForgotten => ({
  type: 'PersonForgotten',
  meta: {
    eventId: v5(['forgotten', subject, key, String(now), ...items.map(keyOf)].join('\u0000'), NAMESPACE),
    key,
    occurredAt: now,
    recordedAt: now,
    source: 'forget',
    correlationId: null,
    causationId: null,
    actorId: null,
    subjectId: subject,
    request: null,
  },
  data: { items: items.map(({ PK, SK }) => ({ pk: PK, sk: SK })) },
  personal: null,
})
