import { createHash } from 'node:crypto'
import { derivedId } from '../../producers/ids.ts'
import { envelope } from '../../producers/http/envelope.ts'
import { IMPORT_SOURCE, type Importer, type ImportLine, type Origin, type Read, type Said } from '../../projections/importing.ts'
import type { Outcome } from '../../projections/projection.ts'
import type { Reader } from '../../projections/table.ts'
import type { Event } from '../../schemas/event.ts'
import { isFault, messageOf } from '../../schemas/fault.ts'
import { importerOf } from '../domains.ts'
import type { Operation } from '../operations.ts'
import type { NewRecord } from '../../processors/engine/log.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import type { Runtime } from '../runtime.ts'

export interface ImportArgs {
  readonly domain: string
  /** The same for the same file, so that importing it again changes nothing. */
  readonly importId: string
  readonly lines: readonly ImportLine[]
  /** Whether to wait until the folds have decided. */
  readonly wait: boolean
}

interface Told {
  readonly line: number
  readonly reason: string
}

/** What a part of a file came to. */
export interface Imported {
  readonly rows: number
  readonly events: number
  /** Rows that were there already. */
  readonly known: number
  /** Rows of derived items, which come from the events again. */
  readonly derived: number
  /** Events that count at the end, by key. */
  readonly counts: Readonly<Record<string, number>>
  readonly unreadable: readonly Told[]
  /** What the rules refused. */
  readonly refused: readonly Told[]
  readonly notes: readonly Told[]
  readonly visible: boolean
}

/** Rows of other tables as events. Ids are made of the rows, and what was said before is harmless to say again. */
export const importLines: Operation<ImportArgs> = async (runtime, { domain, importId, lines, wait }): Promise<Imported> => {
  const pipeline = runtime.pipeline(domain)
  const importer = importerOf(domain)
  const reader = pipeline.serving().store.reader(runtime.clock.now)
  const rows = lines.map(({ line, text }) => ({ line, ...readRow(importer, text, { importId, at: runtime.clock.now() }) }))
  const said: Row[] = []
  for (const { line, read, rowHash } of rows) {
    if (read.kind === 'events') said.push({ line, fresh: await freshOf(importer, reader, { said: read.events, rowHash, importId, now: runtime.clock.now() }) })
  }
  const heard = await append(runtime, pipeline, { rows: said, wait })
  const counts: Record<string, number> = {}
  for (const { key, type } of rows.flatMap(({ read }) => (read.kind === 'events' ? read.events : []))) {
    if (importer.ended?.counts.includes(type) === true) counts[key] = (counts[key] ?? 0) + 1
  }
  return {
    rows: lines.length,
    events: heard.appended,
    known: heard.known,
    derived: rows.filter(({ read }) => read.kind === 'derived').length,
    counts,
    unreadable: rows.flatMap(({ line, read }) => (read.kind === 'unreadable' ? [{ line, reason: read.reason }] : [])),
    refused: heard.refused,
    notes: rows.flatMap(({ line, read }) => (read.kind === 'events' && read.note !== undefined ? [{ line, reason: read.note }] : [])),
    visible: heard.visible,
  }
}

const readRow = (importer: Importer, text: string, origin: Omit<Origin, 'rowHash'>): { readonly read: Read; readonly rowHash: string } => {
  const rowHash = createHash('sha256').update(text).digest('hex')
  try {
    return { rowHash, read: importer.read(JSON.parse(text), { ...origin, rowHash }) }
  } catch (error) {
    return { rowHash, read: { kind: 'unreadable', reason: messageOf(error) } }
  }
}

interface Row {
  readonly line: number
  /** What nobody knows of yet. */
  readonly fresh: readonly Event[]
}

interface From {
  readonly said: readonly Said[]
  readonly importId: string
  readonly rowHash: string
  readonly now: number
}

const freshOf = async (importer: Importer, reader: Reader, { said, importId, rowHash, now }: From): Promise<readonly Event[]> => {
  const events: Event[] = []
  for (const [index, one] of said.entries()) {
    if ((await importer.known?.(one, reader)) === true) continue
    events.push(eventOf(one, { eventId: derivedId('import', rowHash, String(index)), now, importId }))
  }
  return events
}

const eventOf = ({ type, key, person, occurredAt, data, personal }: Said, { eventId, now, importId }: { eventId: string; now: number; importId: string }): Event => {
  const meta = envelope({ eventId, user: person ?? key, key, now, source: IMPORT_SOURCE, correlationId: importId })
  return { type, meta: { ...meta, occurredAt, actorId: person, subjectId: person }, data, personal }
}

interface Heard {
  readonly appended: number
  readonly known: number
  readonly refused: readonly Told[]
  readonly visible: boolean
}

/** The rest goes to the log at once, and the folds say what they made of it. */
const append = async ({ metrics }: Runtime, pipeline: Pipeline, { rows, wait }: { rows: readonly Row[]; wait: boolean }): Promise<Heard> => {
  const { sent, refused } = await encoded(pipeline, rows)
  const positions = sent.length === 0 ? [] : await pipeline.log.append(sent.map(({ record }) => record))
  for (const { event } of sent) metrics.report.appended({ domain: pipeline.domain.name, source: IMPORT_SOURCE, type: event.type })
  const { outcomes } = pipeline.serving()
  const became = !wait ? [] : await Promise.all(positions.map((position, index) => outcomes.after({ ...position, key: sent[index]?.record.key ?? '' }, VISIBLE_MS)))
  const changed = new Set(refused.map(({ line }) => line))
  for (const [index, { line, event }] of sent.entries()) {
    const outcome = became[index] ?? 'pending'
    const reason = reasonOf(event, outcome)
    // Of a row whose first event was refused the others rest on nothing.
    if (reason !== undefined && !refused.some((told) => told.line === line)) refused.push({ line, reason })
    if (outcome === 'pending' || outcome.kind !== 'duplicate') changed.add(line)
  }
  return { appended: sent.length, known: rows.filter(({ line }) => !changed.has(line)).length, refused, visible: wait && !became.includes('pending') }
}

const reasonOf = ({ type, meta }: Event, outcome: Outcome | 'pending'): string | undefined => {
  if (outcome === 'pending') return undefined
  if (outcome.kind === 'refused') return `${type} of ${meta.key}: ${outcome.refusal.code}: ${outcome.refusal.detail}`
  return outcome.kind === 'parked' ? `${type} of ${meta.key} could not be folded: ${outcome.reason}` : undefined
}

interface Sent {
  readonly line: number
  readonly event: Event
  readonly record: NewRecord
}

/** What the codec refuses is told and left out. */
const encoded = async ({ codec }: Pipeline, rows: readonly Row[]): Promise<{ sent: readonly Sent[]; refused: Told[] }> => {
  await codec.keysFor?.(rows.flatMap(({ fresh }) => fresh))
  const refused: Told[] = []
  const sent = rows.flatMap(({ line, fresh }) => fresh.flatMap((event) => {
    try {
      return [{ line, event, record: { key: event.meta.key, value: codec.encode(event) } }]
    } catch (error) {
      if (!isFault(error)) throw error
      refused.push({ line, reason: `${event.type} of ${event.meta.key}: ${error.code}: ${error.message}` })
      return []
    }
  }))
  return { sent, refused }
}

export interface ImportEnd {
  readonly domain: string
  readonly importId: string
  readonly source: string
  readonly counts: Readonly<Record<string, number>>
}

/** Says of each key that an import is complete, where the domain does, then waits until what it said is visible. */
export const endImport: Operation<ImportEnd> = async (runtime, { domain, importId, source, counts }) => {
  const pipeline = runtime.pipeline(domain)
  const { ended } = importerOf(domain)
  const now = runtime.clock.now()
  const events = ended === undefined ? [] : Object.entries(counts).map(([key, count]): Event => eventOf(
    { ...ended.event({ importId, source, count }), key, person: key, occurredAt: now, personal: null },
    { eventId: derivedId('imported', importId, key), now, importId },
  ))
  await append(runtime, pipeline, { rows: [{ line: 0, fresh: events }], wait: false })
  return { visible: await visible(pipeline) }
}

const VISIBLE_MS = 60_000

const visible = async ({ log, serving }: Pipeline): Promise<boolean> => {
  const { outcomes } = serving()
  const ends = (await log.watermarks()).filter(({ high }) => high > 0)
  const reached = await Promise.all(ends.map(({ partition, high }) => outcomes.reached({ partition, offset: high - 1 }, VISIBLE_MS)))
  return reached.every(Boolean)
}
