import type { Event } from '../schemas/event.ts'
import { Fault, isFault } from '../schemas/fault.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Outcome } from '../projections/projection.ts'
import { inTurns, mapInParts } from './turns.ts'
import type { Log, NewRecord, Position } from '../processors/engine/log.ts'
import type { Deadline } from './deadline.ts'

/** Where an event lies and what became of it; `pending` when nobody waited long enough to hear. */
export interface Receipt {
  readonly position: Position
  readonly eventId: string
  readonly outcome: Outcome | 'pending'
}

interface ExecuteOptions extends AppendOptions {
  readonly wait: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Of the generation that answers the request. */
  readonly outcomes?: Outcomes
}

interface AppendOptions {
  /**
   * The call settles by then. Faults: `too-slow` (the log has nothing, and gets nothing later), `append-unknown` (it may have the events).
   * If the deadline passes after the append, the outcome is `pending`. Default: none.
   */
  readonly deadline?: Deadline
}

/** The labels of an appended event in the metrics. */
export interface AppendedEvent {
  readonly domain: string
  readonly source: string
  readonly type: string
}

/** Appends an event and, if asked to, waits until the fold has decided on it. */
export interface Commands {
  execute(event: Event, options: ExecuteOptions): Promise<Receipt>
  /** In order per key, without waiting for their fold. If it fails with `append-unknown`, a part of them may be in the log. */
  append(events: readonly Event[], options?: AppendOptions): Promise<readonly Position[]>
}

/** How outcomes are heard: in one process by notification, across processes by checkpoint and marker. */
export interface Outcomes {
  after(sent: Position & { readonly key: string }, timeoutMs: number): Promise<Outcome | 'pending'>
}

export interface CommandParts {
  readonly log: Pick<Log, 'append'>
  readonly codec: Pick<Codec, 'encode' | 'keysFor'>
  readonly outcomes: Outcomes
}

/** Events that are encoded without a turn for other requests. */
const PART_EVENTS = 50

export const createCommands = ({ log, codec, outcomes }: CommandParts): Commands => {
  const recordOf = (event: Event): NewRecord => ({ key: event.meta.key, value: codec.encode(event), event })
  const append: Commands['append'] = async (events, { deadline } = {}) => {
    const keys = codec.keysFor?.(events)
    if (keys !== undefined) await (deadline === undefined ? keys : deadline.within(keys, tooSlow))
    const records = events.length <= PART_EVENTS ? events.map(recordOf) : await inTurns(mapInParts(events, PART_EVENTS, recordOf))
    if (deadline === undefined) return log.append(records)
    // The log fails a little earlier than the deadline: only the log can tell whether it wrote nothing.
    const patienceMs = deadline.left() * LOG_SHARE
    if (patienceMs === 0) throw tooSlow()
    return deadline.within(log.append(records, patienceMs), unknown)
  }
  return {
    append,
    async execute(event, { wait, timeoutMs, signal, outcomes: own = outcomes, deadline }) {
      const { eventId, key } = event.meta
      const [position] = await append([event], { ...(deadline && { deadline }) })
      if (!position) throw new TypeError(`The log named no position for event ${eventId}`)
      if (!wait || signal?.aborted) return { position, eventId, outcome: 'pending' }
      const heard = own.after({ partition: position.partition, offset: position.offset, key }, Math.min(timeoutMs, deadline?.left() ?? timeoutMs))
      const outcome = await (deadline === undefined ? heard : deadline.within(heard, tooSlow)).catch(unheard)
      return { position, eventId, outcome }
    },
  }
}

const LOG_SHARE = 0.95

/** A deadline passed before anything was appended. */
export const tooSlow = (): Fault => new Fault('too-slow', 'The answer took too long. Send the request again later.', { retriable: true })

const unknown = (): Fault => new Fault('append-unknown', 'The log did not report in time whether it has the event. Send the same request again with the same Idempotency-Key.')

/** The event is in the log: a store that does not answer now keeps nobody from hearing that. */
export const unheard = (error: unknown): 'pending' => {
  if (isFault(error) && error.retriable) return 'pending'
  throw error
}
