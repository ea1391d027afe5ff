import type { Clock } from '../processors/engine/clock.ts'
import type { Control } from '../processors/engine/control.ts'
import type { Log, Logs } from '../processors/engine/log.ts'
import { createOutcomes } from '../processors/engine/outcomes.ts'
import type { Outcomes } from '../processors/engine/outcomes.ts'
import { startProcessor } from '../processors/engine/processor.ts'
import type { Parked } from '../processors/engine/parking.ts'
import type { Passed, Running } from '../processors/engine/processor.ts'
import { startSender } from '../processors/engine/sender.ts'
import type { Sender, SenderParts } from '../processors/engine/sender.ts'
import type { Store, Stores } from '../processors/engine/store.ts'
import type { Domain } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'

/** One generation as this process sees it. */
export interface Followed {
  readonly generation: number
  readonly store: Store
  readonly outcomes: Outcomes
}

/** What happens in a pipeline, for whoever counts it. */
export interface Watching {
  passed(domain: string, generation: number, passed: Passed): void
  parked(domain: string, parked: Parked): void
  failed(domain: string, error: unknown): void
}

export interface PipelineParts {
  readonly domain: Domain
  readonly logs: Logs
  readonly stores: Stores
  readonly control: Control
  readonly ledger: Store
  readonly codec: Codec
  readonly clock: Clock
  readonly watching: Watching
  /** How often to look at checkpoints of other processes; absent where there are none. */
  readonly pollMs?: number
}

/** One domain in this process: its log, its generations, and what of it runs here. */
export interface Pipeline {
  readonly domain: Domain
  readonly log: Log
  readonly control: Control
  readonly codec: Codec
  /** The generation that answers now. A request asks once. */
  serving(): Followed
  generation(generation: number): Promise<Followed>
  /** Looks at the control table again: a new generation is followed, a flip is honoured. */
  refresh(): Promise<void>
  /** Processes what the log brings, for every generation of this build's fold version, until the pipeline closes. */
  process(): Promise<void>
  send(): void
  running(): ReadonlyMap<number, Running>
  /** Stops what runs here, in an order that loses nothing. */
  stop(): Promise<void>
}

const SENDER_POLL_MS = 1_000
const REFRESH_MS = 1_000

export const openPipeline = async (parts: PipelineParts): Promise<Pipeline> => {
  const { domain, logs, control, codec, clock } = parts
  const kept = await control.identity(domain.name)
  const log = await logs.open(domain.topic, kept)
  const identity = kept ?? (await log.identity())
  await control.ensure(domain, identity)
  const generation = generationsOf(parts)
  let serving = await generation((await control.serving(domain.name)).generation)
  const running = new Map<number, Running>()
  const stopping = new AbortController()
  let processing = false
  let sender: Sender | undefined

  const follow = async (): Promise<void> => {
    const listed = await control.generations(domain.name)
    const ours = listed.filter(({ state, foldVersion }) => state === 'following' && foldVersion === domain.foldVersion).map((each) => each.generation)
    for (const number of ours) if (!running.has(number)) running.set(number, await startFollowing(parts, { log, followed: await generation(number), sent: () => sender?.wake() }))
    for (const [number, processor] of running) {
      if (ours.includes(number)) continue
      running.delete(number)
      await processor.stop()
    }
  }
  const refresh = inTurn(async () => {
    const pointer = await control.serving(domain.name)
    if (pointer.generation !== serving.generation) serving = await generation(pointer.generation)
    if (processing && !stopping.signal.aborted) await follow()
  })
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(REFRESH_MS, stopping.signal)
      if (!stopping.signal.aborted) await refresh().catch((error: unknown) => parts.watching.failed(domain.name, error))
    }
  }
  const watched = watch()
  const process = async (): Promise<void> => {
    processing = true
    await refresh()
  }
  const send = (): void => {
    sender ??= startSenderOf(parts, { log, partitions: identity.partitions, serving: async () => ({ store: serving.store, from: (await control.serving(domain.name)).from }) })
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    await watched
    await sender?.stop()
    await Promise.all([...running.values()].map((processor) => processor.stop()))
    running.clear()
  }
  return { domain, log, control, codec, serving: () => serving, generation, refresh, process, send, running: () => running, stop }
}

/** Each generation is opened once. */
const generationsOf = ({ domain, stores, clock, pollMs }: PipelineParts) => {
  const opened = new Map<number, Promise<Followed>>()
  const open = async (generation: number): Promise<Followed> => {
    const store = await stores.open(domain.table, generation)
    return { generation, store, outcomes: createOutcomes({ domain, store: () => store, clock, ...(pollMs === undefined ? {} : { pollMs }) }) }
  }
  return (generation: number): Promise<Followed> => {
    const known = opened.get(generation) ?? open(generation)
    opened.set(generation, known)
    known.catch(() => opened.delete(generation))
    return known
  }
}

const startFollowing = ({ domain, codec, clock, watching }: PipelineParts, { log, followed, sent }: { log: Log; followed: Followed; sent: () => void }): Promise<Running> =>
  startProcessor({
    domain,
    generation: followed.generation,
    log,
    store: followed.store,
    codec,
    clock,
    heard: (passed) => {
      followed.outcomes.heard(passed)
      watching.passed(domain.name, followed.generation, passed)
      sent()
    },
    failed: (error) => watching.failed(domain.name, error),
    parked: (parked) => watching.parked(domain.name, parked),
  })

const startSenderOf = ({ domain, ledger, clock, watching }: PipelineParts, sending: Pick<SenderParts, 'log' | 'partitions' | 'serving'>): Sender =>
  startSender({ ...sending, ledger, clock, pollMs: SENDER_POLL_MS, failed: (error) => watching.failed(domain.name, error) })

/** One after the other, whoever asks. */
const inTurn = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(work, work)
    return last
  }
}
