import { Fault } from '../../schemas/fault.ts'
import { confirmIrreversible } from '../confirm.ts'
import type { Context } from '../context.ts'
import { DOMAINS, domainNamed } from '../domains.ts'
import { count } from '../meter.ts'
import type { GenerationRow } from '../operations/generations.ts'
import { columns, EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface GenerationsOptions {
  readonly domain?: string
  readonly drop?: number
  readonly yes?: true
  readonly json?: true
}

/** What is there, which one serves, who follows; or drops one. */
export const generations = async (context: Context, options: GenerationsOptions): Promise<Exit> => {
  if (options.domain !== undefined) domainNamed(options.domain)
  return options.drop === undefined ? list(context, options) : drop(context, { ...options, drop: options.drop })
}

const list = async (context: Context, { domain, json }: GenerationsOptions): Promise<Exit> => {
  const rows: GenerationRow[] = []
  await ask(context, { name: 'generations', args: domain === undefined ? {} : { domain }, row: (row) => rows.push(row as GenerationRow) })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else context.output.line(table(rows))
  return EXIT.fine
}

const drop = async (context: Context, { domain, drop: generation, yes, json }: GenerationsOptions & { drop: number }): Promise<Exit> => {
  const of = domain ?? (DOMAINS.length === 1 ? DOMAINS[0]?.name : undefined)
  if (of === undefined) throw new Fault('bad-usage', 'Name the domain whose generation is to be dropped.')
  if (!(await confirmIrreversible(`Drop generation ${generation} of ${of}, with its table and its consumer group?`, { yes, signal: context.signal }))) {
    context.output.note('Nothing was done.')
    return EXIT.failed
  }
  await ask(context, { name: 'generations-drop', args: { domain: of, generation } })
  context.output.line(json === true ? JSON.stringify({ domain: of, dropped: generation }) : `generation ${generation} of ${of} is dropped`)
  return EXIT.fine
}

const table = (rows: readonly GenerationRow[]): string =>
  columns([
    ['domain', 'generation', 'state', 'folds', 'table', 'positions', 'lag', 'items', 'size', 'serving since'],
    ...rows.map((row) => [
      row.domain,
      `g${row.generation}`,
      stateOf(row),
      `v${row.foldVersion}`,
      row.table,
      Object.entries(row.positions).map(([partition, offset]) => `${partition}:${offset}`).join(' ') || '-',
      count(row.lag),
      row.items === null ? '-' : count(row.items),
      row.bytes === null ? '-' : size(row.bytes),
      row.servingSince ?? '-',
    ]),
  ])

const stateOf = ({ state, build }: GenerationRow): string => {
  if (build === null) return state
  if (build.by === null && build.of > 0 && build.events >= build.of) return 'built, not followed'
  const share = `${build.of === 0 ? 0 : Math.floor((build.events * 100) / build.of)} %`
  return build.by === null ? `${state} (${share})` : `${state} (${share}, ${count(build.eventsPerSecond)}/s, by ${build.by} since ${build.since})`
}

const size = (bytes: number): string => (bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`)
