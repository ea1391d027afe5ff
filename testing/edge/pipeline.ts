import { createDecide, decidersOf, type Decider } from '../../processors/engine/fold/decide.ts'
import type { NewRecord, Position } from '../../processors/engine/ports/log.ts'
import type { OutboxRow } from '../../processors/engine/outgoing/outbox.ts'
import { rowRulesOf } from '../../processors/engine/outgoing/row-rules.ts'
import { createCommands, type Commands } from '../../producers/commands.ts'
import { keyOf, type Item } from '../../projections/item.ts'
import type { Change, Domain, Outcome } from '../../projections/projection.ts'
import { openCodec, type Codec } from '../../schemas/codec.ts'
import type { NamedSchema } from '../../schemas/avro.ts'
import type { Event } from '../../schemas/event.ts'
import type { Fault } from '../../schemas/fault.ts'
import { createMemoryTable, type MemoryTable } from './table.ts'

/** The codec of the events whose schemas this program contains. */
const ourCodec = openCodec()

const codecOf = ({ schemas: folder }: Domain, schemas: readonly NamedSchema[] = []): Codec =>
  folder === undefined && schemas.length === 0 ? ourCodec : openCodec({ folder, schemas })

export interface MemoryPipelineOptions {
  readonly clock: { now(): number }
  readonly domain: Domain
  /** Further domains that fold the same log (`also` of the record). Default: none. */
  readonly also?: readonly Domain[] | undefined
  /** Schemas in addition to those of the domain. */
  readonly schemas?: readonly NamedSchema[] | undefined
}

/** A log, the folds of a domain and of its further domains, and a table for each, in memory. */
export interface MemoryPipeline extends MemoryTable {
  /** The tables of the further domains, by the name of the domain. */
  readonly further: Readonly<Record<string, MemoryTable>>
  /** The log. An event's offset is its index. */
  readonly events: Event[]
  /** The outcomes of the folded events, by offset. A test can replace them. */
  readonly outcomes: Map<number, Outcome>
  readonly commands: Commands
  /** Resolves to the outcome of the event at the position, or to `pending` if the event is not folded yet. */
  untilOutcome(position: Position): Promise<Outcome | 'pending'>
  /** Resolves to true if the event at the position is folded. With `withDerived`, every derived event must be appended and folded, too. */
  untilFolded(position: Position, timeoutMs?: number, withDerived?: boolean): Promise<boolean>
  /** Keeps derived events in the outbox until `sendDerived`. */
  pauseSender(): void
  sendDerived(): void
  /** Stops folding until `resume`. Events are still appended to the log. */
  pause(): void
  resume(): void
  /** Makes every append fail with this fault. Undefined: appends succeed again. */
  fail(fault: Fault | undefined): void
  /** From now on, appends to the log, or requests for outcomes, never end. */
  hang(part: 'log' | 'outcomes'): void
}

/**
 * A pipeline in memory. Every appended event is folded immediately, by the folds of the domain and the deciders of the engine.
 * Derived events are appended immediately, too.
 */
export const createMemoryPipeline = ({ clock, domain, also = [], schemas }: MemoryPipelineOptions): MemoryPipeline => {
  const codec = codecOf(domain, schemas)
  const foldingOf = (folded: Domain): Folding => ({
    ...createMemoryTable(clock.now, folded.table),
    deciders: decidersOf(folded, rowRulesOf(folded, codec)),
  })
  const main = foldingOf(domain)
  const further = Object.fromEntries(also.map((each) => [each.name, foldingOf(each)]))
  const events: Event[] = []
  const outcomes = new Map<number, Outcome>()
  const unsent: Event[] = []
  const state = {
    folding: true,
    sending: true,
    folded: 0,
    fault: undefined as Fault | undefined,
    hangs: { log: false, outcomes: false },
  }

  const fold = (offset: number) => {
    const event = events[offset]
    if (!event) throw new Error(`There is no event at offset ${offset}.`)
    outcomes.set(offset, { kind: 'applied' })
    for (const folding of [main, ...Object.values(further)])
      for (const { decider, outcome, changes } of decisionsOf(folding, event, offset)) {
        for (const change of changes) apply(change, folding)
        if (folding === main && decider.decides.has(event.type)) outcomes.set(offset, outcome)
      }
  }
  const apply = (change: Change, { items }: Folding) => {
    if ('_removed' in change) items.delete(keyOf(change))
    else if (change.PK.startsWith('OUTBOX#'))
      (state.sending ? events : unsent).push(codec.decode(Buffer.from((change as OutboxRow).value, 'base64')))
    else items.set(keyOf(change), change as Item)
  }
  const catchUp = () => {
    while (state.folded < events.length) fold(state.folded++)
  }
  const append = async (records: readonly NewRecord[]): Promise<readonly Position[]> => {
    if (state.hangs.log) await new Promise(() => {})
    if (state.fault) throw state.fault
    return records.map(({ value }) => {
      const offset = events.push(codec.decode(value)) - 1
      if (state.folding) catchUp()
      return { partition: 0, offset }
    })
  }
  const untilOutcome = async ({ offset }: Position) =>
    state.hangs.outcomes ? new Promise<never>(() => {}) : (outcomes.get(offset) ?? 'pending')
  const commands = createCommands({ log: { append }, codec, outcomes: { untilOutcome } })
  return {
    items: main.items,
    reader: main.reader,
    further,
    events,
    outcomes,
    commands,
    untilOutcome,
    untilFolded: async ({ offset }, _timeoutMs, withDerived = false) =>
      offset < state.folded && (!withDerived || (unsent.length === 0 && state.folded === events.length)),
    pauseSender: () => void (state.sending = false),
    sendDerived: () => {
      state.sending = true
      events.push(...unsent.splice(0))
      catchUp()
    },
    pause: () => void (state.folding = false),
    resume: () => {
      state.folding = true
      catchUp()
    },
    fail: (fault) => void (state.fault = fault),
    hang: (part) => void (state.hangs[part] = true),
  }
}

interface Folding extends MemoryTable {
  readonly deciders: readonly Decider[]
}

/** The decisions about an event, one after the other: the changes of each decision must be applied before the next one is requested. */
function* decisionsOf({ items, deciders }: Folding, event: Event, offset: number) {
  for (const decider of deciders)
    if (decider.projection.folds[event.type] !== undefined)
      yield { decider, ...createDecide(decider, (key) => items.get(keyOf(key)))({ partition: 0, offset, event }) }
}
