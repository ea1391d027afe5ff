import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { domainNamed } from '../domains.ts'
import type { ParkedRow, Retried } from '../operations/parked.ts'
import { columns, EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export const list = async (context: Context, { domain, json }: { domain?: string | undefined; json?: true }): Promise<Exit> => {
  if (domain !== undefined) domainNamed(domain)
  const rows: ParkedRow[] = []
  await ask(context, { name: 'parked-list', args: domain === undefined ? {} : { domain }, row: (row) => rows.push(row as ParkedRow) })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else if (rows.length === 0) context.output.note('Nothing is parked.')
  else context.output.line(columns([['id', 'event', 'position', 'why'], ...rows.map(({ id, type, position, code, reason }) => [id, type, position, `${code}: ${reason}`])]))
  return rows.length > 0 ? EXIT.parked : EXIT.fine
}

export const show = async (context: Context, { id }: { id: string; json?: true }): Promise<Exit> => {
  context.output.line(JSON.stringify(await ask(context, { name: 'parked-show', args: { id } }), null, 2))
  return EXIT.fine
}

export const retry = async (context: Context, { id, all, json }: { id?: string | undefined; all?: true; json?: true }): Promise<Exit> => {
  if ((id === undefined) !== (all === true)) throw new Fault('bad-usage', 'Name one parked key, or say --all.')
  const retried = (await ask(context, { name: 'parked-retry', args: { ...(id === undefined ? {} : { id }), ...(all === undefined ? {} : { all }) }, opening: { processing: true } })) as Retried
  if (json === true) context.output.line(JSON.stringify(retried))
  else context.output.line(`${retried.healed} of ${retried.asked} healed${retried.healed < retried.asked ? '; the rest is tried by the processor that owns it, see: tributary parked' : ''}`)
  return retried.healed < retried.asked ? EXIT.parked : EXIT.fine
}
