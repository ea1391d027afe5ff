import { fieldChanges } from '../../processors/engine/differences.ts'
import { historyOf, type Touched, type Told } from '../../processors/engine/history.ts'
import { isExpired, type Stored, type Value } from '../../projections/item.ts'
import type { Lines, Telling } from '../../projections/telling.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { limitOf, NO_LIMIT, type Limit } from '../as-of.ts'
import type { Context } from '../context.ts'
import { domainNamed, placesOf, tellingOf } from '../domains.ts'
import { EXIT } from '../output.ts'
import type { Exit, Output } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface ExplainOptions {
  readonly domain: string
  readonly pk: string
  readonly sk?: string | undefined
  readonly asOf?: string
  readonly json?: true
}

interface Explained {
  /** The events that changed the item, or any item of the partition, each with those changes only. */
  readonly steps: readonly Told[]
  /** Every item asked for that is there at the end, by sort key. */
  readonly items: ReadonlyMap<string, Stored>
  /** The same as people tell it, where the item is of a kind that they tell. */
  readonly told: (Pick<Telling, 'head' | 'numbers'> & { readonly lines: Lines; readonly end: readonly string[] }) | undefined
  /** Events of the key up to there. */
  readonly events: number
  /** Where the key stands still, if it does. */
  readonly parked: Told | undefined
}

/** Folds one key of the log and shows how an item came to be what it is, or what it was at a time or a position. */
export const explain = async (context: Context, options: ExplainOptions): Promise<Exit> => {
  const { name, table, series } = domainNamed(options.domain)
  const { limit, check } = limitOf(options.asOf)
  await inWorkplaces(context, name, async (workplace) => {
    const key = placesOf(name).keyIn(options.pk) ?? (await keyOfItems(workplace, options))
    await check(workplace.log, key)
    const found = await gather(workplace, { key, options, until: limit.passed })
    if (found.steps.length === 0) throw await neverWas(workplace, { key, options, limit })
    const items = [...found.items.values()].filter((item) => limit.at === undefined || !isExpired(item, table.ttl, limit.at))
    if (options.json === true) context.output.line(JSON.stringify({ domain: name, key, ...jsonOf(found), items }, bigints))
    else show(context.output, options, { ...found, items: new Map(items.map((item) => [item.SK, item])) })
    if (series !== undefined) context.output.note(`Points are not explained; whether they are those of the log: tributary verify ${name}`)
  })
  return EXIT.fine
}

const LOOKED_AT = 100

/** Where the partition's name does not tell it, its items do. */
const keyOfItems = async ({ domain, clock, serving, store }: Workplace, { pk, sk }: ExplainOptions): Promise<string> => {
  const places = placesOf(domain.name)
  const reader = (await store(serving)).reader(clock.now)
  const { items } = await reader.query({ pk, limit: LOOKED_AT, ...(sk === undefined ? {} : { from: sk, to: sk }) })
  const [key, ...others] = new Set(items.flatMap((item) => places.keyIn(pk, item) ?? []))
  if (others.length > 0) throw new Fault('bad-usage', `The items of ${pk} are of several keys of the log: name one of them. There is: ${items.slice(0, 3).map(({ SK }) => SK).join(', ')}.`)
  if (key !== undefined) return key
  throw new Fault('bad-usage', `"${pk}${sk === undefined ? '' : ` ${sk}`}" is no item of ${domain.name}; its partitions look like ${places.example}. See: tributary events --domain ${domain.name}.`)
}

const gather = async ({ domain, codec, log }: Workplace, { key, options, until }: { key: string; options: ExplainOptions; until: Limit['passed'] }): Promise<Explained> => {
  const items = new Map<string, Stored>()
  const steps: Told[] = []
  let events = 0
  let parked: Told | undefined
  const telling = tellingOf(domain.name, options.sk)
  const teller = telling?.begin({ PK: options.pk, SK: options.sk ?? '' })
  const lines: (readonly string[])[] = []
  for await (const told of historyOf({ domain, codec, log, key })) {
    if (until(told)) break
    events += 1
    if (told.outcome.kind === 'parked') parked ??= told
    lines.push(...(teller?.hear(told.changes).map((line, index) => [index === 0 ? `${told.partition}:${told.offset}` : '', ...line]) ?? []))
    const changes = told.changes.filter(({ PK, SK }) => PK === options.pk && (options.sk === undefined || SK === options.sk))
    if (changes.length === 0) continue
    steps.push({ ...told, changes })
    for (const { SK, after } of changes) if (after === undefined) items.delete(SK)
    else items.set(SK, after)
  }
  return { steps, items, events, parked, told: telling && { ...telling, lines, end: teller?.end() ?? [] } }
}

/** Says since when it is there, or what is there instead. */
const neverWas = async (workplace: Workplace, { key, options, limit }: { key: string; options: ExplainOptions; limit: Limit }): Promise<Fault> => {
  const named = `${options.pk}${options.sk === undefined ? '' : ` ${options.sk}`}`
  const when = options.asOf === undefined ? 'No event' : `As of ${options.asOf} no event`
  const [first] = options.asOf === undefined ? [] : (await gather(workplace, { key, options, until: NO_LIMIT.passed })).steps
  if (first !== undefined) return new Fault('item-unknown', `${when} had made ${named}. The first that did is ${first.partition}:${first.offset}, ${iso(first.appendedAt)}.`)
  const all = await gather(workplace, { key, options: { domain: options.domain, pk: options.pk }, until: limit.passed })
  const kind = (options.sk ?? '').split('#')[0] ?? ''
  const near = [...all.items.keys()].sort((a, b) => Number(b.startsWith(kind)) - Number(a.startsWith(kind))).slice(0, 3)
  const instead = near.length === 0 ? `The log of ${options.domain} ${all.events === 0 ? `has no event of ${key}` : 'made nothing there'}.` : `There is: ${near.join(', ')}.`
  return new Fault('item-unknown', `${when} had made ${named}. ${instead}`)
}

const show = (output: Output, { pk, sk }: ExplainOptions, { steps, items, events, parked, told }: Explained): void => {
  output.line(output.bold(sk === undefined ? pk : `${pk} ${sk}`))
  if (told === undefined) output.line(output.table([['position', 'appended', 'event', 'what it changed'], ...steps.flatMap((step) => rowsOf(step, sk === undefined))], { wrap: ['what it changed'] }))
  else output.line(output.table([['position', ...told.head], ...told.lines], { right: told.numbers, wrap: told.head.filter((name) => !told.numbers.includes(name)) }))
  output.line('')
  for (const line of told?.end ?? [...items.values()].map((item) => JSON.stringify(item, bigints))) output.line(line)
  if (items.size === 0) output.line('(removed)')
  output.note(`${steps.length} of this key's ${counted(events, 'event')} changed ${sk === undefined ? 'these items' : 'the item'}`)
  if (parked !== undefined) output.note(output.red(`The key stands still since ${parked.partition}:${parked.offset}: ${parked.outcome.kind === 'parked' ? parked.outcome.reason : ''}`))
}

const iso = (at: number): string => new Date(at).toISOString()

/** One row per changed attribute, with the event on the first one. `named`: the item's sort key comes before its attributes. */
const rowsOf = ({ partition, offset, appendedAt, heard, changes }: Told, named: boolean): readonly (readonly string[])[] => {
  const event = [`${partition}:${offset}`, iso(appendedAt).replace(/\.\d+Z/, 'Z'), heard?.event.type ?? '?']
  const lines = changes.flatMap((change) => (named ? [`${change.SK}:`, ...attributesOf(change)] : attributesOf(change)))
  return lines.map((line, index) => [...(index === 0 ? event : ['', '', '']), line])
}

const attributesOf = ({ before, after }: Touched): readonly string[] => {
  if (after === undefined) return ['removed']
  const lines = fieldChanges(before, after).map(({ field, before: was, after: is }) => `${field} ${before === undefined ? '=' : `${brief(was)} →`} ${brief(is)}`)
  return lines.length === 0 ? ['nothing that is shown'] : lines
}

const LONG = 72

const brief = (value: Value | undefined): string => {
  if (value === undefined) return '(none)'
  const text = JSON.stringify(value, bigints)
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text
}

const jsonOf = ({ steps, events, parked }: Explained) => ({
  events,
  parked: parked === undefined ? null : { position: `${parked.partition}:${parked.offset}`, ...parked.outcome },
  steps: steps.map(({ partition, offset, appendedAt, heard, outcome, changes }) => ({
    position: `${partition}:${offset}`,
    appendedAt,
    eventId: heard?.event.meta.eventId ?? null,
    type: heard?.event.type ?? null,
    occurredAt: heard?.event.meta.occurredAt ?? null,
    recordedAt: heard?.event.meta.recordedAt ?? null,
    outcome,
    changes: changes.map(({ PK, SK, before, after }) => ({ PK, SK, before: before ?? null, after: after ?? null })),
  })),
})

const bigints = (_: string, member: unknown): unknown => (typeof member === 'bigint' ? member.toString() : member)
