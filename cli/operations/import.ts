import { createHash } from 'node:crypto'
import { derivedId } from '../../producers/ids.ts'
import { envelope } from '../../producers/http/envelope.ts'
import { IMPORT_SOURCE } from '../../projections/meals/items.ts'
import { upcast } from '../../projections/meals/upcast.ts'
import type { SaidByRow } from '../../projections/meals/upcast.ts'
import type { Event } from '../../schemas/event.ts'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import type { Operation } from '../operations.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import type { Runtime } from '../runtime.ts'

export interface ImportArgs {
  readonly domain: string
  /** The same for the same file, so that importing it again changes nothing. */
  readonly importId: string
  readonly lines: readonly ImportLine[]
}

export interface ImportLine {
  readonly line: number
  readonly text: string
}

/** What a part of a file came to. */
export interface Imported {
  readonly rows: number
  readonly events: number
  /** Rows of derived items, which come from the events again. */
  readonly derived: number
  /** Meals adopted, by user. */
  readonly meals: Readonly<Record<string, number>>
  readonly unreadable: readonly { readonly line: number; readonly reason: string }[]
}

/** Rows of an older table as events. Ids are made of the rows, and what was said before is harmless to say again. */
export const importLines: Operation<ImportArgs> = async (runtime, { domain, importId, lines }): Promise<Imported> => {
  const pipeline = runtime.pipeline(domain)
  if (domain !== 'meals') throw new Fault('import-unknown', `Nothing is known of older tables of ${domain}: there is an import of meals.`)
  const unreadable: { line: number; reason: string }[] = []
  const meals: Record<string, number> = {}
  const events: Event[] = []
  let derived = 0
  for (const { line, text } of lines) {
    const rowHash = createHash('sha256').update(text).digest('hex')
    const said = read(text, { importId, rowHash, at: runtime.clock.now() })
    if (said.kind === 'unreadable') unreadable.push({ line, reason: said.reason })
    else if (said.kind === 'derived') derived += 1
    else {
      events.push(...said.events.map((one, index) => eventOf(one, { importId, rowHash, index, now: runtime.clock.now() })))
      for (const { type, user } of said.events) if (type === 'MealLogged' || type === 'LegacyMealAdopted') meals[user] = (meals[user] ?? 0) + 1
    }
  }
  const refused = await append(runtime, pipeline, events)
  return { rows: lines.length, events: events.length - refused.length, derived, meals, unreadable: [...unreadable, ...refused.map((reason) => ({ line: 0, reason }))] }
}

const read = (text: string, origin: Parameters<typeof upcast>[1]): ReturnType<typeof upcast> => {
  try {
    return upcast(JSON.parse(text), origin)
  } catch (error) {
    return { kind: 'unreadable', reason: messageOf(error) }
  }
}

interface From {
  readonly importId: string
  readonly rowHash: string
  readonly index: number
  readonly now: number
}

const eventOf = ({ type, user, occurredAt, data, personal }: SaidByRow, { importId, rowHash, index, now }: From): Event => ({
  type,
  meta: { ...envelope({ eventId: derivedId('import', rowHash, String(index)), user, now, source: IMPORT_SOURCE, correlationId: importId }), occurredAt },
  data,
  personal,
})

/** What the codec refuses is told and left out; the rest goes to the log at once. */
const append = async ({ metrics }: Runtime, { log, codec }: Pipeline, events: readonly Event[]): Promise<readonly string[]> => {
  await codec.keysFor?.(events)
  const refused: string[] = []
  const said = events.flatMap((event) => {
    try {
      return [{ type: event.type, record: { key: event.meta.key, value: codec.encode(event) } }]
    } catch (error) {
      if (!isFault(error)) throw error
      refused.push(`${event.type} of ${event.meta.key}: ${error.code}: ${error.message}`)
      return []
    }
  })
  if (said.length > 0) await log.append(said.map(({ record }) => record))
  for (const { type } of said) metrics.report.appended(IMPORT_SOURCE, type)
  return refused
}

export interface ImportEnd {
  readonly domain: string
  readonly importId: string
  readonly source: string
  readonly meals: Readonly<Record<string, number>>
}

/** Says of each user that an import is complete, then waits until what it said is visible. */
export const endImport: Operation<ImportEnd> = async (runtime, { domain, importId, source, meals }) => {
  const pipeline = runtime.pipeline(domain)
  const now = runtime.clock.now()
  const events = Object.entries(meals).map(([user, count]): Event => ({
    type: 'MealsImported',
    meta: envelope({ eventId: derivedId('imported', importId, user), user, now, source: IMPORT_SOURCE, correlationId: importId }),
    data: { importId, count, source },
    personal: null,
  }))
  await append(runtime, pipeline, events)
  return { visible: await visible(pipeline) }
}

const VISIBLE_MS = 60_000

const visible = async ({ log, serving }: Pipeline): Promise<boolean> => {
  const { outcomes } = serving()
  const ends = (await log.watermarks()).filter(({ high }) => high > 0)
  const reached = await Promise.all(ends.map(({ partition, high }) => outcomes.reached({ partition, offset: high - 1 }, VISIBLE_MS)))
  return reached.every(Boolean)
}
