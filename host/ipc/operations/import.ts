import { createHash } from 'node:crypto'
import { derivedId } from '../../../producers/ids.ts'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import {
  IMPORT_SOURCE,
  type Importer,
  type ImportLine,
  type Origin,
  type ReadRow,
  type ImportedEvent,
} from '../../../projections/importing.ts'
import type { Outcome } from '../../../projections/projection.ts'
import type { Event } from '../../../schemas/event.ts'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import type { Handler } from '../operations.ts'
import type { NewRecord } from '../../../processors/engine/ports/log.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { tryEvents } from '../../../processors/engine/proof/trial.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import { withImportLease, type ImportLease } from './import-lease.ts'

export interface ImportArgs {
  readonly domain: string
  /** The id of the import, derived from the content of the file. */
  readonly importId: string
  readonly lines: readonly ImportLine[]
}

/** The result of one row. */
export interface RowResult {
  /**
   * `known`: the row was imported before, or would change nothing. `derived`: other events create its item. `refused`: a rule refused one of its
   * events.
   */
  readonly kind: 'changed' | 'known' | 'derived' | 'refused' | 'unreadable'
  /** The reason of `refused` or `unreadable`. */
  readonly reason?: string
  /** The part of the row that no event can store. */
  readonly note?: string
}

/** The result of a part of a file. */
export interface Imported {
  /** One result per line of the part, in the order of the lines. */
  readonly results: readonly RowResult[]
  readonly events: number
  /** The number of events of each key in this part. Only the event types in `Importer.completion.counts` are counted. */
  readonly counts: Readonly<Record<string, number>>
  /** The keys for which this run, or an earlier run with the same file, appended events. */
  readonly changed: readonly string[]
}

/**
 * Appends rows of other tables as events. Tries the folds first, so that the log gets only events that the folds will apply. A row that was
 * imported before, or that a rule refuses, appends nothing. Resolves when all appended events are folded.
 */
export const importLines: Handler<'import'> = (runtime, args) =>
  withImportLease(runtime, args.domain, (lease) => importPart(runtime, lease, args))

const importPart = async (
  runtime: Runtime,
  lease: ImportLease,
  { domain, importId, lines }: ImportArgs,
): Promise<Imported> => {
  const { pipeline } = lease
  const importer = runtime.config.domains.importerOf(domain)
  await requireFolded(pipeline)
  const now = runtime.clock.now()
  const pseudonymOf = await runtime.config.domains.recordOf(domain).pseudonyms?.(runtime.keys.store.secrets)
  const rows = lines.map(({ text }) =>
    readRow(importer, text, { importId, at: now, ...(pseudonymOf && { pseudonymOf }) }),
  )
  const newRows: Row[] = []
  for (const [at, { read, rowHash }] of rows.entries()) {
    if (read.kind === 'events')
      newRows.push({
        at,
        events: await newEventsOf(runtime, pipeline, { importer, imports: read.events, rowHash, importId, now }),
      })
  }
  const { sent, refused } = await append(runtime, lease, newRows)
  const sentRows = new Set(sent.map(({ at }) => at))
  const counts: Record<string, number> = {}
  const changed = new Set(sent.map(({ event }) => event.meta.key))
  const reader = pipeline.serving().store.reader(runtime.clock.now)
  for (const imported of rows.flatMap(({ read }) => (read.kind === 'events' ? read.events : []))) {
    if (importer.completion?.counts.includes(imported.type) !== true) continue
    counts[imported.key] = (counts[imported.key] ?? 0) + 1
    if (!changed.has(imported.key) && (await importer.completion.isImportedBy(imported, importId, reader)))
      changed.add(imported.key)
  }
  return {
    results: rows.map(({ read }, at) => resultOf(read, { isSent: sentRows.has(at), reason: refused.get(at) })),
    events: sent.length,
    counts,
    changed: [...changed],
  }
}

const resultOf = (
  read: ReadRow,
  { isSent, reason }: { readonly isSent: boolean; readonly reason: string | undefined },
): RowResult => {
  if (read.kind !== 'events') return read
  const note = read.note === undefined ? {} : { note: read.note }
  return reason === undefined ? { kind: isSent ? 'changed' : 'known', ...note } : { kind: 'refused', reason, ...note }
}

const readRow = (
  importer: Importer,
  text: string,
  origin: Omit<Origin, 'rowHash'>,
): { readonly read: ReadRow; readonly rowHash: string } => {
  const rowHash = createHash('sha256').update(text).digest('hex')
  try {
    return { rowHash, read: importer.read(JSON.parse(text), { ...origin, rowHash }) }
  } catch (error) {
    return { rowHash, read: { kind: 'unreadable', reason: messageOf(error) } }
  }
}

interface Row {
  /** The index of the row in the part. */
  readonly at: number
  readonly events: readonly Event[]
}

interface NewEventsParts {
  readonly importer: Importer
  readonly imports: readonly ImportedEvent[]
  readonly importId: string
  readonly rowHash: string
  readonly now: number
}

/** Returns the events of a row that were not imported yet. The event ids are derived from the row, so a repeated import has the same ids. */
const newEventsOf = async (
  { clock }: Runtime,
  pipeline: Pipeline,
  { importer, imports, importId, rowHash, now }: NewEventsParts,
): Promise<readonly Event[]> => {
  const reader = pipeline.serving().store.reader(clock.now)
  const events: Event[] = []
  for (const [index, imported] of imports.entries()) {
    if ((await importer.isPresent?.(imported, reader)) === true) continue
    events.push(eventOf(imported, { eventId: derivedId('import', rowHash, String(index)), now, importId }))
  }
  return events
}

const eventOf = (
  { type, key, person, subject, occurredAt, data, personal }: ImportedEvent,
  { eventId, now, importId }: { eventId: string; now: number; importId: string },
): Event => {
  const meta = eventMeta({ eventId, user: person ?? key, key, now, source: IMPORT_SOURCE, correlationId: importId })
  return { type, meta: { ...meta, occurredAt, actorId: person, subjectId: subject ?? person }, data, personal }
}

interface Appended {
  readonly sent: readonly Sent[]
  /** By index of a row: the reason of the first refusal of the row. */
  readonly refused: ReadonlyMap<number, string>
}

interface Refusal {
  readonly at: number
  readonly reason: string
}

/** Appends the events that the folds will apply, and waits until they are folded. */
const append = async (
  { metrics }: Runtime,
  { pipeline, renew }: ImportLease,
  rows: readonly Row[],
): Promise<Appended> => {
  const { domain, codec, log } = pipeline
  const { store, outcomes } = pipeline.serving()
  const tried = rows.flatMap(({ at, events }) => events.map((event) => ({ at, event })))
  const trials = await tryEvents(
    { domain, codec, log, store },
    tried.map(({ event }) => event),
  )
  const fresh = tried.filter((_, index) => trials[index]?.kind === 'applied')
  const { sent, refused } = await encoded(pipeline, fresh)
  if (sent.length > 0) await renew()
  const positions = sent.length === 0 ? [] : await log.append(sent.map(({ record }) => record))
  for (const { event } of sent)
    metrics.report.appended({ domain: domain.name, source: IMPORT_SOURCE, type: event.type })
  const folded = await Promise.all(
    positions.map((position, index) =>
      outcomes.untilOutcome({ ...position, key: sent[index]?.record.key ?? '' }, FOLDED_MS),
    ),
  )
  if (folded.includes('pending')) throw behind(pipeline, sent.length)
  const reports = [
    ...refused,
    ...tried.flatMap(({ at, event }, index) => reasonOf(at, event, trials[index])),
    ...sent.flatMap(({ at, event }, index) => reasonOf(at, event, folded[index])),
  ]
  // If the first event of a row is refused, the next events of this row are often refused only because of that. So the first reason is reported.
  return { sent, refused: new Map(reports.toReversed().map(({ at, reason }) => [at, reason])) }
}

const reasonOf = (at: number, { type, meta }: Event, outcome: Outcome | 'pending' | undefined): readonly Refusal[] => {
  if (outcome === undefined || outcome === 'pending') return []
  if (outcome.kind === 'refused')
    return [{ at, reason: `${type} of ${meta.key}: ${outcome.refusal.code}: ${outcome.refusal.detail}` }]
  return outcome.kind === 'parked'
    ? [{ at, reason: `${type} of ${meta.key} could not be folded: ${outcome.reason}` }]
    : []
}

interface Sent {
  readonly at: number
  readonly event: Event
  readonly record: NewRecord
}

/** Encodes the events. An event that the codec rejects is not in `sent`: its reason is in `refused`. */
const encoded = async (
  { codec }: Pipeline,
  fresh: readonly Omit<Sent, 'record'>[],
): Promise<{ sent: readonly Sent[]; refused: readonly Refusal[] }> => {
  await codec.keysFor?.(fresh.map(({ event }) => event))
  const refused: Refusal[] = []
  const sent = fresh.flatMap(({ at, event }) => {
    try {
      return [{ at, event, record: { key: event.meta.key, value: codec.encode(event), event } }]
    } catch (error) {
      if (!isFault(error)) throw error
      refused.push({ at, reason: `${event.type} of ${event.meta.key}: ${error.code}: ${error.message}` })
      return []
    }
  })
  return { sent, refused }
}

export interface ImportEnd {
  readonly domain: string
  readonly importId: string
  readonly source: string
  /** The sum of `Imported.counts` of all parts, for each key that the import changed, in this run or an earlier one. */
  readonly counts: Readonly<Record<string, number>>
}

/** Appends one event per key that records the complete import. Appends nothing if the domain has no such event, or if the log contains it already. */
export const endImport: Handler<'import-end'> = async (runtime, { domain, importId, source, counts }) => {
  const { completion } = runtime.config.domains.importerOf(domain)
  const now = runtime.clock.now()
  const events =
    completion === undefined
      ? []
      : Object.entries(counts).map(([key, count]): Event =>
          eventOf(
            { ...completion.event({ importId, source, count }), key, person: key, occurredAt: now, personal: null },
            { eventId: derivedId('imported', importId, key), now, importId },
          ),
        )
  const { sent } = await withImportLease(runtime, domain, (lease) => append(runtime, lease, [{ at: 0, events }]))
  return { events: sent.length }
}

const FOLDED_MS = 60_000

/**
 * Waits until the items contain every event that the log contains now. Only then the items show which rows were imported before. Throws
 * `import-behind` if this takes too long.
 */
const requireFolded = async (pipeline: Pipeline): Promise<void> => {
  const { outcomes } = pipeline.serving()
  const ends = (await pipeline.log.watermarks()).filter(({ high }) => high > 0)
  const reached = await Promise.all(
    ends.map(({ partition, high }) => outcomes.untilFolded({ partition, offset: high - 1 }, FOLDED_MS)),
  )
  if (reached.includes(false)) throw behind(pipeline, 0)
}

const behind = ({ domain }: Pipeline, appended: number): Fault =>
  new Fault(
    'import-behind',
    `The items of ${domain.name} are behind the log after ${FOLDED_MS / 1000} s of waiting${appended === 0 ? '' : `, and ${appended} events of this import were appended`}. Start a processor, wait until tributary status shows no lag, and repeat the import: it skips the rows that are there.`,
    { retriable: true },
  )
