import { Fault } from '../../schemas/fault.ts'
import { counted } from '../../schemas/counted.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'
import type { WaitingAskRow } from '../../host/ipc/operations/asks.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

const REASONS: Readonly<Record<WaitingAskRow['reason'], string>> = {
  'armed-before-flip': 'it changes something outside, and was requested before the last flip',
  'result-unknown': 'it must not be repeated, and its result is unknown',
  'too-old': 'it was due more than a year ago, and the record of its answer may have expired',
}

export const list = async (
  { domains, output, ...context }: Context,
  { domain, json }: { domain?: string | undefined; json?: true },
): Promise<Exit> => {
  if (domain !== undefined) domains.named(domain)
  const rows: WaitingAskRow[] = []
  await callOperation(
    { domains, output, ...context },
    { name: 'asks-list', args: domain === undefined ? {} : { domain }, row: (row) => rows.push(row) },
  )
  if (json === true) for (const row of rows) output.line(JSON.stringify(row))
  else if (rows.length === 0) output.note('No call waits for an operator.')
  else {
    output.line(
      output.table(
        [
          ['id', 'domain', 'kind', 'name', 'key', 'due', 'event', 'why'],
          ...rows.map(({ id, domain: of, kind, name, key, due, position, reason }) => [
            id,
            of,
            kind,
            name,
            key,
            due,
            position,
            REASONS[reason],
          ]),
        ],
        { wrap: ['why'] },
      ),
    )
    output.note('The event that requested a call: tributary events. To make a call: tributary asks release ID')
  }
  return EXIT.fine
}

export const release = async (
  context: Context,
  { id, all, json }: { id?: string | undefined; all?: true; json?: true },
): Promise<Exit> => {
  if ((id === undefined) !== (all === true)) throw new Fault('bad-usage', 'Name one waiting call, or add --all.')
  const result = await callOperation(context, {
    name: 'asks-release',
    args: { ...(id === undefined ? {} : { id }), ...(all === undefined ? {} : { all }) },
  })
  context.output.line(
    json === true
      ? JSON.stringify(result)
      : `${counted(result.released.length, 'call')} released: a process with the role fetcher makes ${result.released.length === 1 ? 'it when it is' : 'them when they are'} due`,
  )
  return EXIT.fine
}
