import { v5 } from 'uuid'
import { keyOf, type Key } from '../../../projections/item.ts'
import type { PersonalItems } from '../../../projections/projection.ts'
import { pages } from '../../../projections/table.ts'
import { counted } from '../../../schemas/counted.ts'
import type { Event } from '../../../schemas/event.ts'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import type { Clock } from '../ports/clock.ts'
import { type Keyring } from './keyring.ts'
import { NAMESPACE } from '../outgoing/outbox.ts'
import type { Pipeline } from '../run/pipeline.ts'
import { KEY_AGE_MS, type KeyStore, type PersonalLogKey } from '../ports/key-store.ts'
import { type OpenGeneration, followingGenerations } from '../run/open-generations.ts'

export interface ForgetParts {
  readonly keys: KeyStore
  readonly ring: Keyring
  readonly pipelines: ReadonlyMap<string, Pipeline>
  /** Drops a generation with its table. Resolves to a text for each part of the generation that this process cannot remove. */
  readonly drop: (pipeline: Pipeline, generation: number) => Promise<readonly string[]>
  /** Removes the files on this machine of a build that has ended, in case the builder crashed before it removed the files. */
  readonly clearBuild: (pipeline: Pipeline, generation: number) => Promise<void>
  readonly clock: Clock
  readonly progress?: (text: string) => void
  /** The time that a generation has to fold the event `PersonForgotten`. */
  readonly timeoutMs: number
}

export interface Forgot {
  readonly subject: string
  /**
   * `known`: this call has forgotten the person, or a part of the data (see `left`). `unknown`: there is no personal data about the person.
   * `before`: the person was forgotten before, and there is no new personal data.
   */
  readonly was: 'known' | 'unknown' | 'before'
  /** The log keys to which `PersonForgotten` was appended. */
  readonly places: readonly PersonalLogKey[]
  /** The number of items from which personal data was removed. */
  readonly items: number
  /** The number of the person's events from the time before personal data was sealed. Their plain text stays in the log. */
  readonly plain: number
  /** The reasons why the person is not completely forgotten. If there are any reasons, the command must be run again. */
  readonly left: readonly string[]
}

/**
 * Forgets a person, step by step: stops new keys, removes the personal data from the items, destroys the key, removes the data that was
 * added to the items in the meantime, and erases the data from the disks. Each step can be repeated, and the key store records the steps.
 * So after a crash at any point a second call has the same result.
 */
export const forget = async (parts: ForgetParts, subject: string): Promise<Forgot> => {
  const { keys, ring, clock, progress = () => undefined } = parts
  const old = await plainPlaces(parts, subject)
  const [known] = await keys.load([subject])
  const nothing = { subject, places: [], items: 0, plain: old.events, left: [] }
  if (known === undefined && old.places.length === 0) return { ...nothing, was: 'unknown' }
  if (known !== undefined && known.key === undefined && !known.forgetting) return { ...nothing, was: 'before' }
  // All events of this person are from the time before personal data was sealed, so there is no key. A new key gives the person an entry in
  // the key store, which records the progress.
  if (known === undefined) await keys.ensureKeys(new Map([[subject, old.places]]))
  await keys.step(subject, 'forgetting')
  ring.evict(subject)
  const places = withOwn((await keys.load([subject]))[0]?.places ?? [], subject)
  progress(`${subject}: removing the personal data from the items of ${counted(places.length, 'log key')}`)
  const first = await sweepAll(parts, subject, places)
  await keys.step(subject, 'destroyed')
  ring.evict(subject)
  progress(`${subject}: the key is destroyed`)
  // During this pause, another process can still seal events with its cached key. After the pause, the second sweep removes their data from
  // the items too.
  if (keys.shared) await clock.sleep(KEY_AGE_MS)
  const second = await sweepAll(parts, subject, places)
  const left = [...second.left, ...(await clear(parts, places))]
  if (left.length === 0) await keys.step(subject, 'forgotten')
  return { subject, was: 'known', places, items: first.items + second.items, plain: old.events, left }
}

/**
 * Adds the id of the person as a log key in each domain of `places`, because the key store may not list it. The events that were derived
 * for the person have this log key.
 */
const withOwn = (places: readonly PersonalLogKey[], subject: string): readonly PersonalLogKey[] => {
  const own = [...new Set(places.map(({ domain }) => domain))].map((domain) => ({ domain, key: subject }))
  return [
    ...places,
    ...own.filter(({ domain }) => !places.some((place) => place.domain === domain && place.key === subject)),
  ]
}

/**
 * Returns the log keys of the person with events from the time before personal data was sealed, and the number of these events. The log key
 * of such an event is the id of the person.
 */
const plainPlaces = async (
  { keys, pipelines }: ForgetParts,
  subject: string,
): Promise<{ places: readonly PersonalLogKey[]; events: number }> => {
  const places: PersonalLogKey[] = []
  let events = 0
  for (const { domain, log, codec } of pipelines.values()) {
    const ends = new Map(
      (keys.founding.plainBefore[domain.name] ?? []).map(({ partition, offset }) => [partition, offset]),
    )
    if (domain.personal === undefined || ends.size === 0) continue
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

interface Swept {
  readonly items: number
  readonly left: readonly string[]
}

const sweepAll = async (parts: ForgetParts, subject: string, places: readonly PersonalLogKey[]): Promise<Swept> => {
  let items = 0
  const left: string[] = []
  for (const { domain, key } of places) {
    const pipeline = parts.pipelines.get(domain)
    if (pipeline?.domain.personal === undefined)
      left.push(
        `This program does not have the domain ${domain}, which has data of the person under the key ${key}. Run the command with a program that has the domain.`,
      )
    else {
      const swept = await sweep(parts, { pipeline, personal: pipeline.domain.personal, subject, key })
      items += swept.items
      left.push(...swept.left)
    }
  }
  return { items, left }
}

interface Sweeping {
  readonly pipeline: Pipeline
  readonly personal: PersonalItems
  readonly subject: string
  readonly key: string
}

/** The maximum number of items that one event names. A fold makes at most two changes per item, so the changes of one event fit into one commit. */
const ITEMS_PER_EVENT = 40

/**
 * Appends PersonForgotten, waits until every generation has folded it, and repeats this while items still contain the person's data. Stops
 * if a generation does not fold the event.
 */
const sweep = async (parts: ForgetParts, sweeping: Sweeping): Promise<Swept> => {
  const followed = await followingGenerations(sweeping.pipeline)
  let found = await itemsWithPersonalData(sweeping, followed)
  let items = 0
  for (;;) {
    const left = await appendForgotten(parts, sweeping, found)
    items += found.length
    if (left.length > 0) return { items, left }
    found = await itemsWithPersonalData(sweeping, followed)
    if (found.length === 0) return { items, left: [] }
  }
}

const PAGE = 200

const itemsWithPersonalData = async (
  { personal, key, subject }: Sweeping,
  followed: readonly OpenGeneration[],
): Promise<readonly Key[]> => {
  const found = new Map<string, Key>()
  for (const { store } of followed) {
    for (const pk of personal.partitions(key, subject)) {
      for await (const items of pages(
        store.reader(() => 0),
        { pk, limit: PAGE },
      )) {
        for (const item of items)
          if (personal.hasPersonalData(item, subject)) found.set(keyOf(item), { PK: item.PK, SK: item.SK })
      }
    }
  }
  return [...found.values()]
}

const appendForgotten = async (
  { clock, timeoutMs }: ForgetParts,
  sweeping: Sweeping,
  found: readonly Key[],
): Promise<readonly string[]> => {
  const { pipeline, key } = sweeping
  const events: Event[] = []
  for (let at = 0; at === 0 || at < found.length; at += ITEMS_PER_EVENT)
    events.push(eventOf(sweeping, found.slice(at, at + ITEMS_PER_EVENT), clock.now()))
  const positions = await pipeline.log.append(
    events.map((event) => ({ key, value: pipeline.codec.encode(event), event })),
  )
  const last = positions.at(-1)
  if (last === undefined) return []
  const results = (await followingGenerations(pipeline)).map(async ({ generation, outcomes }) => {
    const outcome = await outcomes.untilOutcome({ ...last, key }, timeoutMs)
    if (outcome === 'pending')
      return [
        `Generation ${generation} of ${pipeline.domain.name} has not folded the event PersonForgotten: no processor follows the generation, or its processor is behind. Start a processor, or drop the generation if it is not needed.`,
      ]
    return outcome.kind === 'parked'
      ? [
          `In generation ${generation} of ${pipeline.domain.name} the key ${key} is parked (${outcome.reason}). Heal it: tributary parked.`,
        ]
      : []
  })
  return (await Promise.all(results)).flat()
}

const eventOf = ({ subject, key }: Sweeping, items: readonly Key[], now: number): PersonForgotten => ({
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

/** Removes the data that is on disks but in no item: builds that used the key, their files, and overwritten data. */
const clear = async (
  { pipelines, drop, clearBuild }: ForgetParts,
  places: readonly PersonalLogKey[],
): Promise<readonly string[]> => {
  const left: string[] = []
  for (const name of new Set(places.map(({ domain }) => domain))) {
    const pipeline = pipelines.get(name)
    if (pipeline === undefined) continue
    await pipeline.control.endBuilds(name)
    for (const { generation, state } of await pipeline.control.generations(name))
      if (state === 'dropping') left.push(...(await drop(pipeline, generation)))
    for (const { generation, store } of await followingGenerations(pipeline)) {
      await clearBuild(pipeline, generation)
      await store.scrub?.()
    }
  }
  return left
}
