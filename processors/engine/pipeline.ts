import type { Clock } from './clock.ts'
import type { Control } from './control.ts'
import type { Log, Logs } from './log.ts'
import { createOutcomes } from './outcomes.ts'
import type { Outcomes } from './outcomes.ts'
import type { Parked } from './parking.ts'
import type { Passed } from './tally.ts'
import { startSender } from './sender.ts'
import type { Sender, SendingFrom } from './sender.ts'
import type { Store, Stores } from './store.ts'
import { startTimers } from './timers.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { createFollowing } from './following.ts'
import type { Following } from './following.ts'

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

/** What of a pipeline may run in a process. */
export type Hand = 'processor' | 'sender' | 'timers'

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
  /** Runs a part of it here until the pipeline stops. */
  start(hand: Hand): Promise<void>
  /** Tries the parked keys whose retry was asked for and that are processed here. */
  heal(): Promise<number>
  /** Stops what runs here, in an order that loses nothing. */
  stop(): Promise<void>
}

const SENDER_POLL_MS = 1_000
const TIMER_POLL_MS = 1_000
const HEAL_MS = 5_000
const REFRESH_MS = 1_000

export const openPipeline = async (parts: PipelineParts): Promise<Pipeline> => {
  const { domain, logs, control, codec } = parts
  const kept = await control.identity(domain.name)
  const log = await logs.open(domain.topic, kept)
  const { partitions } = kept ?? (await log.identity())
  await control.ensure(domain, kept ?? (await log.identity()))
  const generation = generationsOf(parts)
  let serving = await generation((await control.serving(domain.name)).generation)
  let processing = false
  const sending = createSending(parts, { log, partitions, serving: () => serving, generation })
  const following = createFollowing({ parts, log, generation, sent: sending.wake })
  const refresh = inTurn(async () => {
    const pointer = await control.serving(domain.name)
    if (pointer.generation !== serving.generation) serving = await generation(pointer.generation)
    if (processing) await following.refresh()
  })
  const watch = watchControl(parts, { refresh, following })
  const start = async (hand: Hand): Promise<void> => {
    if (hand !== 'processor') return sending.start(hand)
    processing = true
    await refresh()
  }
  const stop = async (): Promise<void> => {
    await watch.stop()
    await sending.stop()
    await following.stop()
  }
  return { domain, log, control, codec, serving: () => serving, generation, refresh, start, heal: following.heal, stop }
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

/** What goes out of the serving generation: its outbox, and events whose time has come. */
const createSending = ({ domain, control, ledger, clock, watching }: PipelineParts, at: { log: Log; partitions: number; serving: () => Followed; generation: (generation: number) => Promise<Followed> }) => {
  const { log, partitions, serving, generation } = at
  const sendingFrom = async (): Promise<SendingFrom> => {
    const pointer = await control.serving(domain.name)
    const before = (await control.generations(domain.name)).filter((each) => each.generation < pointer.generation && each.state === 'following')
    const former = await Promise.all(before.map(async (each) => (await generation(each.generation)).store))
    return { store: (await generation(pointer.generation)).store, from: pointer.from, former }
  }
  const common = { log, ledger, partitions, clock, failed: (error: unknown) => watching.failed(domain.name, error) }
  let sender: Sender | undefined
  let timers: { stop(): Promise<void> } | undefined
  return {
    wake: () => sender?.wake(),
    start(hand: 'sender' | 'timers'): void {
      if (hand === 'timers') timers ??= startTimers({ ...common, pollMs: TIMER_POLL_MS, store: () => Promise.resolve(serving().store) })
      else sender ??= startSender({ ...common, pollMs: SENDER_POLL_MS, serving: sendingFrom })
    },
    async stop(): Promise<void> {
      await timers?.stop()
      await sender?.stop()
    },
  }
}

const watchControl = ({ domain, clock, watching }: PipelineParts, { refresh, following }: { refresh: () => Promise<void>; following: Following }) => {
  const stopping = new AbortController()
  const failed = (error: unknown): void => watching.failed(domain.name, error)
  const watch = async (): Promise<void> => {
    for (let healed = clock.now(); ; ) {
      await clock.sleep(REFRESH_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await refresh().catch(failed)
      if (clock.now() - healed < HEAL_MS) continue
      healed = clock.now()
      await following.heal().catch(failed)
    }
  }
  const watched = watch()
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await watched
    },
  }
}

/** One after the other, whoever asks. */
const inTurn = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(work, work)
    return last
  }
}
