import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { parse, type Info } from 'csv-parse'
import type { Importer, ImportLine, ImportOptions } from '../../projections/importing.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { count } from '../../host/serving/meter.ts'
import { startReport, type Report } from '../import-report.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { withOperations } from '../../host/ipc/call-operation.ts'
import type { CallOperation } from '../../host/ipc/call-operation.ts'

export interface ImportArgs {
  readonly domain: string
  readonly file: string
  readonly json?: true
  /** The values of the options that an importer declares. */
  readonly values: ImportOptions
}

const LINES = 500
const SHOWN = 20

/** Reads the file in this process and sends it in parts, so the server needs no access to the file. */
export const importFile = async (context: Context, options: ImportArgs): Promise<Exit> => {
  const importer = context.domains.importerOf(options.domain)
  requireOwn(importer, options)
  return withOperations(context, { processing: true, first: true }, (call) =>
    importBy(context, call, { ...options, importer }),
  )
}

/** Refuses a value of an option that only the importer of another domain has. */
const requireOwn = ({ options = [] }: Importer, { domain, values }: ImportArgs): void => {
  const foreign = Object.keys(values).find((given) => !options.some(({ name }) => name === given))
  if (foreign !== undefined)
    throw new Fault('bad-usage', `The import of ${domain} has no option --${foreign}. Leave it out.`)
}

const importBy = async (
  context: Context,
  call: CallOperation,
  { domain, file, json, importer, values }: ImportArgs & { readonly importer: Importer },
): Promise<Exit> => {
  const importId = (await contentHash(file)).slice(0, 32)
  const [report, totals, changed] = [startReport(), new Map<string, number>(), new Set<string>()]
  try {
    for await (const lines of partsOf(arranged(importer, file, values))) {
      if (context.signal.aborted) return EXIT.interrupted
      const part = await call('import', { domain, importId, lines })
      report.add(lines, part)
      for (const [key, total] of Object.entries(part.counts)) totals.set(key, (totals.get(key) ?? 0) + total)
      for (const key of part.changed) changed.add(key)
      const { rows, events } = report.read()
      context.output.progress(`${counted(rows, 'row')} read, ${counted(events, 'event')} appended`)
    }
  } catch (error) {
    if (isFault(error) && error.code === DAMAGED)
      throw damaged(`${error.message} ${readBefore(report.read())}`, error.cause)
    throw error
  }
  const counts = Object.fromEntries([...totals].filter(([key]) => changed.has(key)))
  await call('import-end', { domain, importId, source: basename(file).slice(0, 200), counts })
  const read = report.read()
  printReport(context, { ...read, users: totals.size }, json === true)
  return read.unreadable.length + read.refused.length > 0 ? EXIT.failed : EXIT.fine
}

const printReport = ({ output }: Context, read: Report & { readonly users: number }, json: boolean): void => {
  const { rows, events, changed, known, derived, users, unreadable, refused, notes } = read
  const lines = [...unreadable, ...refused, ...notes].sort((a, b) => a.line - b.line)
  for (const { line, reason } of lines.slice(0, SHOWN)) output.note(`line ${line}: ${reason}`)
  if (lines.length > SHOWN) output.note(`and ${lines.length - SHOWN} more; --json shows all`)
  if (json)
    output.line(
      JSON.stringify({ rows, events, changed, known, derived, users, unreadable, refused, notes, visible: true }),
    )
  else
    output.line(
      `${counted(rows, 'row')}: ${count(changed)} imported (${counted(events, 'event')}), ${count(known)} known already, ${counted(derived, 'derived row')} left out, ${count(refused.length)} refused, ${count(unreadable.length)} unreadable`,
    )
}

const DAMAGED = 'import-file-damaged'

const damaged = (message: string, cause: unknown): Fault => new Fault(DAMAGED, message, { cause })

const readBefore = ({ rows, changed, known }: Report): string =>
  rows === 0
    ? 'Nothing was imported.'
    : `Of the ${counted(rows, 'row')} before, ${count(changed)} were imported and ${count(known)} were known already. Repeat the import with the complete file: it skips them.`

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

/** Yields the rows of the file in the order that the importer needs. If the importer sorts the rows, all rows are in memory at once. */
async function* arranged(importer: Importer, file: string, options: ImportOptions): AsyncIterable<ImportLine> {
  const { sortLines: arrange } = importer
  const rows = (await isCsv(file)) ? recordsOf(file, importer, options) : rowsOf(file)
  if (arrange === undefined) return yield* rows
  const lines: ImportLine[] = []
  for await (const line of rows) lines.push(line)
  yield* arrange(lines, options)
}

/** Yields the rows of a file. The file has one item per line (NDJSON, a DynamoDB export), or one JSON document (an array, the answer of a scan). */
async function* rowsOf(file: string): AsyncIterable<ImportLine> {
  try {
    yield* (await isDocument(file)) ? itemsOf(file) : linesOf(file)
  } catch (error) {
    throw isFault(error) ? error : damaged(`${file} cannot be read to its end: ${messageOf(error)}.`, error)
  }
}

const textOf = (file: string): Readable =>
  file.endsWith('.gz') ? pipeline(createReadStream(file), createGunzip(), ignored) : createReadStream(file)

/** The reader of the last stream of a pipeline gets the error, too. */
const ignored = () => {}

/** Matches the first line of a CSV file: column names, separated by commas. Does not match JSON, which contains a brace, a bracket or a colon. */
const CSV_HEADER = /^\uFEFF?[\p{L}\p{N}_" .()/'’-]+(,[\p{L}\p{N}_" .()/'’-]*)+$/u

const isCsv = async (file: string): Promise<boolean> => {
  let text = ''
  try {
    for await (const part of textOf(file).setEncoding('utf8')) {
      text += part as string
      if (text.includes('\n')) break
    }
  } catch (error) {
    throw damaged(`${file} cannot be read: ${messageOf(error)}.`, error)
  }
  return CSV_HEADER.test(text.split(/\r?\n/, 1)[0] ?? '')
}

const CSV = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true }

/** Yields the records of a CSV file as rows. `line` is the line on which the record begins. */
async function* recordsOf(file: string, { readCsv }: Importer, options: ImportOptions): AsyncIterable<ImportLine> {
  if (readCsv === undefined)
    throw new Fault('bad-usage', `${file} is CSV, and an import reads JSON. Export the JSON and import that.`)
  let read: ReturnType<NonNullable<Importer['readCsv']>> | undefined
  const parser = pipeline(textOf(file), parse(CSV), ignored)
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: readonly string[]; info: Info }>) {
      if (read === undefined) read = readHeader(file, () => readCsv(record, options))
      else yield { line: info.lines - lineFeedsIn(record), text: JSON.stringify(read(record)) }
    }
  } catch (error) {
    throw isFault(error) ? error : damaged(`${file} cannot be read to its end: ${messageOf(error)}.`, error)
  }
}

const lineFeedsIn = (record: readonly string[]): number => record.join('').split('\n').length - 1

const readHeader = <T>(file: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw new Fault('bad-usage', `${file}: ${messageOf(error)}`, { cause: error })
  }
}

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
