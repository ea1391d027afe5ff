import type { Item } from '../../../projections/item.ts'
import type { Reader } from '../../../projections/table.ts'
import { isAsk } from '../outgoing/keys.ts'
import { SENDABLE_MS } from '../outgoing/ledger.ts'
import { sendsFrom, type ServingPeriod } from '../outgoing/serving-periods.ts'
import type { AskClaims, AskState } from './claims.ts'
import { asksOf, PRIORITIES, type StoredAsk } from './due-asks.ts'

/**
 * The reason why an ask waits for an operator. `armed-before-flip`: it changes something outside, and its event is older than the serving
 * period. `result-unknown`: it says `once`, and a process called it and did not store the result. `too-old`: it was armed and due so long ago that the
 * ledger may have forgotten its answer.
 */
export type AskWait = 'armed-before-flip' | 'result-unknown' | 'too-old'

/** Returns why an ask waits for an operator. Undefined: it does not wait. */
export const waitsBecause = (
  ask: StoredAsk,
  { state, period, now }: { readonly state: AskState; readonly period: ServingPeriod; readonly now: number },
): AskWait | undefined => {
  if (state === 'unknown') return 'result-unknown'
  if (state !== 'free') return undefined
  if (isArmedBefore(ask, period)) return 'armed-before-flip'
  return isTooOld(ask, now) ? 'too-old' : undefined
}

/** True if the ledger may have forgotten the answer: it stores an answer only when the ask is armed and due. */
const isTooOld = ({ row: { at, armedAt } }: StoredAsk, now: number): boolean =>
  Math.max(at, armedAt) < now - SENDABLE_MS

/** True if the ask changes something outside, and its event is older than the period. */
const isArmedBefore = ({ row, partition }: StoredAsk, period: ServingPeriod): boolean =>
  row.changes === true && row._pos < sendsFrom(period, { partition, projection: row.projection, key: row.key })

/** True for the row of an ask that changes something outside. */
export const isChangingAsk = (item: Item): boolean => isAsk(item) && item['changes'] === true

interface AsksIn {
  readonly reader: Pick<Reader, 'query'>
  readonly partitions: number
  /** The serving period that decides which asks wait. */
  readonly period: ServingPeriod
}

/** Counts the asks that change something outside and are older than the period. Reads no state, so it also counts asks that are being called. */
export const countArmedBefore = async ({ reader, partitions, period }: AsksIn): Promise<number> => {
  let count = 0
  for (const priority of PRIORITIES)
    for await (const ask of asksOf(reader, { partitions, priority })) if (isArmedBefore(ask, period)) count += 1
  return count
}

export interface WaitingAsk extends StoredAsk {
  readonly reason: AskWait
}

export interface CountedAsks {
  /** The asks that are due, without those that wait for an operator. */
  readonly due: number
  /** The asks that wait for an operator. */
  readonly waiting: number
}

const BATCH = 100

/** Yields the asks that wait for an operator. Calls `passed` with each other ask. */
export async function* waitingAsks(
  { reader, partitions, period, now }: AsksIn & { readonly now: number },
  claims: Pick<AskClaims, 'states'>,
  passed: (ask: StoredAsk) => void = () => undefined,
): AsyncGenerator<WaitingAsk> {
  let batch: StoredAsk[] = []
  const judged = async function* () {
    const states = await claims.states(batch.map(({ row }) => row))
    for (const [index, ask] of batch.entries()) {
      const reason = waitsBecause(ask, { state: states[index] ?? 'free', period, now })
      if (reason === undefined) passed(ask)
      else yield { ...ask, reason }
    }
    batch = []
  }
  for (const priority of PRIORITIES)
    for await (const ask of asksOf(reader, { partitions, priority })) {
      // Only these asks can wait, so only their states are read.
      if (ask.row.once || isArmedBefore(ask, period) || isTooOld(ask, now)) batch.push(ask)
      else passed(ask)
      if (batch.length >= BATCH) yield* judged()
    }
  yield* judged()
}

/** Counts the asks that are due at `now`, and those that wait for an operator. */
export const countAsks = async (
  asks: AsksIn & { readonly now: number },
  claims: Pick<AskClaims, 'states'>,
): Promise<CountedAsks> => {
  let [due, waiting] = [0, 0]
  const waits = waitingAsks(asks, claims, ({ row }) => {
    if (row.at <= asks.now) due += 1
  })
  while ((await waits.next()).done !== true) waiting += 1
  return { due, waiting }
}
