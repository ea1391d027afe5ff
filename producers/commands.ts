import type { Event } from '../schemas/event.ts'
import { Fault, isFault } from '../schemas/fault.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Outcome } from '../projections/projection.ts'
import { runInParts, mapInParts } from './run-in-parts.ts'
import type { Log, NewRecord, Position } from '../processors/engine/ports/log.ts'
import type { Deadline } from './deadline.ts'

/** The position and the outcome of an appended event. `pending`: the outcome is not known yet. */
export interface Receipt {
  readonly position: Position
  readonly eventId: string
  readonly outcome: Outcome | 'pending'
}

interface ExecuteOptions extends AppendOptions {
  readonly wait: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Reports outcomes of the generation that serves the request. Default: the `outcomes` of `CommandParts`. */
  readonly outcomes?: OutcomeSource
}

interface AppendOptions {
  /**
   * The call resolves or rejects before the deadline. It rejects with `too-slow` if the log does not have the events and will not get the events,
   * and with `append-unknown` if the log may have the events. If the deadline passes after the append, the outcome is `pending`. Default: no
   * deadline.
   */
  readonly deadline?: Deadline
}

/** The labels of an appended event in the metrics. */
export interface AppendedEvent {
  readonly domain: string
  readonly source: string
  readonly type: string
}

/** Appends events to the log of one domain. */
export interface Commands {
  /** Appends an event. If `wait` is true, also waits for its outcome: at most `timeoutMs`, then the outcome is `pending`. */
  execute(event: Event, options: ExecuteOptions): Promise<Receipt>
  /**
   * Appends events in their order per key, and does not wait for their fold. If the call fails with `append-unknown`, the log may have some of
   * the events.
   */
  append(events: readonly Event[], options?: AppendOptions): Promise<readonly Position[]>
}

/** Waits until an event is folded, in this process or in another process. Resolves to its outcome, or to `pending` after `timeoutMs`. */
export interface OutcomeSource {
  untilOutcome(sent: Position & { readonly key: string }, timeoutMs: number): Promise<Outcome | 'pending'>
}

export interface CommandParts {
  readonly log: Pick<Log, 'append'>
  readonly codec: Pick<Codec, 'encode' | 'keysFor'>
  readonly outcomes: OutcomeSource
}

/** The number of events that are encoded in one turn of the event loop. */
const PART_EVENTS = 50

export const createCommands = ({ log, codec, outcomes }: CommandParts): Commands => {
  const recordOf = (event: Event): NewRecord => ({ key: event.meta.key, value: codec.encode(event), event })
  const append: Commands['append'] = async (events, { deadline } = {}) => {
    const keys = codec.keysFor?.(events)
    if (keys !== undefined) await (deadline === undefined ? keys : deadline.within(keys, tooSlow))
    const records =
      events.length <= PART_EVENTS ? events.map(recordOf) : await runInParts(mapInParts(events, PART_EVENTS, recordOf))
    if (deadline === undefined) return log.append(records)
    // The log gets 5 percent less time, so that its error arrives before the deadline. Only this error states whether the log has the events.
    const timeoutMs = deadline.left() * LOG_SHARE
    if (timeoutMs === 0) throw tooSlow()
    return deadline.within(log.append(records, timeoutMs), unknown)
  }
  return {
    append,
    async execute(event, { wait, timeoutMs, signal, outcomes: own = outcomes, deadline }) {
      const { eventId, key } = event.meta
      const [position] = await append([event], { ...(deadline && { deadline }) })
      if (!position) throw new TypeError(`The log returned no position for the event ${eventId}`)
      if (!wait || signal?.aborted) return { position, eventId, outcome: 'pending' }
      const waiting = own.untilOutcome(
        { partition: position.partition, offset: position.offset, key },
        Math.min(timeoutMs, deadline?.left() ?? timeoutMs),
      )
      const outcome = await (deadline === undefined ? waiting : deadline.within(waiting, tooSlow)).catch(
        pendingIfRetriable,
      )
      return { position, eventId, outcome }
    },
  }
}

const LOG_SHARE = 0.95

/** Returns the fault for a deadline that passed before any event was appended. */
export const tooSlow = (): Fault =>
  new Fault('too-slow', 'The answer took too long. Send the request again later.', { retriable: true })

const unknown = (): Fault =>
  new Fault(
    'append-unknown',
    'The log did not report in time whether it has the event. Send the same request again with the same Idempotency-Key.',
  )

/** For errors after the append. Returns `pending` for a retriable fault: only the outcome cannot be read now. Throws every other error again. */
export const pendingIfRetriable = (error: unknown): 'pending' => {
  if (isFault(error) && error.retriable) return 'pending'
  throw error
}
