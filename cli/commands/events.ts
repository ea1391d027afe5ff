import { FORGOTTEN, SEALED_PERSONAL, type Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { domainNamed } from '../domains.ts'
import { instant } from '../instant.ts'
import type { EventRow } from '../operations/events.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface EventsOptions {
  readonly domain: string
  readonly key?: string
  readonly from?: string
  readonly to?: string
  readonly last?: number
  readonly follow?: true
  readonly json?: true
}

export const events = async (context: Context, { json, from, to, ...options }: EventsOptions): Promise<Exit> => {
  domainNamed(options.domain)
  if (options.follow === true && to !== undefined) throw new Fault('bad-usage', '--follow shows new events, so --to cannot end it: leave out one of them.')
  const args = { ...options, ...(from === undefined ? {} : { from: instant('--from', from) }), ...(to === undefined ? {} : { to: instant('--to', to) }) }
  const row = (told: unknown): void => context.output.line(json === true ? JSON.stringify(told) : lineOf(told as EventRow, context))
  await ask(context, { name: 'events', args, row })
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}

const lineOf = ({ position, appendedAt, key, type, event, fault }: EventRow, { output }: Context): string => {
  const content = fault === undefined ? contentOf(event as Pick<Event, 'data' | 'personal'>) : output.red(`${fault.code}: ${fault.message}`)
  return `${output.dim(`${position} ${appendedAt}`)} ${key ?? '(no key)'} ${output.bold(type)} ${content}`
}

/** The data, and the personal data or a mark with the reason why it is not readable. */
const contentOf = ({ data, personal }: Pick<Event, 'data' | 'personal'>): string => {
  if (personal === null) return JSON.stringify(data)
  return `${JSON.stringify(data)} personal ${personal === FORGOTTEN || personal === SEALED_PERSONAL ? `(${personal})` : JSON.stringify(personal)}`
}
