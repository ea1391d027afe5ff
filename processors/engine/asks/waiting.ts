import { sendsFrom, type ServingPeriod } from '../outgoing/serving-periods.ts'
import type { AskState } from './claims.ts'
import type { StoredAsk } from './due-asks.ts'

/**
 * The reason why an ask waits for an operator. `armed-before-flip`: it changes something outside, and its event is older than the serving
 * period. `result-unknown`: it says `once`, and a process called it and did not store the result.
 */
export type AskWait = 'armed-before-flip' | 'result-unknown'

/** Returns why an ask waits for an operator. Undefined: it does not wait. */
export const waitsBecause = (
  ask: StoredAsk,
  { state, period }: { readonly state: AskState; readonly period: ServingPeriod },
): AskWait | undefined => {
  if (state === 'unknown') return 'result-unknown'
  return state === 'free' && isArmedBefore(ask, period) ? 'armed-before-flip' : undefined
}

/** True if the ask changes something outside, and its event is older than the period. */
const isArmedBefore = ({ row, partition }: StoredAsk, period: ServingPeriod): boolean =>
  row.changes === true && row._pos < sendsFrom(period, { partition, projection: row.projection, key: row.key })
