import { ENGINE_ASKS, type Ask, type AskKinds } from '../../../projections/ask.ts'
import type { Item, Key } from '../../../projections/item.ts'
import { removed, type Change, type Get } from '../../../projections/projection.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Cause } from '../fold/decide.ts'
import { forgetBodyOf, listBodyOf } from './ask-bodies.ts'
import { namedAskKey, askKey } from './keys.ts'
import { sentId } from './outbox.ts'
import { isInstantOfRow } from './timers.ts'

/**
 * The row of an ask. Its sort key begins with the time, so that due asks are found without a scan. The id is derived from the event that
 * asked, the name and the time: each generation that folds the event writes the same ask, and an ask that is armed again is another ask.
 */
export type AskRow = Item & {
  readonly id: string
  readonly name: string
  readonly kind: string
  /** The log key of the fold that asks. */
  readonly key: string
  /** The projection of the fold that asks. */
  readonly projection: string
  /** JSON. */
  readonly body: string
  readonly queue: string
  readonly priority: number
  readonly at: number
  /** The time at which the event that asked was recorded. */
  readonly armedAt: number
  /** Present if the call changes something outside of the items. */
  readonly changes?: true
  readonly once?: true
  /** The event that asked, and the event from which the chain of causes began. */
  readonly cause: string
  readonly correlation: string
}

type Asked = Key & { readonly at: number; readonly priority: number }

const PRIORITY = 5

/** Returns the changes of rows for the asks of an event. An ask replaces the ask of the same name. `at: null` withdraws it. */
export const askChanges = (declared: AskKinds | undefined) => {
  const kinds = declared === undefined ? {} : { ...ENGINE_ASKS, ...declared }
  return (cause: Cause, asks: readonly Ask[], get: Get): readonly Change[] =>
    asks.flatMap((ask) => {
      const { key } = cause.event.meta
      const named = namedAskKey(key, ask.name)
      const was = get<Asked>(named)
      const clear = was === undefined ? [] : [removed(askKey(cause.partition, { ...was, key, name: ask.name }))]
      if (ask.at === null) return was === undefined ? [] : [...clear, removed(named)]
      const row = askRow(kinds, cause, { ...ask, at: ask.at })
      const { at, priority } = row
      return [...clear.filter(({ PK, SK }) => PK !== row.PK || SK !== row.SK), row, { ...named, at, priority }]
    })
}

const askRow = (
  kinds: AskKinds,
  { event: cause, partition, projection }: Cause,
  {
    name,
    at,
    kind = '',
    body = null,
    queue = cause.meta.key,
    priority = PRIORITY,
    once,
  }: Ask & { readonly at: number },
): AskRow => {
  const { meta } = cause
  const declared = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (declared === undefined || !isInstantOfRow(at) || !(priority >= 0 && priority <= 9 && Number.isInteger(priority)))
    throw new Fault(
      'bad-ask',
      `The ask "${name}" of ${meta.key} has the kind "${kind}", the time ${at} and the priority ${priority}. The domain must declare the kind, the time must be between the years 1970 and 9999, and the priority from 0 to 9. Fix the fold.`,
    )
  if (kind === 'list') listBodyOf(body)
  if (kind === 'forget') forgetBodyOf(body, meta.key)
  return {
    ...askKey(partition, { at, priority, key: meta.key, name }),
    id: sentId(cause, `ask:${name}:${at}`),
    name,
    kind,
    key: meta.key,
    projection,
    body: JSON.stringify(body),
    queue,
    priority,
    at,
    armedAt: meta.recordedAt,
    ...(declared.changes && { changes: true }),
    ...(once && { once }),
    cause: meta.eventId,
    correlation: meta.correlationId ?? meta.eventId,
  }
}
