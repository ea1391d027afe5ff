import { Fault } from '../../schemas/fault.ts'
import { osUser } from '../../host/ipc/command-record.ts'
import type { Context } from '../context.ts'
import type { DiscardedRow, ParkedRow, RetryResult } from '../../host/ipc/operations/parked.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface ListOptions {
  readonly domain?: string | undefined
  readonly generation?: number
  readonly discarded?: true
  readonly json?: true
}

export const list = async (context: Context, { domain, generation, discarded, json }: ListOptions): Promise<Exit> => {
  if (domain !== undefined) context.domains.named(domain)
  const args = { ...(domain === undefined ? {} : { domain }), ...(generation === undefined ? {} : { generation }) }
  if (discarded === true) return listDiscarded(context, args, json === true)
  const rows: ParkedRow[] = []
  await callOperation(context, { name: 'parked-list', args, row: (row) => rows.push(row) })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else if (rows.length === 0) context.output.note('Nothing is parked.')
  else {
    context.output.line(
      context.output.table(
        [
          ['id', 'event', 'position', 'since', 'waiting', 'why'],
          ...rows.map(({ id, type, position, since, waiting, code, reason }) => [
            id,
            type,
            position,
            since,
            String(waiting),
            `${code}: ${reason}`,
          ]),
        ],
        { wrap: ['why'] },
      ),
    )
    context.output.note(
      'The event and the stack: tributary parked show ID. Then: tributary parked retry ID, or tributary parked discard ID --reason R',
    )
  }
  return rows.length > 0 ? EXIT.parked : EXIT.fine
}

const listDiscarded = async (context: Context, args: { readonly domain?: string }, json: boolean): Promise<Exit> => {
  const rows: DiscardedRow[] = []
  await callOperation(context, { name: 'parked-discarded', args, row: (row) => rows.push(row) })
  if (json) for (const row of rows) context.output.line(JSON.stringify(row))
  else if (rows.length === 0) context.output.note('Nothing was discarded.')
  else
    context.output.line(
      context.output.table(
        [
          ['domain', 'position', 'projection', 'key', 'by', 'at', 'reason'],
          ...rows.map(({ domain, position, projection, key, by, at, reason }) => [
            domain,
            position,
            projection,
            key ?? '-',
            by,
            at,
            reason,
          ]),
        ],
        { wrap: ['reason'] },
      ),
    )
  return EXIT.fine
}

export const show = async (context: Context, { id, json }: { id: string; json?: true }): Promise<Exit> => {
  const row = await callOperation(context, { name: 'parked-show', args: { id } })
  context.output.line(json === true ? JSON.stringify(row) : page(row))
  return EXIT.fine
}

const page = ({
  id,
  type,
  position,
  since,
  waiting,
  code,
  reason,
  stack,
  record,
  bytes,
  size,
  projection,
}: ParkedRow): string =>
  [
    id,
    `  event     ${type} at ${position}, recorded ${since}`,
    `  parked    in ${projection === '*' ? 'every projection' : `the projection ${projection}`}; ${waiting} more of the key's events ${waiting === 1 ? 'waits' : 'wait'}`,
    `  because   ${code}: ${reason}`,
    ...(record?.event === undefined ? [] : ['', indented(JSON.stringify(record.event, null, 2))]),
    ...(bytes === undefined
      ? []
      : ['', `  ${size} bytes${bytes.length < 2 * (size ?? 0) ? `, the first ${bytes.length / 2}` : ''}: ${bytes}`]),
    ...(stack === '' ? [] : ['', indented(stack)]),
  ].join('\n')

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')

export const retry = async (
  context: Context,
  { id, all, json }: { id?: string | undefined; all?: true; json?: true },
): Promise<Exit> => {
  if ((id === undefined) !== (all === true)) throw new Fault('bad-usage', 'Name one parked key, or add --all.')
  const retried = await callOperation(context, {
    name: 'parked-retry',
    args: { ...(id === undefined ? {} : { id }), ...(all === undefined ? {} : { all }) },
    opening: { processing: true },
  })
  return printRetried(context, retried, json === true)
}

export const discard = async (
  context: Context,
  { id, reason, by = osUserName(), json }: { id: string; reason: string; by?: string; json?: true },
): Promise<Exit> => {
  if (reason.trim() === '' || by.trim() === '')
    throw new Fault('bad-usage', 'A discard is recorded. Add --reason TEXT and --by NAME.')
  const retried = await callOperation(context, {
    name: 'parked-discard',
    args: { id, reason, by },
    opening: { processing: true },
  })
  if (json !== true) context.output.note(`Discarded by ${by}: no generation folds that event again.`)
  return printRetried(context, retried, json === true)
}

const printRetried = ({ output }: Context, retried: RetryResult, json: boolean): Exit => {
  const { asked, healed, still, pending } = retried
  const rest = [
    ...(still === 0 ? [] : [`${still} still parked, see: tributary parked`]),
    ...(pending === 0 ? [] : [`${pending} not retried yet; check that a processor runs: tributary status`]),
  ]
  output.line(json ? JSON.stringify(retried) : [`${healed} of ${asked} healed`, ...rest].join('; '))
  return healed < asked ? EXIT.parked : EXIT.fine
}

const osUserName = (): string => {
  const user = osUser()
  if (user === undefined)
    throw new Fault(
      'bad-usage',
      'A discard is recorded with a name, and this system does not report yours. Add --by NAME.',
    )
  return user
}
