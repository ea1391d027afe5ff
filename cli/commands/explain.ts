import { fieldChanges } from '../../processors/engine/proof/differences.ts'
import { historyOf, type Touched, type ExplainedEvent } from '../../processors/engine/proof/history.ts'
import { isExpired, type Stored, type Value } from '../../projections/item.ts'
import type { Lines, ItemFormatter } from '../../projections/item-formatter.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { limitOf, NO_LIMIT, type Limit } from '../as-of.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit, Output } from '../output.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'

export interface ExplainOptions {
  readonly domain: string
  readonly pk: string
  readonly sk?: string | undefined
  readonly asOf?: string
  readonly json?: true
}

interface Explained {
  /** The events that changed the requested item (without `sk`: any item of the partition). Each event contains only the changes of these items. */
  readonly steps: readonly ExplainedEvent[]
  /** The requested items that exist at the end of the shown history, by sort key. */
  readonly items: ReadonlyMap<string, Stored>
  /** The same history in the form of the formatter for this item. Undefined if the domain has no such formatter. */
  readonly formatted:
    (Pick<ItemFormatter, 'head' | 'numbers'> & { readonly lines: Lines; readonly end: readonly string[] }) | undefined
  /** The number of events of the key in the shown history. */
  readonly events: number
  /** The event that parked the key. Undefined if the key is not parked. */
  readonly parked: ExplainedEvent | undefined
}

/** Folds one key of the log and shows each change of an item, up to now, a time or a position. */
export const explain = async (context: Context, options: ExplainOptions): Promise<Exit> => {
  const { name, table, series, partitions } = context.domains.named(options.domain)
  const { limit, check } = limitOf(options.asOf)
  await forEachDomain(context, name, async (access) => {
    const key = partitions.keyIn(options.pk) ?? (await keyOfItems(access, options))
    await check(access.log, key)
    const found = await gather(access, {
      key,
      options,
      until: limit.passed,
      formatter: context.domains.formatterOf(name, options.sk),
    })
    if (found.steps.length === 0) throw await itemUnknown(access, { key, options, limit })
    const items = [...found.items.values()].filter(
      (item) => limit.at === undefined || !isExpired(item, table.ttl, limit.at),
    )
    if (options.json === true)
      context.output.line(JSON.stringify({ domain: name, key, ...jsonOf(found), items }, bigints))
    else show(context.output, options, { ...found, items: new Map(items.map((item) => [item.SK, item])) })
    if (series !== undefined)
      context.output.note(
        `This command does not explain points. To compare them with the log: tributary verify ${name}`,
      )
  })
  return EXIT.fine
}

/** The maximum number of items that are read to determine the log key of a partition. */
const READ_ITEMS = 100

/** Determines the log key of a partition whose name does not contain the key, from its items. Fault: `bad-usage` if they have no key or several. */
const keyOfItems = async (
  { domain, clock, serving, store }: DomainAccess,
  { pk, sk }: ExplainOptions,
): Promise<string> => {
  const { partitions } = domain
  const reader = (await store(serving)).reader(clock.now)
  const { items } = await reader.query({ pk, limit: READ_ITEMS, ...(sk === undefined ? {} : { from: sk, to: sk }) })
  const [key, ...otherKeys] = new Set(items.flatMap((item) => partitions.keyIn(pk, item) ?? []))
  if (otherKeys.length > 0)
    throw new Fault(
      'bad-usage',
      `The items of ${pk} belong to several keys of the log. Name one of the items, for example ${items
        .slice(0, 3)
        .map(({ SK }) => SK)
        .join(', ')}.`,
    )
  if (key !== undefined) return key
  throw new Fault(
    'bad-usage',
    `"${pk}${sk === undefined ? '' : ` ${sk}`}" is not a key of an item of ${domain.name}. Its partition keys look like ${partitions.example}. See: tributary events --domain ${domain.name}.`,
  )
}

const gather = async (
  { domain, codec, log }: DomainAccess,
  {
    key,
    options,
    until,
    formatter,
  }: { key: string; options: ExplainOptions; until: Limit['passed']; formatter?: ItemFormatter | undefined },
): Promise<Explained> => {
  const items = new Map<string, Stored>()
  const steps: ExplainedEvent[] = []
  let events = 0
  let parked: ExplainedEvent | undefined
  const format = formatter?.begin({ PK: options.pk, SK: options.sk ?? '' })
  const lines: (readonly string[])[] = []
  for await (const step of historyOf({ domain, codec, log, key })) {
    if (until(step)) break
    events += 1
    if (step.outcome.kind === 'parked') parked ??= step
    const formattedLines = step.logged === undefined ? [] : (format?.lines(step.changes, step.logged.event) ?? [])
    lines.push(...formattedLines.map((line, index) => [index === 0 ? `${step.partition}:${step.offset}` : '', ...line]))
    const changes = step.changes.filter(
      ({ PK, SK }) => PK === options.pk && (options.sk === undefined || SK === options.sk),
    )
    if (changes.length === 0) continue
    steps.push({ ...step, changes })
    for (const { SK, after } of changes)
      if (after === undefined) items.delete(SK)
      else items.set(SK, after)
  }
  return { steps, items, events, parked, formatted: formatter && { ...formatter, lines, end: format?.end() ?? [] } }
}

/** The fault for an item without history. Its text names the event that created the item after the limit, or else similar items that exist. */
const itemUnknown = async (
  access: DomainAccess,
  { key, options, limit }: { key: string; options: ExplainOptions; limit: Limit },
): Promise<Fault> => {
  const named = `${options.pk}${options.sk === undefined ? '' : ` ${options.sk}`}`
  const when = options.asOf === undefined ? 'No event has' : `As of ${options.asOf}, no event had`
  const [first] =
    options.asOf === undefined ? [] : (await gather(access, { key, options, until: NO_LIMIT.passed })).steps
  if (first !== undefined)
    return new Fault(
      'item-unknown',
      `${when} created ${named}. The first event that created it is ${first.partition}:${first.offset}, ${iso(first.appendedAt)}.`,
    )
  const all = await gather(access, { key, options: { domain: options.domain, pk: options.pk }, until: limit.passed })
  const kind = (options.sk ?? '').split('#')[0] ?? ''
  const near = [...all.items.keys()].sort((a, b) => Number(b.startsWith(kind)) - Number(a.startsWith(kind))).slice(0, 3)
  const instead =
    near.length === 0
      ? `The log of ${options.domain} ${all.events === 0 ? `has no event of ${key}` : 'created no item there'}.`
      : `Existing items: ${near.join(', ')}.`
  return new Fault('item-unknown', `${when} created ${named}. ${instead}`)
}

const show = (
  output: Output,
  { pk, sk }: ExplainOptions,
  { steps, items, events, parked, formatted }: Explained,
): void => {
  output.line(output.bold(sk === undefined ? pk : `${pk} ${sk}`))
  if (formatted === undefined)
    output.line(
      output.table(
        [
          ['position', 'appended', 'event', 'what it changed'],
          ...steps.flatMap((step) => rowsOf(step, sk === undefined)),
        ],
        { wrap: ['what it changed'] },
      ),
    )
  else
    output.line(
      output.table([['position', ...formatted.head], ...formatted.lines], {
        right: formatted.numbers,
        wrap: formatted.head.filter((name) => !formatted.numbers.includes(name)),
      }),
    )
  output.line('')
  for (const line of formatted?.end ?? [...items.values()].map((item) => JSON.stringify(item, bigints)))
    output.line(line)
  if (items.size === 0) output.line('(removed)')
  output.note(
    `${steps.length} of this key's ${counted(events, 'event')} changed ${sk === undefined ? 'these items' : 'the item'}`,
  )
  if (parked !== undefined)
    output.note(
      output.red(
        `The key is parked since ${parked.partition}:${parked.offset}: ${parked.outcome.kind === 'parked' ? parked.outcome.reason : ''}`,
      ),
    )
}

const iso = (at: number): string => new Date(at).toISOString()

/**
 * Returns one row per changed attribute. Only the first row names the event. If `named` is true, a row with the sort key of an item precedes
 * the attributes of this item.
 */
const rowsOf = (
  { partition, offset, appendedAt, logged, changes }: ExplainedEvent,
  named: boolean,
): readonly (readonly string[])[] => {
  const event = [`${partition}:${offset}`, iso(appendedAt).replace(/\.\d+Z/, 'Z'), logged?.event.type ?? '?']
  const lines = changes.flatMap((change) => (named ? [`${change.SK}:`, ...attributesOf(change)] : attributesOf(change)))
  return lines.map((line, index) => [...(index === 0 ? event : ['', '', '']), line])
}

const attributesOf = ({ before, after }: Touched): readonly string[] => {
  if (after === undefined) return ['removed']
  const lines = fieldChanges(before, after).map(
    ({ field, before: oldValue, after: newValue }) =>
      `${field} ${before === undefined ? '=' : `${brief(oldValue)} →`} ${brief(newValue)}`,
  )
  return lines.length === 0 ? ['no visible attribute'] : lines
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
  steps: steps.map(({ partition, offset, appendedAt, logged, outcome, changes }) => ({
    position: `${partition}:${offset}`,
    appendedAt,
    eventId: logged?.event.meta.eventId ?? null,
    type: logged?.event.type ?? null,
    occurredAt: logged?.event.meta.occurredAt ?? null,
    recordedAt: logged?.event.meta.recordedAt ?? null,
    outcome,
    changes: changes.map(({ PK, SK, before, after }) => ({ PK, SK, before: before ?? null, after: after ?? null })),
  })),
})

const bigints = (_: string, member: unknown): unknown => (typeof member === 'bigint' ? member.toString() : member)
