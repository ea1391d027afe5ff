import type { Told } from '../processors/engine/history.ts'
import type { Log } from '../processors/engine/log.ts'
import { Fault } from '../schemas/fault.ts'
import { isInstant, instant } from './instant.ts'

/** Up to where the events of a key are to be heard. */
export interface Limit {
  /** Epoch milliseconds, where it is a time. */
  readonly at: number | undefined
  /** Whether the event comes after what was asked for. */
  readonly passed: (told: Told) => boolean
}

export const NO_LIMIT: Limit = { at: undefined, passed: () => false }

/** A time: what the log had taken by then. A position: that event and all before it. */
export const limitOf = (asOf: string | undefined): { readonly limit: Limit; readonly check: Check } => {
  if (asOf === undefined) return { limit: NO_LIMIT, check: async () => undefined }
  const position = /^(\d{1,9}):(\d{1,15})$/.exec(asOf)
  if (position === null) {
    if (!isInstant(asOf)) throw new Fault('bad-usage', `--as-of "${asOf}" is neither an instant nor a position. Write for example 2026-11-16T08:00:00Z, or 0:17 as tributary events shows it.`)
    const at = instant('--as-of', asOf)
    return { limit: { at, passed: ({ appendedAt }) => appendedAt > at }, check: async () => undefined }
  }
  const [partition, offset] = [Number(position[1]), Number(position[2])]
  return { limit: { at: undefined, passed: (told) => told.offset > offset }, check: (log, key) => checkPosition(log, key, { partition, offset }) }
}

type Check = (log: Pick<Log, 'watermarks' | 'partitionOf'>, key: string) => Promise<void>

/** A position that the key's events cannot have would silently show the newest. */
const checkPosition = async (log: Pick<Log, 'watermarks' | 'partitionOf'>, key: string, { partition, offset }: { partition: number; offset: number }): Promise<void> => {
  const own = log.partitionOf(key)
  if (partition !== own) throw new Fault('bad-usage', `--as-of ${partition}:${offset} is not of ${key}, whose events lie in partition ${own}. See: tributary events --key ${key}.`)
  const end = (await log.watermarks()).find((each) => each.partition === own)?.high ?? 0
  if (offset >= end) throw new Fault('bad-usage', `--as-of ${partition}:${offset} lies beyond the log, ${end === 0 ? 'which is empty' : `whose last event is ${own}:${end - 1}`}. See: tributary events --key ${key}.`)
}
