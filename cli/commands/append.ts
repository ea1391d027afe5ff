import { text as readAll } from 'node:stream/consumers'
import { Fault, messageOf } from '../../schemas/fault.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { instant } from '../instant.ts'
import type { Appended } from '../../host/ipc/operations/append.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface AppendOptions {
  readonly domain: string
  readonly type: string
  /** JSON, or `-` for stdin. */
  readonly fields: string
  /** The log key. Default, only if the keys of the domain are people: the subject, or the actor if there is no subject. */
  readonly key?: string
  readonly subject?: string
  readonly actor?: string
  readonly at?: string
  readonly idempotencyKey?: string
  readonly yes?: true
  readonly json?: true
}

/** Appends one event by hand, and prints its position and the outcome of its fold. */
export const append = async (context: Context, { json, yes, fields, at, ...options }: AppendOptions): Promise<Exit> => {
  const { domain, type, subject, actor } = options
  const { isKeyAPerson } = context.domains.appendRulesOf(domain)
  const key = options.key ?? (isKeyAPerson === true ? (subject ?? actor) : undefined)
  if (key === undefined || key === '')
    throw new Fault(
      'bad-usage',
      `Name the key of the event: --key KEY. See: tributary events --last 5 --domain ${domain}`,
    )
  const parsed = parse(fields === '-' ? await readAll(context.input) : fields)
  const when = at === undefined ? {} : { at: instant('--at', at) }
  if (
    yes !== true &&
    !(await confirm(`Append a ${type} of ${key} to the log of ${domain}? An event cannot be removed.`, {
      signal: context.signal,
      input: context.input,
    }))
  ) {
    context.output.note('Nothing was appended.')
    return EXIT.failed
  }
  const appended = await callOperation(context, {
    name: 'append',
    args: { ...options, ...when, key, fields: parsed },
    opening: { processing: true },
  })
  context.output.line(json === true ? JSON.stringify(appended) : textOf(appended))
  if (appended.outcome.kind === 'pending') context.output.note('No processor has folded it yet. See: tributary status')
  return appended.outcome.kind === 'refused'
    ? EXIT.failed
    : appended.outcome.kind === 'parked'
      ? EXIT.parked
      : EXIT.fine
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Fault(
      'bad-usage',
      `The event is not JSON (${messageOf(error)}). Quote it for the shell, or pass - and write the JSON to stdin.`,
    )
  }
}

const textOf = (appended: Appended): string => {
  const { type, key, position, eventId, changes } = appended
  return position === null
    ? `The ${type} of ${key} was not appended: ${outcomeText(appended)}`
    : `${position} ${type} of ${key} (event ${eventId}): ${outcomeText(appended)}${changes ? '' : '; it changes no item'}`
}

const outcomeText = ({ outcome, eventId }: Pick<Appended, 'outcome' | 'eventId'>): string => {
  if (outcome.kind === 'refused') return `refused by the fold: ${outcome.refusal.code}: ${outcome.refusal.detail}`
  if (outcome.kind === 'duplicate')
    return `${outcome.of === eventId ? 'it was applied before' : `a duplicate of event ${outcome.of}`}; nothing changed`
  if (outcome.kind === 'parked')
    return outcome.behind === true
      ? 'behind a parked event of its key; see: tributary parked'
      : `parked: ${outcome.reason}`
  return outcome.kind === 'pending' ? 'in the log, not folded yet' : 'accepted'
}
