import type { AskHandlers, AskResult } from '../../../projections/ask.ts'
import type { Reader } from '../../../projections/table.ts'
import type { Value } from '../../../projections/item.ts'
import { Fault, isFault, isRetriable, messageOf } from '../../../schemas/fault.ts'
import type { AskRow } from '../outgoing/asks.ts'
import type { Clock } from '../ports/clock.ts'
import { after, retrying } from '../timing/retry.ts'
import { answerEvents, appendAnswers, type AppendParts } from './answers.ts'
import type { AskClaims } from './claims.ts'
import type { QueueLeases } from './queue-leases.ts'

/**
 * How a call ended. `answered`: the answer is in the log. `dropped`: the answer was about a part of a person that is forgotten, and is not
 * stored. `later`: nothing was called, until the returned time. `failed`: the handler threw, and the ask is called again. `unknown`: the
 * handler threw, and the ask must not be called again.
 */
export type CallOutcome = 'answered' | 'dropped' | 'later' | 'failed' | 'unknown'

export interface EndedCall {
  readonly kind: string
  readonly outcome: CallOutcome
}

export interface CallParts extends AppendParts {
  readonly clock: Clock
  readonly handlers: AskHandlers
  readonly claims: AskClaims
  readonly leases: QueueLeases
  readonly failed: (error: unknown) => void
  readonly ended?: (call: EndedCall) => void
}

/** The result of a call for the schedule of the fetcher: the ask is done, has a time before which it cannot be called, or has failed. */
export type Called = { readonly outcome: Exclude<CallOutcome, 'later'> } | { readonly outcome: 'later'; until: number }

/** The pause between two extensions of the claim and the lease. */
const RENEW_MS = 20_000
/** The time for which the append of an answer is retried. Then the ask is called again later, unless it says `once`. */
const APPEND_MS = 60_000

/**
 * Calls the handler of a claimed ask, appends the answer, and ends the claim and the lease. Extends both meanwhile. Never throws. If
 * `signal` aborts, ends without an answer: then the claim of an ask with `once` shows that its result is unknown.
 */
export const callAsk = async (parts: CallParts, row: AskRow, call: Calling): Promise<Called> => {
  const { leases, failed, ended } = parts
  const renewing = keepClaimed(parts, row)
  const called = await callAndAppend(parts, row, call).catch((error: unknown): Called => {
    if (isFault(error, 'part-forgotten')) return { outcome: 'dropped' }
    failed(callFailed(row, error))
    return { outcome: row.once ? 'unknown' : 'failed' }
  })
  await renewing.stop()
  // If the store does not answer until the process stops, the claim and the lease expire.
  const untilStored = (write: () => Promise<void>) => persisting(parts, call, write).catch(failed)
  if (called.outcome !== 'answered') await untilStored(() => endClaim(parts, row, called))
  await untilStored(() => leases.release(row.queue))
  ended?.({ kind: row.kind, outcome: called.outcome })
  return called
}

export interface Calling {
  readonly reader: Reader
  /** Aborts when the process stops. */
  readonly signal: AbortSignal
}

const callAndAppend = async (parts: CallParts, row: AskRow, { reader, signal }: Calling): Promise<Called> => {
  const { clock, claims } = parts
  const result = await unlessAborted(signal, callHandler(parts, row, { reader, signal }))
  if ('later' in result) return { outcome: 'later', until: result.later }
  const events = answerEvents(row, result.events, clock.now())
  const position = await retrying(() => appendAnswers(parts, events), {
    clock,
    when: { error: isRetriable },
    signal,
    ...(row.once ? {} : { until: after(clock, APPEND_MS) }),
    failed: parts.failed,
  })
  await persisting(parts, { signal }, () => claims.settle(row, position))
  return { outcome: 'answered' }
}

const callHandler = async ({ handlers, clock }: CallParts, row: AskRow, calling: Calling): Promise<AskResult> => {
  const { id, name, kind, key } = row
  const handler = handlers[kind]
  if (handler === undefined) throw new TypeError(`There is no handler for the kind ${kind}.`)
  return handler.call({ id, name, kind, key, body: JSON.parse(row.body) as Value, now: clock.now(), ...calling })
}

const endClaim = ({ claims }: CallParts, row: AskRow, { outcome }: Called): Promise<void> => {
  if (outcome === 'dropped') return claims.settle(row, undefined)
  return outcome === 'unknown' ? claims.lose(row.id) : claims.free(row.id)
}

/** Repeats a write to the ledger while the store does not answer. */
const persisting = (
  { clock, failed }: CallParts,
  { signal }: Pick<Calling, 'signal'>,
  write: () => Promise<void>,
): Promise<void> => retrying(write, { clock, when: { error: isRetriable }, signal, failed })

const keepClaimed = ({ clock, claims, leases, failed }: CallParts, { id, queue }: AskRow) => {
  const done = new AbortController()
  const loop = async () => {
    for (;;) {
      await clock.sleep(RENEW_MS, done.signal)
      if (done.signal.aborted) return
      await Promise.all([claims.renew(id), leases.take(queue)]).catch(failed)
    }
  }
  const renewing = loop()
  return {
    stop: async () => {
      done.abort()
      await renewing
    },
  }
}

const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(new Fault('ask-aborted', 'The process stops before the outside service has answered.'))
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

const callFailed = ({ id, kind, key, name, once }: AskRow, cause: unknown): Fault =>
  new Fault(
    once ? 'ask-result-unknown' : 'ask-failed',
    `The call "${name}" (kind ${kind}, key ${key}) failed: ${messageOf(cause)}. ${
      once
        ? `It must not be repeated, so it waits for an operator. If it had no effect outside, run: tributary asks release ${id}.`
        : 'The fetcher calls it again later.'
    }`,
    { cause },
  )
