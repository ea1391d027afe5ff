import type { AskHandlers } from '../../../projections/ask.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Control } from '../generations/control.ts'
import type { Generation } from '../generations/generation.ts'
import { endsOf, missingTo, type Positions } from '../generations/positions.ts'
import { openServing } from '../generations/serving.ts'
import { watchTrimming } from '../generations/trimmed.ts'
import { withCloudEvents } from '../outgoing/cloud-events.ts'
import { withVerdicts, type Verdicts } from '../poison/verdicts.ts'
import type { Log } from '../ports/log.ts'
import type { LogAdmin } from '../ports/log-admin.ts'
import { startPolling, type Polling } from '../timing/polling.ts'
import { createFollowing, type Following } from './following.ts'
import { createOpenGenerations, type OpenGeneration } from './open-generations.ts'
import { PACES, type PipelineParts } from './pipeline-parts.ts'
import { createSending } from './sending.ts'

/** The roles of a pipeline that a process can run. */
type PipelineRole = 'processor' | 'sender' | 'timers'

/** One domain in this process: its log, its generations, and the roles that run here. */
export interface Pipeline {
  readonly domain: Domain
  readonly log: Log
  readonly admin: LogAdmin
  readonly control: Control
  readonly verdicts: Verdicts
  readonly codec: Codec
  /** The serving generation. Throws `table-missing` while its table does not exist. */
  serving(): OpenGeneration
  /** Returns the serving generation if this release is too old to read its items correctly. Otherwise undefined. */
  unreadable(): Generation | undefined
  /**
   * Returns the serving generation, to answer a request. Throws `table-missing`, and `table-rewound` while its table contains less than it
   * contained before.
   */
  answering(): OpenGeneration
  /** Reads the checkpoints of the serving generation. Throws `table-rewound` if its table contains less than it contained before. */
  confirm(): Promise<void>
  /** Returns the number of events that are not folded at these positions. Counts only events that the log had when this process started. */
  behindStart(positions: Positions): number
  /** The failure that stops the folding into the serving generation in this process; undefined if there is none. */
  stalled(): unknown
  generation(generation: number): Promise<OpenGeneration>
  /** Stops the processor of a generation that is no longer listed, and closes its stores. */
  closeGeneration(generation: number): Promise<void>
  /** Reads the control table: starts the processors of new generations and applies a flip. */
  refresh(): Promise<void>
  /** Runs a role in this process until the pipeline stops. */
  start(role: PipelineRole): Promise<void>
  /** Calls the due asks of the domain in this process until the pipeline stops. Asks of a kind without a handler are not called. */
  startFetcher(handlers: AskHandlers): void
  /** Folds the events of the parked keys whose retry was requested, in the partitions of this process. Resolves to the number of healed keys. */
  heal(): Promise<number>
  /** Stops all roles of this process, in an order that loses no event. */
  stop(): Promise<void>
}

export const openPipeline = async (parts: PipelineParts): Promise<Pipeline> => {
  const { domain, logs, control, verdicts, codec } = parts
  const stored = await control.identity(domain.name)
  const admin = await logs.open(domain.topic, stored)
  const log = withVerdicts(withCloudEvents(admin, { domain, codec }), () => verdicts.list(domain.name))
  const identity = stored ?? (await admin.identity())
  if (parts.readOnly !== true) await control.ensure(domain, identity, () => createFirstTable(parts))
  const { open: generation, close } = createOpenGenerations(parts)
  const endsAtStart = parts.readOnly === true ? new Map<number, number>() : await endsOf(log)
  let isProcessing = false
  const sending = createSending(parts, { log, partitions: identity.partitions, generation })
  const following = createFollowing({ parts, log, generation, wake: sending.wake })
  const serving = await openServing({
    domain,
    control,
    generation,
    failed: (error) => parts.observer.failed(domain.name, error),
    written: (number) => following.running().get(number)?.positions() ?? new Map(),
  })
  const refresh = oneAtATime(async () => {
    await serving.refresh()
    if (!isProcessing) return
    await log.refresh()
    await following.refresh()
  })
  const watch = watchControl(parts, { refresh, checkRewound: serving.checkRewound, following })
  const trimming = watchLog(parts, log)
  const start = async (role: PipelineRole): Promise<void> => {
    if (role !== 'processor') return sending.start(role)
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
    await serving.checkRewound()
    serving.answering()
  }
  const stalled = (): unknown => {
    const { generation: number, store } = serving.current()
    return following.running().get(number)?.stalled() ?? store.failing?.()
  }
  const closeGeneration = async (number: number): Promise<void> => {
    await refresh()
    await close(number)
  }
  return {
    domain,
    log,
    admin,
    control,
    verdicts,
    codec,
    serving: serving.current,
    answering: serving.answering,
    unreadable: serving.unreadable,
    confirm,
    behindStart: (positions) => missingTo(endsAtStart, positions),
    stalled,
    generation,
    closeGeneration,
    refresh,
    start,
    startFetcher: sending.startFetcher,
    heal: following.heal,
    stop,
  }
}

/** Creates the table of a domain that the control table does not list yet. Only a rebuild creates further tables. */
const createFirstTable = async ({ domain, stores }: PipelineParts): Promise<void> => {
  const store = await stores.create(domain.table, 1)
  await store.close()
}

interface Watched {
  readonly refresh: () => Promise<void>
  readonly checkRewound: () => Promise<void>
  readonly following: Following
}

const watchControl = (
  { domain, clock, observer, paces = PACES }: PipelineParts,
  { refresh, checkRewound, following }: Watched,
) => {
  const failed = (error: unknown): void => observer.failed(domain.name, error)
  let healedAt = clock.now()
  return startPolling({ clock, pollMs: paces.refreshMs, failed }, async () => {
    await refresh()
    if (clock.now() - healedAt < paces.healMs) return
    healedAt = clock.now()
    await checkRewound()
    await following.heal()
  })
}

const watchLog = (
  { domain, clock, observer, paces: { checkMs } = PACES }: PipelineParts,
  log: Log,
): Polling | undefined =>
  checkMs === undefined
    ? undefined
    : watchTrimming({ log, clock, checkMs, failed: (error) => observer.failed(domain.name, error) })

/** Returns a function that runs `work`. Concurrent calls of it run one after the other. */
const oneAtATime = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(work, work)
    return last
  }
}
