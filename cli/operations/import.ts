import { createHash, randomUUID } from 'node:crypto'
import { derivedId } from '../../producers/ids.ts'
import { envelope } from '../../producers/http/envelope.ts'
import { IMPORT_SOURCE, type Importer, type ImportLine, type Origin, type Read, type Said } from '../../projections/importing.ts'
import type { Outcome } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import { after, every, retrying } from '../../processors/engine/retry.ts'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { importerOf } from '../domains.ts'
import type { Operation } from '../operations.ts'
import type { NewRecord } from '../../processors/engine/log.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import { tryEvents } from '../../processors/engine/trial.ts'
import { isEmbedded, type Runtime } from '../runtime.ts'

export interface ImportArgs {
  readonly domain: string
  /** The same for the same file. */
  readonly importId: string
  readonly lines: readonly ImportLine[]
}

/** The result of one row. */
export interface RowResult {
  /** A known row was imported before, or would change nothing. A derived one comes from the events again. A rule refused an event of a refused one. */
  readonly kind: 'changed' | 'known' | 'derived' | 'refused' | 'unreadable'
  /** Why it was refused or is unreadable. */
  readonly reason?: string
  /** The part of the row that no event can store. */
  readonly note?: string
}

/** The result of a part of a file. */
export interface Imported {
  /** One for each line of the part, in the same order. */
  readonly results: readonly RowResult[]
  readonly events: number
  /** Events that count at the end, by key. */
  readonly counts: Readonly<Record<string, number>>
  /** The keys for which this run, or an earlier run with the same file, appended events. */
  readonly changed: readonly string[]
}

/**
 * Appends rows of other tables as events. The folds are tried first, so the log gets only events that they will apply: a row that was
 * imported before, and a row that a rule refuses, appends nothing. The result comes when all appended events are folded.
 */
export const importLines: Operation<ImportArgs> = (runtime, args): Promise<Imported> => inTurn(runtime, args.domain, (turn) => importPart(runtime, turn, args))

const importPart = async (runtime: Runtime, turn: Turn, { domain, importId, lines }: ImportArgs): Promise<Imported> => {
  const { pipeline } = turn
  const importer = importerOf(domain)
  await requireFolded(pipeline)
  const now = runtime.clock.now()
  const rows = lines.map(({ text }) => readRow(importer, text, { importId, at: now }))
  const said: Row[] = []
  for (const [at, { read, rowHash }] of rows.entries()) {
    if (read.kind === 'events') said.push({ at, events: await unknownOf(runtime, pipeline, { importer, said: read.events, rowHash, importId, now }) })
  }
  const { sent, refused } = await append(runtime, turn, said)
  const sentRows = new Set(sent.map(({ at }) => at))
  const counts: Record<string, number> = {}
  const changed = new Set(sent.map(({ event }) => event.meta.key))
  const reader = pipeline.serving().store.reader(runtime.clock.now)
  for (const one of rows.flatMap(({ read }) => (read.kind === 'events' ? read.events : []))) {
    if (importer.ended?.counts.includes(one.type) !== true) continue
    counts[one.key] = (counts[one.key] ?? 0) + 1
    if (!changed.has(one.key) && (await importer.ended.isImportedBy(one, importId, reader))) changed.add(one.key)
  }
  return {
    results: rows.map(({ read }, at) => resultOf(read, { isSent: sentRows.has(at), reason: refused.get(at) })),
    events: sent.length,
    counts,
    changed: [...changed],
  }
}

const resultOf = (read: Read, { isSent, reason }: { readonly isSent: boolean; readonly reason: string | undefined }): RowResult => {
  if (read.kind !== 'events') return read
  const note = read.note === undefined ? {} : { note: read.note }
  return reason === undefined ? { kind: isSent ? 'changed' : 'known', ...note } : { kind: 'refused', reason, ...note }
}

/** The right to import into a domain, for one part of a file. */
interface Turn {
  readonly pipeline: Pipeline
  /** Throws `import-running` if another process has taken the turn. */
  keep(): Promise<void>
}

const turns = new WeakMap<Pipeline, Promise<unknown>>()

/** One part at a time, in this process and in others: the next one is tried over the items that this one changed. */
const inTurn = <T>(runtime: Runtime, domain: string, work: (turn: Turn) => Promise<T>): Promise<T> => {
  const pipeline = runtime.pipeline(domain)
  const before = turns.get(pipeline) ?? Promise.resolve()
  const done = before.then(() => (isEmbedded(runtime.config) ? work({ pipeline, keep: () => Promise.resolve() }) : amongProcesses(runtime, pipeline, work)))
  turns.set(pipeline, done.catch(() => undefined))
  return done
}

/** Longer than a process that died keeps its turn. */
const TURN_MS = 90_000
const LOOK_MS = 200

const amongProcesses = async <T>({ clock }: Runtime, pipeline: Pipeline, work: (turn: Turn) => Promise<T>): Promise<T> => {
  const { control, domain: { name } } = pipeline
  const holder = randomUUID()
  const take = (): Promise<boolean> => control.takeImportTurn(name, holder)
  if (!(await retrying(take, { clock, when: { result: (taken) => !taken }, until: after(clock, TURN_MS), pause: every(LOOK_MS) }))) throw importRunning(name)
  const keep = async (): Promise<void> => {
    if (!(await take())) throw importRunning(name)
  }
  try {
    return await work({ pipeline, keep })
  } finally {
    await control.endImportTurn(name, holder)
  }
}

const importRunning = (domain: string): Fault => new Fault('import-running', `Another process imports into ${domain}. Repeat the import when it has ended: it skips the rows that are there.`, { retriable: true })

const readRow = (importer: Importer, text: string, origin: Omit<Origin, 'rowHash'>): { readonly read: Read; readonly rowHash: string } => {
  const rowHash = createHash('sha256').update(text).digest('hex')
  try {
    return { rowHash, read: importer.read(JSON.parse(text), { ...origin, rowHash }) }
  } catch (error) {
    return { rowHash, read: { kind: 'unreadable', reason: messageOf(error) } }
  }
}

interface Row {
  /** Its place in the part. */
  readonly at: number
  readonly events: readonly Event[]
}

interface From {
  readonly importer: Importer
  readonly said: readonly Said[]
  readonly importId: string
  readonly rowHash: string
  readonly now: number
}

/** The events of a row, without those that the domain knows already. Their ids are derived from the row. */
const unknownOf = async ({ clock }: Runtime, pipeline: Pipeline, { importer, said, importId, rowHash, now }: From): Promise<readonly Event[]> => {
  const reader = pipeline.serving().store.reader(clock.now)
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

interface Appended {
  readonly sent: readonly Sent[]
  /** The reason of the first refusal of each row, by its place. */
  readonly refused: ReadonlyMap<number, string>
}

interface Told {
  readonly at: number
  readonly reason: string
}

/** Appends the events that the folds will apply, and waits until they are folded. */
const append = async ({ metrics }: Runtime, { pipeline, keep }: Turn, rows: readonly Row[]): Promise<Appended> => {
  const { domain, codec, log } = pipeline
  const { store, outcomes } = pipeline.serving()
  const tried = rows.flatMap(({ at, events }) => events.map((event) => ({ at, event })))
  const trials = await tryEvents({ domain, codec, log, store }, tried.map(({ event }) => event))
  const fresh = tried.filter((_, index) => trials[index]?.kind === 'applied')
  const { sent, refused } = await encoded(pipeline, fresh)
  if (sent.length > 0) await keep()
  const positions = sent.length === 0 ? [] : await log.append(sent.map(({ record }) => record))
  for (const { event } of sent) metrics.report.appended({ domain: domain.name, source: IMPORT_SOURCE, type: event.type })
  const became = await Promise.all(positions.map((position, index) => outcomes.after({ ...position, key: sent[index]?.record.key ?? '' }, FOLDED_MS)))
  if (became.includes('pending')) throw behind(pipeline, sent.length)
  const reports = [
    ...refused,
    ...tried.flatMap(({ at, event }, index) => reasonOf(at, event, trials[index])),
    ...sent.flatMap(({ at, event }, index) => reasonOf(at, event, became[index])),
  ]
  // The other events of a row whose first event is refused are refused for that reason.
  return { sent, refused: new Map(reports.toReversed().map(({ at, reason }) => [at, reason])) }
}

const reasonOf = (at: number, { type, meta }: Event, outcome: Outcome | 'pending' | undefined): readonly Told[] => {
  if (outcome === undefined || outcome === 'pending') return []
  if (outcome.kind === 'refused') return [{ at, reason: `${type} of ${meta.key}: ${outcome.refusal.code}: ${outcome.refusal.detail}` }]
  return outcome.kind === 'parked' ? [{ at, reason: `${type} of ${meta.key} could not be folded: ${outcome.reason}` }] : []
}

interface Sent {
  readonly at: number
  readonly event: Event
  readonly record: NewRecord
}

/** Leaves out events that the codec refuses, and reports them. */
const encoded = async ({ codec }: Pipeline, fresh: readonly Omit<Sent, 'record'>[]): Promise<{ sent: readonly Sent[]; refused: readonly Told[] }> => {
  await codec.keysFor?.(fresh.map(({ event }) => event))
  const refused: Told[] = []
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
  /** Events that count, by key, for the keys that the import changed, in this run or an earlier one. */
  readonly counts: Readonly<Record<string, number>>
}

/** Appends the record of a complete import for each key, if the domain has such an event and the log does not contain the record yet. */
export const endImport: Operation<ImportEnd> = async (runtime, { domain, importId, source, counts }) => {
  const { ended } = importerOf(domain)
  const now = runtime.clock.now()
  const events = ended === undefined ? [] : Object.entries(counts).map(([key, count]): Event => eventOf(
    { ...ended.event({ importId, source, count }), key, person: key, occurredAt: now, personal: null },
    { eventId: derivedId('imported', importId, key), now, importId },
  ))
  const { sent } = await inTurn(runtime, domain, (turn) => append(runtime, turn, [{ at: 0, events }]))
  return { events: sent.length }
}

const FOLDED_MS = 60_000

/** Throws `import-behind` if the serving generation has not folded the log up to its present end: it cannot show which rows are known. */
const requireFolded = async (pipeline: Pipeline): Promise<void> => {
  const { outcomes } = pipeline.serving()
  const ends = (await pipeline.log.watermarks()).filter(({ high }) => high > 0)
  const reached = await Promise.all(ends.map(({ partition, high }) => outcomes.reached({ partition, offset: high - 1 }, FOLDED_MS)))
  if (reached.includes(false)) throw behind(pipeline, 0)
}

const behind = ({ domain }: Pipeline, appended: number): Fault =>
  new Fault('import-behind', `The items of ${domain.name} are behind the log after ${FOLDED_MS / 1000} s of waiting${appended === 0 ? '' : `, and ${appended} events of this import were appended`}. Start a processor, wait until tributary status shows no lag, and repeat the import: it skips the rows that are there.`, { retriable: true })
