import { unknownGeneration } from '../../../processors/engine/generations/control-rows.ts'
import { requestRetry, discard } from '../../../processors/engine/poison/discard.ts'
import type { Verdict } from '../../../processors/engine/poison/verdicts.ts'
import { parkedId, parkedIn } from '../../../processors/engine/poison/parked-entry.ts'
import type { StoredParked } from '../../../processors/engine/poison/parked-entry.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { endsOf } from '../../../processors/engine/generations/positions.ts'
import { after, every, retrying } from '../../../processors/engine/timing/retry.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Handler } from '../operations.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import { rowOf } from './events.ts'
import type { EventRow } from './events.ts'
import { followingGenerations } from '../../../processors/engine/run/open-generations.ts'

export interface ParkedRow {
  readonly id: string
  readonly domain: string
  readonly generation: number
  readonly key: string | null
  readonly projection: string
  readonly position: string
  readonly type: string
  readonly code: string
  readonly reason: string
  /** The time at which the parked event was recorded, RFC 3339. The items of the key contain only the events before this event. */
  readonly since: string
  readonly waiting: number
  readonly stack: string
  /** The decoded event, or the reason why it cannot be decoded. */
  readonly record?: EventRow
  /** The first `SHOWN_BYTES` bytes of the record, in hex. Absent if the log does not contain the record. */
  readonly bytes?: string
  readonly size?: number
}

export interface DiscardedRow extends Omit<Verdict, 'at' | 'what' | 'partition' | 'offset'> {
  readonly domain: string
  readonly position: string
  readonly at: string
}

export interface ParkedArgs {
  /** Default: every domain. */
  readonly domain?: string
  /** Default: the serving generation. */
  readonly generation?: number
}

/** `id`: one parked key. `all`: every parked key. Exactly one of both is set. */
export interface RetryArgs {
  readonly id?: string
  readonly all?: boolean
}

export interface DiscardArgs {
  readonly id: string
  readonly reason: string
  readonly by: string
}

export interface RetryResult {
  readonly asked: number
  readonly healed: number
  /** The number of keys that are still parked, by the same event or a later one. */
  readonly still: number
  /** The number of keys that no processor has retried yet. */
  readonly pending: number
}

const SHOWN_BYTES = 1_024
/** The maximum wait for the processor that owns the partition, in milliseconds. The processor looks for requested retries every 5 s. */
const WAIT_MS = 15_000
const POLL_MS = 50

interface Found {
  readonly pipeline: Pipeline
  readonly entry: StoredParked
}

const idOf = ({ pipeline, entry }: Found): string => `${pipeline.domain.name}:${parkedId(entry)}`

const rowOfParked = async ({ pipeline, entry }: Found, generation: number): Promise<ParkedRow> => {
  const { key, projection, partition, offset, code, reason, since, waiting, stack } = entry
  const row = {
    id: idOf({ pipeline, entry }),
    domain: pipeline.domain.name,
    generation,
    key,
    projection,
    position: `${partition}:${offset}`,
    type: entry.type,
    code,
    reason,
    since: new Date(since).toISOString(),
    waiting,
    stack,
  }
  for await (const records of pipeline.log.read(partition, offset, offset + 1)) {
    for (const found of records) {
      const record = await rowOf(pipeline.codec, found)
      return {
        ...row,
        type: row.type === '' ? record.type : row.type,
        record,
        bytes: Buffer.from(found.value.subarray(0, SHOWN_BYTES)).toString('hex'),
        size: found.value.length,
      }
    }
  }
  return row
}

export const listParked: Handler<'parked-list'> = async (runtime, { domain, generation }, output) => {
  for (const pipeline of pipelinesOf(runtime, domain)) {
    const followed = generation === undefined ? pipeline.serving() : await listedGeneration(pipeline, generation)
    for (const entry of await entriesOf(pipeline, followed))
      await output.row(await rowOfParked({ pipeline, entry }, followed.generation))
  }
}

const entriesOf = async ({ log, serving }: Pipeline, { store } = serving()): Promise<readonly StoredParked[]> =>
  parkedIn(store, (await endsOf(log)).keys())

const pipelinesOf = (runtime: Runtime, domain: string | undefined): readonly Pipeline[] =>
  domain === undefined ? [...runtime.pipelines.values()] : [runtime.pipeline(domain)]

/** Opens a generation that the control table lists. Throws a fault for any other number, because opening it would create a generation. */
const listedGeneration = async (pipeline: Pipeline, generation: number) => {
  const listed = await pipeline.control.generations(pipeline.domain.name)
  if (!listed.some((each) => each.generation === generation)) throw unknownGeneration(pipeline.domain.name, generation)
  return pipeline.generation(generation)
}

export const listDiscarded: Handler<'parked-discarded'> = async (runtime, { domain }, output) => {
  for (const pipeline of pipelinesOf(runtime, domain)) {
    for (const mark of await discardsOf(pipeline)) {
      const { partition, offset, projection, key, reason, by, at } = mark
      await output.row({
        domain: pipeline.domain.name,
        position: `${partition}:${offset}`,
        projection,
        key,
        reason,
        by,
        at: new Date(at).toISOString(),
      } satisfies DiscardedRow)
    }
  }
}

const discardsOf = async ({ verdicts, domain }: Pipeline): Promise<readonly Verdict[]> =>
  (await verdicts.list(domain.name)).filter(({ what }) => what === 'discarded')

export const showParked: Handler<'parked-show'> = async (runtime, { id }) => {
  const found = await findOne(runtime, id)
  return rowOfParked(found, found.pipeline.serving().generation)
}

/** Writes the request into the rows of the parked keys, for the owner of the partition. If this process is the owner, it retries at once. */
export const retryParked: Handler<'parked-retry'> = async (runtime, { id, all }) => {
  if ((id === undefined) !== (all === true)) throw new Fault('bad-usage', 'Name one parked key, or add --all.')
  const found = id === undefined ? await everyEntry(runtime) : await find(runtime, id)
  for (const each of found) await retryOne(each)
  return healed(runtime, found)
}

/** Requests the retry in every followed generation. Clears the verdict of the crash guard, so an event that crashed processes is tried again. */
const retryOne = async ({ pipeline, entry }: Found): Promise<void> => {
  await pipeline.verdicts.clear(pipeline.domain.name, entry)
  for (const { store } of await followingGenerations(pipeline)) await requestRetry(store, entry)
}

const healed = async ({ clock }: Runtime, found: readonly Found[]): Promise<RetryResult> => {
  const until = after(clock, WAIT_MS)
  for (const pipeline of new Set(found.map((each) => each.pipeline))) await pipeline.heal()
  const readStates = async (): Promise<RetryResult> => {
    const now = await Promise.all(found.map(stateOf))
    const count = (state: Awaited<ReturnType<typeof stateOf>>): number => now.filter((each) => each === state).length
    return { asked: found.length, healed: count('healed'), still: count('still'), pending: count('pending') }
  }
  return retrying(readStates, { clock, when: { result: ({ pending }) => pending > 0 }, until, pause: every(POLL_MS) })
}

const stateOf = async ({ pipeline, entry: { PK, SK } }: Found): Promise<'healed' | 'still' | 'pending'> => {
  const found = await pipeline
    .serving()
    .store.reader(() => 0)
    .get({ PK, SK })
  if (found === undefined) return 'healed'
  return found['retry'] === true ? 'pending' : 'still'
}

export const discardParked: Handler<'parked-discard'> = async (runtime, { id, reason, by }) => {
  if (reason.trim() === '' || by.trim() === '')
    throw new Fault('bad-usage', 'A discard is recorded. Add --reason TEXT and --by NAME.')
  const found = await find(runtime, id)
  for (const { pipeline, entry } of found) {
    const { domain, control, verdicts } = pipeline
    const store = async (generation: number) => (await pipeline.generation(generation)).store
    await discard(
      { domain, control, verdicts, clock: runtime.clock, serving: pipeline.serving().generation, store },
      entry,
      { reason: reason.trim(), by: by.trim() },
    )
  }
  return healed(runtime, found)
}

const everyEntry = async (runtime: Runtime): Promise<readonly Found[]> => {
  const lists = await Promise.all(
    [...runtime.pipelines.values()].map(async (pipeline) =>
      (await entriesOf(pipeline)).map((entry) => ({ pipeline, entry })),
    ),
  )
  return lists.flat()
}

/**
 * Finds a parked key by id, by position (`partition:offset`, with or without the domain) or by key. Several entries if one event is parked in
 * several projections. Faults: `bad-usage` if several events match, `parked-unknown` if none matches.
 */
const find = async (runtime: Runtime, id: string): Promise<readonly [Found, ...Found[]]> => {
  const every = await everyEntry(runtime)
  const positions = ({ pipeline, entry }: Found): readonly string[] => [
    `${entry.partition}:${entry.offset}`,
    `${pipeline.domain.name}:${entry.partition}:${entry.offset}`,
  ]
  for (const names of [
    (each: Found) => idOf(each) === id,
    (each: Found) => positions(each).includes(id),
    ({ entry }: Found) => entry.key === id,
  ]) {
    const [first, ...others] = every.filter(names)
    if (first === undefined) continue
    const found = [first, ...others] as const
    if (new Set(found.map(({ pipeline, entry }) => `${pipeline.domain.name}:${entry.key}:${entry.offset}`)).size > 1) {
      throw new Fault('bad-usage', `"${id}" is parked more than once: ${found.map(idOf).join(', ')}. Name one of them.`)
    }
    return found
  }
  throw new Fault(
    'parked-unknown',
    `Nothing is parked under "${id}"${await wasDiscarded(runtime, id)}. See: tributary parked.`,
  )
}

const findOne = async (runtime: Runtime, id: string): Promise<Found> => (await find(runtime, id))[0]

const wasDiscarded = async (runtime: Runtime, id: string): Promise<string> => {
  for (const pipeline of runtime.pipelines.values()) {
    const mark = (await discardsOf(pipeline)).find(({ partition, offset, key }) =>
      [`${partition}:${offset}`, `${pipeline.domain.name}:${partition}:${offset}`, key].includes(id),
    )
    if (mark !== undefined)
      return `: the event at ${mark.partition}:${mark.offset} was discarded by ${mark.by} on ${new Date(mark.at).toISOString()}`
  }
  return ''
}
