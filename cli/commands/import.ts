import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { counted } from '../../schemas/counted.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { domainNamed } from '../domains.ts'
import { count } from '../meter.ts'
import type { Imported, ImportLine } from '../operations/import.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { asking } from '../reach.ts'
import type { Ask } from '../reach.ts'

export interface ImportOptions {
  readonly domain: string
  readonly file: string
  readonly json?: true
}

const LINES = 500
const SHOWN = 20

/** Reads the file here and hands it over in parts: the server needs no access to it. */
export const importFile = async (context: Context, options: ImportOptions): Promise<Exit> => {
  domainNamed(options.domain)
  return asking(context, { processing: true, first: true }, (ask) => importBy(context, ask, options))
}

const importBy = async (context: Context, ask: Ask, { domain, file, json }: ImportOptions): Promise<Exit> => {
  const importId = (await contentHash(file)).slice(0, 32)
  const total = { rows: 0, events: 0, derived: 0, meals: {} as Record<string, number>, unreadable: [] as Imported['unreadable'][number][] }
  for await (const lines of partsOf(file)) {
    if (context.signal.aborted) return EXIT.interrupted
    const part = (await ask('import', { domain, importId, lines })) as Imported
    total.rows += part.rows
    total.events += part.events
    total.derived += part.derived
    total.unreadable.push(...part.unreadable)
    for (const [user, count] of Object.entries(part.meals)) total.meals[user] = (total.meals[user] ?? 0) + count
    context.output.progress(`${counted(total.rows, 'row')} read, ${counted(total.events, 'event')} said`)
  }
  const { visible } = (await ask('import-end', { domain, importId, source: basename(file).slice(0, 200), meals: total.meals })) as { visible: boolean }
  tell(context, { ...total, visible, json: json === true })
  return total.unreadable.length > 0 ? EXIT.failed : EXIT.fine
}

const tell = ({ output }: Context, total: Omit<Imported, 'meals'> & { visible: boolean; json: boolean; meals: Record<string, number> }): void => {
  const { rows, events, derived, unreadable, visible, meals } = total
  for (const { line, reason } of unreadable.slice(0, SHOWN)) output.note(`line ${line}: ${reason}`)
  if (unreadable.length > SHOWN) output.note(`and ${unreadable.length - SHOWN} more`)
  if (total.json) output.line(JSON.stringify({ rows, events, derived, users: Object.keys(meals).length, unreadable, visible }))
  else output.line(`${counted(rows, 'row')}: ${counted(events, 'event')}, ${counted(derived, 'derived row')} left out, ${count(unreadable.length)} unreadable`)
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

/** One item a line (NDJSON, a DynamoDB export), or one document with all of them (the answer of a scan, an array). */
async function* partsOf(file: string): AsyncIterable<readonly ImportLine[]> {
  let part: ImportLine[] = []
  for await (const line of (await isDocument(file)) ? itemsOf(file) : linesOf(file)) {
    part.push(line)
    if (part.length < LINES) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
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
