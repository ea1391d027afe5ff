import { Fault } from '../../schemas/fault.ts'
import { confirmIrreversible } from '../confirm.ts'
import { firstDomain, type Context } from '../context.ts'
import { count } from '../../host/serving/meter.ts'
import type { GenerationRow } from '../../host/ipc/operations/generations.ts'
import { EXIT } from '../output.ts'
import type { Exit, Output } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface GenerationsOptions {
  readonly domain?: string
  readonly drop?: number
  readonly yes?: true
  readonly json?: true
}

/** Lists the generations with their states. With `drop`, drops this generation instead. */
export const generations = async (context: Context, options: GenerationsOptions): Promise<Exit> => {
  if (options.domain !== undefined) context.domains.named(options.domain)
  return options.drop === undefined ? list(context, options) : drop(context, { ...options, drop: options.drop })
}

const list = async (context: Context, { domain, json }: GenerationsOptions): Promise<Exit> => {
  const rows: GenerationRow[] = []
  await callOperation(context, {
    name: 'generations',
    args: domain === undefined ? {} : { domain },
    row: (row) => rows.push(row),
  })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else context.output.line(pages(context.output, rows))
  return EXIT.fine
}

const drop = async (
  context: Context,
  { domain, drop: generation, yes, json }: GenerationsOptions & { drop: number },
): Promise<Exit> => {
  const name = domain ?? (context.domains.all.length === 1 ? firstDomain(context) : undefined)
  if (name === undefined) throw new Fault('bad-usage', 'Name the domain of the generation to drop.')
  if (
    !(await confirmIrreversible(`Drop generation ${generation} of ${name}, with its table and its consumer group?`, {
      yes,
      signal: context.signal,
      input: context.input,
    }))
  ) {
    context.output.note('Nothing was changed.')
    return EXIT.failed
  }
  await callOperation(context, { name: 'generations-drop', args: { domain: name, generation } })
  context.output.line(
    json === true
      ? JSON.stringify({ domain: name, dropped: generation })
      : `generation ${generation} of ${name} is dropped`,
  )
  return EXIT.fine
}

/** Returns a text with one table per domain. A line above each table names the serving generation. */
const pages = (output: Output, rows: readonly GenerationRow[]): string =>
  [...new Set(rows.map(({ domain }) => domain))]
    .map((domain) =>
      page(
        output,
        domain,
        rows.filter((row) => row.domain === domain),
      ),
    )
    .join('\n\n')

const page = (output: Output, domain: string, rows: readonly GenerationRow[]): string => {
  const serving = rows.find(({ servingSince }) => servingSince !== null)
  const title =
    serving === undefined ? domain : `${domain}: generation ${serving.generation} serves since ${serving.servingSince}`
  return [output.bold(title), table(output, rows), ...rows.flatMap(buildOf)].join('\n')
}

const table = (output: Output, rows: readonly GenerationRow[]): string =>
  output.table(
    [
      ['gen', 'state', 'folds', 'table', 'lag', 'items', 'size', 'positions'],
      ...rows.map((row) => [
        `g${row.generation}`,
        stateOf(row),
        `v${row.foldVersion}`,
        row.table,
        count(row.lag),
        row.items === null ? '-' : count(row.items),
        row.bytes === null ? '-' : size(row.bytes),
        Object.entries(row.positions)
          .map(([partition, offset]) => `${partition}:${offset}`)
          .join(' ') || '-',
      ]),
    ],
    { right: ['lag', 'items', 'size'], wrap: ['positions'] },
  )

const stateOf = ({ state, build }: GenerationRow): string => {
  if (build === null) return state
  if (build.by === null && build.of > 0 && build.events >= build.of) return 'built, not followed'
  return `${state} (${build.of === 0 ? 0 : Math.floor((build.events * 100) / build.of)} %)`
}

const buildOf = ({ generation, build }: GenerationRow): readonly string[] =>
  build === null || build.by === null
    ? []
    : [`g${generation} is built by ${build.by} since ${build.since}: ${count(build.eventsPerSecond)} events/s`]

const size = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
