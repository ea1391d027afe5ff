import { hash } from 'node:crypto'
import { v7 } from 'uuid'
import { checkAppend } from '../../../producers/append-rules.ts'
import { createCommands } from '../../../producers/commands.ts'
import { deadlineAfter } from '../../../producers/deadline.ts'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import { hashedKey } from '../../../producers/http/headers.ts'
import { isUser } from '../../../projections/access/keys.ts'
import { tryEvents } from '../../../processors/engine/proof/trial.ts'
import type { Outcome } from '../../../projections/projection.ts'
import type { Event, EventMeta } from '../../../schemas/event.ts'
import { Fault } from '../../../schemas/fault.ts'
import { eventFromJson } from '../../../schemas/from-json.ts'
import { EARLIEST, FIRST_YEAR } from '../../../schemas/rfc3339.ts'
import type { Handler } from '../operations.ts'
import { COMMAND_SOURCE } from './token.ts'

export interface AppendArgs {
  readonly domain: string
  readonly type: string
  /** The fields of the event, as `eventFromJson` reads them. */
  readonly fields: unknown
  readonly key: string
  readonly subject?: string
  readonly actor?: string
  /** Epoch milliseconds. Default: now. */
  readonly at?: number
  readonly idempotencyKey?: string
}

export interface Appended {
  readonly domain: string
  readonly type: string
  readonly key: string
  /** Null if the event was not appended, because the fold would not accept it. */
  readonly position: string | null
  readonly eventId: string
  /** False if the event changes no item. */
  readonly changes: boolean
  /** `pending`: the log has the event, and no processor has folded it yet. */
  readonly outcome: Outcome | { readonly kind: 'pending' }
}

const ANSWER_MS = 10_000

/** Appends one event for an operator, with the checks of the edge, and waits for the decision of the fold. */
export const appendEvent: Handler<'append'> = async (runtime, args) => {
  const { domain, type, key } = args
  const { log, codec, serving, domain: known } = runtime.pipeline(domain)
  const rules = runtime.config.domains.appendRulesOf(domain)
  const types = [...new Set(known.projections.flatMap(({ folds }) => Object.keys(folds)))]
  if (!types.includes(type))
    throw new Fault(
      'bad-usage',
      `The domain ${domain} has no event "${type}". It has ${types.filter((each) => !Object.hasOwn(rules.internal, each)).join(', ')}.`,
    )
  const now = runtime.clock.now()
  if (args.at !== undefined && (args.at < EARLIEST || args.at > now))
    throw new Fault('bad-usage', `--at must be an instant from ${FIRST_YEAR} to now.`)
  const { data, personal } = eventFromJson(type, args.fields, known.schemas)
  checkAppend(rules, { type, key, fields: { data, personal }, now })
  const isPerson = rules.isKeyAPerson === true || known.keyedByPeople?.includes(type) === true
  if (isPerson && (args.subject ?? key) !== key)
    throw new Fault(
      'bad-usage',
      `The key of a ${type} is the person whom the event describes: --subject must be the same as --key.`,
    )
  const meta = metaOf({ ...args, ...(isPerson && { subject: key }) }, now)
  const stranger = [meta.subjectId, meta.actorId].find((id) => id !== null && !isUser(id))
  if (stranger !== undefined)
    throw new Fault('bad-usage', `"${stranger}" is not a user id: use 1 to 64 letters, digits, and _ . : @ -`)
  if (personal !== null && meta.subjectId === null)
    throw new Fault('bad-usage', `A ${type} has personal data: name the person whom it describes with --subject.`)
  const event: Event = { type, meta, data, personal }
  const { store, outcomes } = serving()
  const [trial = { kind: 'pending' as const }] = await tryEvents({ domain: known, codec, log, store }, [event])
  const changes = trial.kind === 'applied'
  // If the trial fold reports the event as a duplicate with the event's own id, the fold accepts the event but changes no item. Such an event is
  // appended. Example: a late reading, which is only a point of the series.
  const isUnchanged = trial.kind === 'duplicate' && trial.of === meta.eventId
  if (!changes && !isUnchanged)
    return { domain, type, key, eventId: meta.eventId, position: null, outcome: trial, changes }
  const { position, eventId, outcome } = await createCommands({ log, codec, outcomes }).execute(event, {
    wait: true,
    timeoutMs: ANSWER_MS,
    deadline: deadlineAfter(ANSWER_MS),
  })
  runtime.metrics.report.appended({ domain, source: COMMAND_SOURCE, type })
  return {
    domain,
    type,
    key,
    eventId,
    changes,
    position: `${position.partition}:${position.offset}`,
    outcome: outcome === 'pending' ? { kind: 'pending' } : outcome,
  }
}

/** Returns the envelope of the event. If no actor is given, the operator is the author, and the folds do not check the permissions of a user. */
const metaOf = (
  {
    type,
    key,
    fields,
    subject,
    actor = null,
    at,
    idempotencyKey,
    domain,
  }: { readonly actor?: string | null } & Omit<AppendArgs, 'actor'>,
  now: number,
): EventMeta => {
  const request =
    idempotencyKey === undefined
      ? null
      : {
          key: hashedKey(actor ?? '', idempotencyKey),
          hash: hash('sha256', JSON.stringify([domain, type, key, at ?? null, fields]), 'hex'),
        }
  return {
    ...eventMeta({ eventId: v7(), user: key, key, now, source: COMMAND_SOURCE, correlationId: null, request }),
    occurredAt: at ?? now,
    actorId: actor,
    subjectId: subject ?? actor,
  }
}
