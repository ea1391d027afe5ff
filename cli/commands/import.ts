import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { ImportLine, ImportOptions as Arranging } from '../../projections/importing.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { importerOf } from '../domains.ts'
import { count } from '../meter.ts'
import type { Imported } from '../operations/import.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { asking } from '../reach.ts'
import type { Ask } from '../reach.ts'

export interface ImportOptions extends Arranging {
  readonly domain: string
  readonly file: string
  readonly json?: true
}

const LINES = 500
const SHOWN = 20

/** Reads the file here and hands it over in parts: the server needs no access to it. */
export const importFile = async (context: Context, options: ImportOptions): Promise<Exit> => {
  importerOf(options.domain)
  return asking(context, { processing: true, first: true }, (ask) => importBy(context, ask, options))
}

type Total = { -readonly [Name in keyof Imported]: Imported[Name] }
const NOTHING: Imported = { rows: 0, events: 0, known: 0, derived: 0, counts: {}, changed: [], unreadable: [], refused: [], notes: [] }

const importBy = async (context: Context, ask: Ask, { domain, file, json, ...options }: ImportOptions): Promise<Exit> => {
  const importId = (await contentHash(file)).slice(0, 32)
  const total: Total = { ...NOTHING }
  for await (const lines of partsOf(arranged(domain, file, options))) {
    if (context.signal.aborted) return EXIT.interrupted
    const part = (await ask('import', { domain, importId, lines })) as Imported
    for (const name of ['rows', 'events', 'known', 'derived'] as const) total[name] += part[name]
    for (const name of ['unreadable', 'refused', 'notes'] as const) total[name] = total[name].concat(part[name])
    total.changed = total.changed.concat(part.changed)
    const counts: Record<string, number> = { ...total.counts }
    for (const [key, count] of Object.entries(part.counts)) counts[key] = (counts[key] ?? 0) + count
    total.counts = counts
    context.output.progress(`${counted(total.rows, 'row')} read, ${counted(total.events, 'event')} appended`)
  }
  const counts = Object.fromEntries([...new Set(total.changed)].flatMap((key) => (total.counts[key] === undefined ? [] : [[key, total.counts[key]]])))
  await ask('import-end', { domain, importId, source: basename(file).slice(0, 200), counts })
  tell(context, { ...total, refused: firstOfLine(total.refused) }, json === true)
  return total.unreadable.length + total.refused.length > 0 ? EXIT.failed : EXIT.fine
}

/** Of what one line said, the first refusal tells the cause. */
const firstOfLine = (told: Imported['refused']): Imported['refused'] => [...new Map(told.toReversed().map((one) => [one.line, one])).values()].reverse()

const tell = ({ output }: Context, total: Imported, json: boolean): void => {
  const { rows, events, known, derived, unreadable, refused, notes, counts } = total
  const told = [...unreadable, ...refused, ...notes].sort((a, b) => a.line - b.line)
  for (const { line, reason } of told.slice(0, SHOWN)) output.note(`line ${line}: ${reason}`)
  if (told.length > SHOWN) output.note(`and ${told.length - SHOWN} more; --json tells them all`)
  if (json) output.line(JSON.stringify({ rows, events, known, derived, users: Object.keys(counts).length, unreadable, refused, notes, visible: true }))
  else output.line(`${counted(rows, 'row')}: ${counted(events, 'event')}, ${count(known)} known already, ${counted(derived, 'derived row')} left out, ${count(refused.length)} refused, ${count(unreadable.length)} unreadable`)
}

const contentHash = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  try {
    for await (const part of createReadStream(file)) hash.update(part as Buffer)
  } catch (error) {
    throw new Fault('bad-usage', `${file} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
  return hash.digest('hex')
}

async function* partsOf(lines: AsyncIterable<ImportLine>): AsyncIterable<readonly ImportLine[]> {
  let part: ImportLine[] = []
  for await (const line of lines) {
    part.push(line)
    if (part.length < LINES) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/** Where rows rest on each other, all of them are held here at once. */
async function* arranged(domain: string, file: string, options: Arranging): AsyncIterable<ImportLine> {
  const { arranged: arrange } = importerOf(domain)
  if (arrange === undefined) return yield* rowsOf(file)
  const lines: ImportLine[] = []
  for await (const line of rowsOf(file)) lines.push(line)
  yield* arrange(lines, options)
}

/** One item a line (NDJSON, a DynamoDB export), or one document with all of them (the answer of a scan, an array). */
async function* rowsOf(file: string): AsyncIterable<ImportLine> {
  yield* (await isDocument(file)) ? itemsOf(file) : linesOf(file)
}

const textOf = (file: string): NodeJS.ReadableStream => (file.endsWith('.gz') ? createReadStream(file).pipe(createGunzip()) : createReadStream(file))

async function* linesOf(file: string): AsyncIterable<ImportLine> {
  let line = 0
  for await (const text of createInterface({ input: textOf(file), crlfDelay: Infinity })) {
    line += 1
    if (text.trim() !== '') yield { line, text }
  }
}

async function* itemsOf(file: string): AsyncIterable<ImportLine> {
  const parts: Buffer[] = []
  for await (const part of textOf(file)) parts.push(part as Buffer)
  const document = JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown
  const items = Array.isArray(document) ? document : ((document as { Items?: unknown[] }).Items ?? [document])
  for (const [index, item] of items.entries()) yield { line: index + 1, text: JSON.stringify(item) }
}

const isDocument = async (file: string): Promise<boolean> => {
  if (file.endsWith('.gz')) return false
  const handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0)
  await handle.close()
  const start = buffer.toString('utf8', 0, bytesRead).trimStart()
  return start.startsWith('[') || /^\{\s*("Items"|\n)/.test(start)
}
