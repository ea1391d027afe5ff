import type { Clock } from './clock.ts'
import { withCloudEvents } from './cloud-events.ts'
import type { Control, Generation } from './control.ts'
import type { Log, Logs } from './log.ts'
import { withMarks } from './marks.ts'
import type { Marks } from './marks.ts'
import { createOutcomes } from './outcomes.ts'
import type { Outcomes } from './outcomes.ts'
import type { Parked } from './parking.ts'
import type { Passed } from './tally.ts'
import { createLedger } from './ledger.ts'
import { startPolling } from './polling.ts'
import { endsOf, missingTo, type Positions } from './positions.ts'
import type { Polling } from './polling.ts'
import { startSender } from './sender.ts'
import { openServing } from './serving.ts'
import type { SendingFrom } from './sender.ts'
import type { Series, SeriesStores } from './series.ts'
import type { Store, Stores } from './store.ts'
import { startTimers } from './timers.ts'
import { watchTrimming } from './trimmed.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { createFollowing, wholeOf } from './following.ts'
import type { Following } from './following.ts'

/** One generation as this process sees it. */
export interface Followed {
  readonly generation: number
  readonly store: Store
  /** The points, where the domain has any. */
  readonly series: Series | undefined
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
  /** Where points go; needed where the domain has any. */
  readonly series?: Pick<SeriesStores, 'open'>
  readonly control: Control
  /** What is known of single events: those discarded, those that kill. */
  readonly marks: Marks
  /** What was sent: outlives generations. */
  readonly ledger: Store
  /** The name of this life of this process, for what it claims. */
  readonly holder: string
  readonly codec: Codec
  readonly clock: Clock
  readonly watching: Watching
  /** Creates nothing: neither a topic, nor a table, nor a row in the control table. The domain is listed there. */
  readonly readOnly?: boolean
  /** How often to look at checkpoints of other processes; absent where there are none. */
  readonly pollMs?: number
  readonly paces?: Paces
}

/** How often to look for what nobody tells. */
export interface Paces {
  readonly senderMs: number
  readonly timersMs: number
  readonly refreshMs: number
  readonly healMs: number
  /** How often to check whether the log was trimmed. Absent: never. */
  readonly checkMs?: number
}

/** What of a pipeline may run in a process. */
type Hand = 'processor' | 'sender' | 'timers'

/** One domain in this process: its log, its generations, and what of it runs here. */
export interface Pipeline {
  readonly domain: Domain
  readonly log: Log
  readonly control: Control
  readonly marks: Marks
  readonly codec: Codec
  /** The generation that serves now. Throws `table-missing` while its table does not exist. */
  serving(): Followed
  /** The serving generation, if an edge of this release would misread its items; undefined otherwise. */
  unreadable(): Generation | undefined
  /** The same for requests, once per request. Throws also `table-rewound` while its table contains less than before. */
  answering(): Followed
  /** Throws `table-rewound` if the serving generation's table contains less than before, as of now. */
  confirm(): Promise<void>
  /** How many events are not passed at these positions, of those that the log contained when this process started. */
  behindStart(reached: Positions): number
  /** Why folding into the serving generation has stopped in this process; undefined if it has not. */
  stalled(): unknown
  generation(generation: number): Promise<Followed>
  /** Nothing here follows a generation that is no longer listed, and its store is closed. */
  letGo(generation: number): Promise<void>
  /** Looks at the control table again: a new generation is followed, a flip is honoured. */
  refresh(): Promise<void>
  /** Runs a part of it here until the pipeline stops. */
  start(hand: Hand): Promise<void>
  /** Tries the parked keys whose retry was asked for and that are processed here. */
  heal(): Promise<number>
  /** Stops what runs here, in an order that loses nothing. */
  stop(): Promise<void>
}

const PACES: Paces = { senderMs: 1_000, timersMs: 1_000, refreshMs: 1_000, healMs: 5_000, checkMs: 5_000 }

export const openPipeline = async (parts: PipelineParts): Promise<Pipeline> => {
  const { domain, logs, control, marks, codec } = parts
  const kept = await control.identity(domain.name)
  const log = withMarks(withCloudEvents(await logs.open(domain.topic, kept), { domain, codec }), () => marks.of(domain.name))
  const identity = kept ?? (await log.identity())
  if (parts.readOnly !== true) await control.ensure(domain, identity, () => createFirst(parts))
  const { generation, forget } = generationsOf(parts)
  const started = parts.readOnly === true ? new Map<number, number>() : await endsOf(log)
  let isProcessing = false
  const sending = createSending(parts, { log, partitions: identity.partitions, generation })
  const following = createFollowing({ parts, log, generation, sent: sending.wake })
  const serving = await openServing({ domain, control, generation, failed: (error) => parts.watching.failed(domain.name, error), written: (number) => following.running().get(number)?.positions() ?? new Map() })
  const refresh = inTurn(async () => {
    await serving.refresh()
    if (!isProcessing) return
    await log.refresh()
    await following.refresh()
  })
  const watch = watchControl(parts, { refresh, look: serving.look, following })
  const trimming = watchLog(parts, log)
  const start = async (hand: Hand): Promise<void> => {
    if (hand !== 'processor') return sending.start(hand)
    isProcessing = true
    await refresh()
  }
  const stop = async (): Promise<void> => {
    const trimmingStopped = trimming?.stop()
    await watch.stop()
    await sending.stop()
    await following.stop()
    await trimmingStopped
  }
  const confirm = async (): Promise<void> => {
    await serving.look()
    serving.answering()
  }
  const behindStart = (reached: Positions): number => missingTo(started, reached)
  const stalled = (): unknown => {
    const { generation: number, store } = serving.current()
    return following.running().get(number)?.stalled() ?? store.failing?.()
  }
  const letGo = async (number: number): Promise<void> => {
    await refresh()
    await forget(number)
  }
  return { domain, log, control, marks, codec, serving: serving.current, answering: serving.answering, unreadable: serving.unreadable, confirm, behindStart, stalled, generation, letGo, refresh, start, heal: following.heal, stop }
}

/** The only table that is created without a rebuild: of a domain that the control table does not list yet. */
const createFirst = async ({ domain, stores }: PipelineParts): Promise<void> => {
  const store = await stores.create(domain.table, 1)
  await store.close()
}

/** Each generation is opened once. */
const generationsOf = ({ domain, stores, series: points, clock, pollMs }: PipelineParts) => {
  const opened = new Map<number, Promise<Followed>>()
  const open = async (generation: number): Promise<Followed> => {
    const store = await stores.open(domain.table, generation)
    const series = domain.series && points?.open(domain.series, generation)
    return { generation, store, series, outcomes: createOutcomes({ domain, store: () => store, clock, ...(pollMs === undefined ? {} : { pollMs }) }) }
  }
  const generation = (number: number): Promise<Followed> => {
    const known = opened.get(number) ?? open(number)
    opened.set(number, known)
    known.catch(() => opened.delete(number))
    return known
  }
  const forget = async (number: number): Promise<void> => {
    const known = await opened.get(number)?.catch(() => undefined)
    opened.delete(number)
    await known?.series?.close()
    await known?.store.close()
  }
  return { generation, forget }
}

interface SendingParts {
  readonly log: Log
  readonly partitions: number
  readonly generation: (generation: number) => Promise<Followed>
}

/** What goes out: the outboxes, and events whose time has come. */
const createSending = ({ domain, control, holder, clock, watching, paces = PACES, ...parts }: PipelineParts, { log, partitions, generation }: SendingParts) => {
  const sendingFrom = async (): Promise<SendingFrom> => {
    const pointer = await control.serving(domain.name)
    const listed = (await control.generations(domain.name)).filter(({ state }) => state === 'following').map((each) => each.generation)
    return { turns: [pointer, ...pointer.before], generations: await wholeOf(listed, { generation, serving: pointer.generation }) }
  }
  const store = async (): Promise<Store> => (await generation((await control.serving(domain.name)).generation)).store
  const ledger = createLedger({ store: parts.ledger, clock, holder })
  const common = { log, ledger, partitions, clock, failed: (error: unknown) => watching.failed(domain.name, error) }
  let sender: Polling | undefined
  let timers: Polling | undefined
  return {
    wake: () => sender?.wake(),
    start(hand: 'sender' | 'timers'): void {
      if (hand === 'timers') timers ??= startTimers({ ...common, pollMs: paces.timersMs, store })
      else sender ??= startSender({ ...common, pollMs: paces.senderMs, sendingFrom, ttl: domain.table.ttl })
    },
    async stop(): Promise<void> {
      await timers?.stop()
      await sender?.stop()
    },
  }
}

const watchControl = ({ domain, clock, watching, paces = PACES }: PipelineParts, { refresh, look, following }: { refresh: () => Promise<void>; look: () => Promise<void>; following: Following }) => {
  const failed = (error: unknown): void => watching.failed(domain.name, error)
  let healed = clock.now()
  return startPolling({ clock, pollMs: paces.refreshMs, failed }, async () => {
    await refresh()
    if (clock.now() - healed < paces.healMs) return
    healed = clock.now()
    await look()
    await following.heal()
  })
}

const watchLog = ({ domain, clock, watching, paces: { checkMs } = PACES }: PipelineParts, log: Log): Polling | undefined =>
  checkMs === undefined ? undefined : watchTrimming({ log, clock, checkMs, failed: (error) => watching.failed(domain.name, error) })

/** One after the other, whoever asks. */
const inTurn = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(work, work)
    return last
  }
}
