import type { AskHandlers } from '../../../projections/ask.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { ServingPeriod } from '../outgoing/serving-periods.ts'
import type { Store } from '../ports/store.ts'
import { startPolling, type Polling, type PollingParts } from '../timing/polling.ts'
import type { AppendParts } from './answers.ts'
import { callAsk, type Called, type EndedCall } from './call.ts'
import { createAskClaims, type AskClaims } from './claims.ts'
import { asksOf, PRIORITIES, type StoredAsk } from './due-asks.ts'
import { createPostponedAsks, type PostponedAsksParts } from './postponed-asks.ts'
import { createQueueLeases } from './queue-leases.ts'
import { waitsBecause } from './waiting.ts'

export interface FetcherParts extends PollingParts, AppendParts {
  readonly domain: string
  readonly serving: () => Promise<ServingAsks>
  /** The store of the ledger. */
  readonly ledger: Store
  readonly processName: string
  readonly handlers: AskHandlers
  readonly partitions: number
  /** Receives each call that has ended. */
  readonly ended?: (call: EndedCall) => void
}

/** The serving generation: only its asks are called. */
export interface ServingAsks {
  readonly store: Pick<Store, 'reader'>
  readonly period: ServingPeriod
}

/** The maximum number of calls at once. */
const MAX_CALLS = 8
/** The pause until the state of an ask is read again that another process calls, that waits for an operator, or whose answer is not folded yet. */
const STATE_MS = 5_000
/** The time that running calls have to end when the process stops. Then they are aborted. */
const STOP_MS = 5_000

/**
 * Calls due asks, those with the lowest priority number first: takes the lease of the queue, claims the ask, calls its handler, and appends
 * the answer. A postponed ask does not delay the other asks of its queue.
 */
export const startFetcher = (parts: FetcherParts): Polling => {
  const { clock, handlers, ledger, processName, failed, partitions } = parts
  const ledgerParts = { store: ledger, clock, processName }
  const [claims, leases] = [createAskClaims(ledgerParts), createQueueLeases(ledgerParts, parts.domain)]
  const checks = createChecks({ clock, handlers, failed, claims })
  const aborting = new AbortController()
  /** The running calls, by queue. */
  const running = new Map<string, Promise<void>>()

  const start = ({ row }: StoredAsk, { store }: ServingAsks): void => {
    const reader = store.reader(clock.now)
    const call = callAsk({ ...parts, claims, leases }, row, { reader, signal: aborting.signal }).then((called) => {
      checks.ended(row.id, called)
      running.delete(row.queue)
      polling.wake()
    })
    running.set(row.queue, call)
  }
  /** Starts the call unless another process has the queue or the ask. */
  const tryStart = async (ask: StoredAsk, serving: ServingAsks): Promise<void> => {
    const { row } = ask
    if (!(await leases.take(row.queue))) return
    if (await claims.claim(row)) return start(ask, serving)
    checks.postponeState(row.id)
    await leases.release(row.queue)
  }
  const round = async (signal: AbortSignal): Promise<void> => {
    const serving = await parts.serving()
    const until = clock.now()
    // At most one call of a queue starts per round, so that no ask overtakes an earlier one of its queue.
    const busy = new Set(running.keys())
    for (const priority of PRIORITIES)
      for await (const ask of asksOf(
        serving.store.reader(() => 0),
        { partitions, priority, until },
      )) {
        if (signal.aborted || running.size >= MAX_CALLS) return
        const { queue } = ask.row
        if (busy.has(queue) || !(await checks.isCallable(ask, serving.period))) continue
        busy.add(queue)
        await tryStart(ask, serving)
      }
  }
  const polling = startPolling(parts, round)
  return {
    wake: polling.wake,
    stop: async () => {
      await polling.stop()
      const ended = new AbortController()
      const calls = Promise.all(running.values()).then(() => ended.abort())
      await clock.sleep(STOP_MS, ended.signal)
      aborting.abort()
      await calls
    },
  }
}

interface ChecksParts extends PostponedAsksParts {
  readonly claims: AskClaims
}

/** Creates the functions that determine which asks this process calls now. */
const createChecks = ({ claims, ...parts }: ChecksParts) => {
  const { clock, handlers, failed } = parts
  const postponed = createPostponedAsks(parts)
  const reported = new Set<string>()
  const postponeState = (id: string): void => postponed.postpone(id, clock.now() + STATE_MS)
  return {
    /** Postpones the ask until its state is read again. */
    postponeState,
    /** Reads the state of the ask. Postpones the ask if it cannot be called. Reports an ask with an unknown result once per process. */
    isCallable: async (ask: StoredAsk, period: ServingPeriod): Promise<boolean> => {
      const { row } = ask
      if (!Object.hasOwn(handlers, row.kind) || postponed.until(row.id) !== undefined) return false
      if ((await postponed.untilOfKind(row.kind)) !== undefined) return false
      const [state = 'free'] = await claims.states([row])
      const reason = waitsBecause(ask, { state, period, now: clock.now() })
      if (reason === undefined && (state === 'free' || state === 'released')) return true
      postponeState(row.id)
      if (reason === 'result-unknown' && !reported.has(row.id)) {
        reported.add(row.id)
        failed(resultUnknown(ask))
      }
      return false
    },
    /** Postpones the ask as the end of its call requires. */
    ended: (id: string, called: Called): void => {
      if (called.outcome === 'later') return postponed.postpone(id, called.until)
      if (called.outcome === 'failed') return postponed.postponeFailed(id)
      if (called.outcome === 'unknown') reported.add(id)
      else postponed.forget(id)
      postponeState(id)
    },
  }
}

const resultUnknown = ({ row: { id, name, kind, key } }: StoredAsk): Fault =>
  new Fault(
    'ask-result-unknown',
    `A process called "${name}" (kind ${kind}, key ${key}) and stopped before it stored the result. The call must not be repeated, so it waits for an operator. If it had no effect outside, run: tributary asks release ${id}.`,
  )
