import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { domainNamed } from '../domains.ts'
import type { EventRow } from '../operations/events.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface EventsOptions {
  readonly domain: string
  readonly key?: string
  readonly from?: string
  readonly to?: string
  readonly follow?: true
  readonly json?: true
}

export const events = async (context: Context, { json, from, to, ...options }: EventsOptions): Promise<Exit> => {
  domainNamed(options.domain)
  const args = { ...options, ...(from === undefined ? {} : { from: instant('--from', from) }), ...(to === undefined ? {} : { to: instant('--to', to) }) }
  const row = (told: unknown): void => context.output.line(json === true ? JSON.stringify(told) : lineOf(told as EventRow, context))
  await ask(context, { name: 'events', args, row })
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}

const lineOf = ({ position, recordedAt, key, type, event, fault }: EventRow, { output }: Context): string => {
  const said = fault === undefined ? JSON.stringify((event as { data?: unknown }).data) : output.red(`${fault.code}: ${fault.message}`)
  return `${output.dim(`${position} ${recordedAt}`)} ${key ?? '(no key)'} ${output.bold(type)} ${said}`
}

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

const instant = (option: string, text: string): number => {
  const at = Date.parse(text)
  if (!INSTANT.test(text) || Number.isNaN(at)) throw new Fault('bad-usage', `${option} "${text}" is no instant. Write for example 2026-11-16 or 2026-11-16T08:00:00Z.`)
  return at
}
