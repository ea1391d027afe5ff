import type { ExplainedEvent } from '../processors/engine/proof/history.ts'
import type { Log } from '../processors/engine/ports/log.ts'
import { Fault } from '../schemas/fault.ts'
import { isInstant, instant } from './instant.ts'

/** The end of the history that `explain` shows. */
export interface Limit {
  /** Epoch milliseconds. Undefined if the limit is a position, or there is none. */
  readonly at: number | undefined
  /** True if the event is after the limit. */
  readonly passed: (event: ExplainedEvent) => boolean
}

export const NO_LIMIT: Limit = { at: undefined, passed: () => false }

/**
 * Parses `--as-of`. A time includes the events that the log received up to this time. A position includes the event at this position and all
 * earlier events. `check` throws a fault if a position cannot belong to a key. Fault: `bad-usage`.
 */
export const limitOf = (asOf: string | undefined): { readonly limit: Limit; readonly check: Check } => {
  if (asOf === undefined) return { limit: NO_LIMIT, check: async () => undefined }
  const position = /^(\d{1,9}):(\d{1,15})$/.exec(asOf)
  if (position === null) {
    if (!isInstant(asOf))
      throw new Fault(
        'bad-usage',
        `--as-of "${asOf}" is neither a time nor a position. Write for example 2026-11-16T08:00:00Z, or 0:17 as tributary events shows it.`,
      )
    const at = instant('--as-of', asOf)
    return { limit: { at, passed: ({ appendedAt }) => appendedAt > at }, check: async () => undefined }
  }
  const [partition, offset] = [Number(position[1]), Number(position[2])]
  return {
    limit: { at: undefined, passed: (event) => event.offset > offset },
    check: (log, key) => checkPosition(log, key, { partition, offset }),
  }
}

type Check = (log: Pick<Log, 'watermarks' | 'partitionOf'>, key: string) => Promise<void>

/** Fault: `bad-usage` if no event of the key can have this position. Without this check, `explain` would show the newest item. */
const checkPosition = async (
  log: Pick<Log, 'watermarks' | 'partitionOf'>,
  key: string,
  { partition, offset }: { partition: number; offset: number },
): Promise<void> => {
  const own = log.partitionOf(key)
  if (partition !== own)
    throw new Fault(
      'bad-usage',
      `--as-of ${partition}:${offset} is not a position of ${key}. Its events are in partition ${own}. See: tributary events --key ${key}.`,
    )
  const end = (await log.watermarks()).find((each) => each.partition === own)?.high ?? 0
  if (offset >= end)
    throw new Fault(
      'bad-usage',
      `--as-of ${partition}:${offset} is after the end of the log. ${end === 0 ? 'The log is empty' : `The last event is ${own}:${end - 1}`}. See: tributary events --key ${key}.`,
    )
}
