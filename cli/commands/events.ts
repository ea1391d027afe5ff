import { FORGOTTEN, SEALED_PERSONAL, type Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'
import { firstDomain, type Context } from '../context.ts'
import { instant } from '../instant.ts'
import type { EventRow } from '../../host/ipc/operations/events.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface EventsOptions {
  readonly domain?: string
  readonly key?: string
  readonly from?: string
  readonly to?: string
  readonly last?: number
  readonly follow?: true
  readonly json?: true
}

export const events = async (context: Context, { json, from, to, ...options }: EventsOptions): Promise<Exit> => {
  const domain = options.domain ?? firstDomain(context)
  context.domains.named(domain)
  if (options.follow === true && to !== undefined)
    throw new Fault('bad-usage', '--follow shows new events, so --to cannot end it: leave out one of them.')
  const args = {
    ...options,
    domain,
    ...(from === undefined ? {} : { from: instant('--from', from) }),
    ...(to === undefined ? {} : { to: instant('--to', to) }),
  }
  const row = (event: EventRow): void =>
    context.output.line(json === true ? JSON.stringify(event) : lineOf(event, context))
  await callOperation(context, { name: 'events', args, row })
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}

const lineOf = ({ position, appendedAt, key, type, event, fault }: EventRow, { output }: Context): string => {
  const content = event === undefined ? output.red(`${fault?.code}: ${fault?.message}`) : contentOf(event)
  return `${output.dim(`${position} ${appendedAt}`)} ${key ?? '(no key)'} ${output.bold(type)} ${content}`
}

/** The data of an event and its personal data. Unreadable personal data is replaced by the reason: `(forgotten)` or `(sealed)`. */
const contentOf = ({ data, personal }: Pick<Event, 'data' | 'personal'>): string => {
  if (personal === null) return JSON.stringify(data)
  return `${JSON.stringify(data)} personal ${personal === FORGOTTEN || personal === SEALED_PERSONAL ? `(${personal})` : JSON.stringify(personal)}`
}
