import { v5 } from 'uuid'
import { keyOf, type Key } from '../../projections/item.ts'
import type { PersonalItems } from '../../projections/projection.ts'
import { pages } from '../../projections/table.ts'
import { counted } from '../../schemas/counted.ts'
import type { Event } from '../../schemas/event.ts'
import type { PersonForgotten } from '../../schemas/generated/common.ts'
import type { Clock } from './clock.ts'
import { followedBy } from './following.ts'
import { KEY_AGE_MS, type Keyring } from './keyring.ts'
import type { KeyStore, Place } from './key-store.ts'
import { NAMESPACE } from './outbox.ts'
import type { Followed, Pipeline } from './pipeline.ts'

export interface ForgetParts {
  readonly keys: KeyStore
  readonly ring: Keyring
  readonly pipelines: ReadonlyMap<string, Pipeline>
  /** Drops a generation that was given up, with its table; tells what of it lies where it cannot be reached from here. */
  readonly drop: (pipeline: Pipeline, generation: number) => Promise<readonly string[]>
  /** Takes away what the build of a generation that is done left on this machine: whoever built it may have died before it did. */
  readonly clearBuild: (pipeline: Pipeline, generation: number) => Promise<void>
  readonly clock: Clock
  readonly progress?: (text: string) => void
  /** How long a generation may take to fold what is said to it. */
  readonly timeoutMs: number
}

export interface Forgot {
  readonly subject: string
  /** `unknown`: nothing personal was ever said about them. `before`: they were forgotten already, and nothing was said since. */
  readonly was: 'known' | 'unknown' | 'before'
  /** Log keys to which it was said. */
  readonly places: readonly Place[]
  /** Items out of which something was taken. */
  readonly items: number
  /** Events from before there were keys, whose plain text stays in the log. */
  readonly plain: number
  /** What keeps it from being complete; with any, the same command has to be run again. */
  readonly left: readonly string[]
}

/**
 * Forgets a person: no new key, items swept, key destroyed, items swept of what was said meanwhile, disks cleared. Each step can be taken
 * again, and the key store remembers which were; so after a crash anywhere, the same call ends the same way.
 */
export const forget = async (parts: ForgetParts, subject: string): Promise<Forgot> => {
  const { keys, ring, clock, progress = () => undefined } = parts
  const old = await plainPlaces(parts, subject)
  const [known] = await keys.load([subject])
  const nothing = { subject, places: [], items: 0, plain: old.events, left: [] }
  if (known === undefined && old.places.length === 0) return { ...nothing, was: 'unknown' }
  if (known !== undefined && known.key === undefined && !known.forgetting) return { ...nothing, was: 'before' }
  // All events of this person are older than sealing, so there is no key. A new one lets the store record the progress.
  if (known === undefined) await keys.keep(new Map([[subject, old.places]]))
  await keys.step(subject, 'forgetting')
  ring.evict(subject)
  const places = withOwn((await keys.load([subject]))[0]?.places ?? [], subject)
  progress(`${subject}: taking what is personal out of the items of ${counted(places.length, 'log key')}`)
  const first = await sweepAll(parts, subject, places)
  await keys.step(subject, 'destroyed')
  ring.evict(subject)
  progress(`${subject}: the key is destroyed`)
  // Another process may have used the key until now. What it sealed or read with it is behind the next sweep.
  if (keys.shared) await clock.sleep(KEY_AGE_MS)
  const second = await sweepAll(parts, subject, places)
  const left = [...second.left, ...(await clear(parts, places))]
  if (left.length === 0) await keys.step(subject, 'forgotten')
  return { subject, was: 'known', places, items: first.items + second.items, plain: old.events, left }
}

/** Adds the person's own log key in each domain: it has the events that were derived for the person, and the key store does not list it. */
const withOwn = (places: readonly Place[], subject: string): readonly Place[] => {
  const own = [...new Set(places.map(({ domain }) => domain))].map((domain) => ({ domain, key: subject }))
  return [...places, ...own.filter(({ domain }) => !places.some((place) => place.domain === domain && place.key === subject))]
}

/** What lies plain in the logs from before there were keys: under the log key that is the person. */
const plainPlaces = async ({ keys, pipelines }: ForgetParts, subject: string): Promise<{ places: readonly Place[]; events: number }> => {
  const places: Place[] = []
  let events = 0
  for (const { domain, log, codec } of pipelines.values()) {
    const ends = new Map((keys.founding.plainBefore[domain.name] ?? []).map(({ partition, offset }) => [partition, offset]))
    if (domain.personal === undefined || ends.size === 0) continue
    const before = events
    // Events that were removed from the log need no forgetting.
    const first = (await log.watermarks()).find(({ partition }) => partition === log.partitionOf(subject))?.low ?? 0
    for await (const records of log.readKey(subject, first)) {
      for (const { partition, offset, value } of records) if (offset < (ends.get(partition) ?? 0) && isAbout(codec, value, subject)) events += 1
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

const sweepAll = async (parts: ForgetParts, subject: string, places: readonly Place[]): Promise<Swept> => {
  let items = 0
  const left: string[] = []
  for (const { domain, key } of places) {
    const pipeline = parts.pipelines.get(domain)
    if (pipeline?.domain.personal === undefined) left.push(`The domain ${domain} is not known here, and holds something under ${key}. Run it with a program that knows it.`)
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

/** With two changes an item an event stays within one commit. */
const ITEMS_AN_EVENT = 40

/** Appends PersonForgotten, waits until every generation has folded it, and repeats this while items still contain the person's data. */
const sweep = async (parts: ForgetParts, sweeping: Sweeping): Promise<Swept> => {
  const followed = await followedBy(sweeping.pipeline)
  let found = await itemsHolding(sweeping, followed)
  let items = 0
  for (;;) {
    const left = await say(parts, sweeping, found)
    items += found.length
    if (left.length > 0) return { items, left }
    found = await itemsHolding(sweeping, followed)
    if (found.length === 0) return { items, left: [] }
  }
}

const PAGE = 200

const itemsHolding = async ({ personal, key, subject }: Sweeping, followed: readonly Followed[]): Promise<readonly Key[]> => {
  const found = new Map<string, Key>()
  for (const { store } of followed) {
    for (const pk of personal.partitions(key, subject)) {
      for await (const items of pages(store.reader(() => 0), { pk, limit: PAGE })) {
        for (const item of items) if (personal.holds(item, subject)) found.set(keyOf(item), { PK: item.PK, SK: item.SK })
      }
    }
  }
  return [...found.values()]
}

const say = async ({ clock, timeoutMs }: ForgetParts, sweeping: Sweeping, found: readonly Key[]): Promise<readonly string[]> => {
  const { pipeline, key } = sweeping
  const events: Event[] = []
  for (let at = 0; at === 0 || at < found.length; at += ITEMS_AN_EVENT) events.push(eventOf(sweeping, found.slice(at, at + ITEMS_AN_EVENT), clock.now()))
  const positions = await pipeline.log.append(events.map((event) => ({ key, value: pipeline.codec.encode(event), event })))
  const last = positions.at(-1)
  if (last === undefined) return []
  const outcomes = (await followedBy(pipeline)).map(async ({ generation, outcomes: heard }) => {
    const outcome = await heard.after({ ...last, key }, timeoutMs)
    if (outcome === 'pending') return [`Generation ${generation} of ${pipeline.domain.name} has not folded it: nobody follows it, or who does is behind. Start a processor; or drop the generation, if it is an old one.`]
    return outcome.kind === 'parked' ? [`In generation ${generation} of ${pipeline.domain.name} the key ${key} stands still (${outcome.reason}). Heal it: tributary parked.`] : []
  })
  return (await Promise.all(outcomes)).flat()
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

/** Takes away what is on disks and in nobody's sight: builds that read the key, what they left, and what was overwritten. */
const clear = async ({ pipelines, drop, clearBuild }: ForgetParts, places: readonly Place[]): Promise<readonly string[]> => {
  const left: string[] = []
  for (const name of new Set(places.map(({ domain }) => domain))) {
    const pipeline = pipelines.get(name)
    if (pipeline === undefined) continue
    await pipeline.control.endBuilds(name)
    for (const { generation, state } of await pipeline.control.generations(name)) if (state === 'dropping') left.push(...(await drop(pipeline, generation)))
    for (const { generation, store } of await followedBy(pipeline)) {
      await clearBuild(pipeline, generation)
      await store.scrub?.()
    }
  }
  return left
}
