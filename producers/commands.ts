import type { Event } from '../schemas/event.ts'
import { isFault } from '../schemas/fault.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Outcome } from '../projections/projection.ts'
import { inTurns, mapInParts } from './turns.ts'
import type { Log, NewRecord, Position } from '../processors/engine/log.ts'

/** Where an event lies and what became of it; `pending` when nobody waited long enough to hear. */
export interface Receipt {
  readonly position: Position
  readonly eventId: string
  readonly outcome: Outcome | 'pending'
}

export interface ExecuteOptions {
  readonly wait: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Of the generation that answers the request. */
  readonly outcomes?: Outcomes
}

/** Appends an event and, if asked to, waits until the fold has decided on it. */
export interface Commands {
  execute(event: Event, options: ExecuteOptions): Promise<Receipt>
  /** All of them in one append, in order; nobody waits for their fold. */
  append(events: readonly Event[]): Promise<readonly Position[]>
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
  const recordOf = (event: Event): NewRecord => ({ key: event.meta.key, value: codec.encode(event), headers: cloudEvent(event) })
  const append: Commands['append'] = async (events) => {
    const keys = codec.keysFor?.(events)
    if (keys !== undefined) await keys
    return log.append(events.length <= PART_EVENTS ? events.map(recordOf) : await inTurns(mapInParts(events, PART_EVENTS, recordOf)))
  }
  return {
    append,
    async execute(event, { wait, timeoutMs, signal, outcomes: own = outcomes }) {
      const { eventId, key } = event.meta
      const [position] = await append([event])
      if (!position) throw new TypeError(`The log named no position for event ${eventId}`)
      if (!wait || signal?.aborted) return { position, eventId, outcome: 'pending' }
      const outcome = await own.after({ partition: position.partition, offset: position.offset, key }, timeoutMs).catch(unheard)
      return { position, eventId, outcome }
    },
  }
}

/** The event is in the log: a store that does not answer now keeps nobody from hearing that. */
export const unheard = (error: unknown): 'pending' => {
  if (isFault(error) && error.retriable) return 'pending'
  throw error
}

/** The binary mode of the CloudEvents Kafka binding. */
const cloudEvent = ({ type, meta }: Event): Readonly<Record<string, string>> => ({
  'ce_specversion': '1.0',
  'ce_id': meta.eventId,
  'ce_type': type,
  'ce_source': meta.source,
  'content-type': 'application/avro',
})
