import {
  CLAIM_MS,
  isSettled,
  sentKey,
  sentState,
  type LedgerEntry,
  type LedgerParts,
  type LedgerState,
} from '../outgoing/ledger.ts'
import type { Position } from '../ports/log.ts'
import { changeRow } from '../rows/change-row.ts'

/** The part of an ask that its claim depends on. */
export interface LedgerAsk {
  readonly id: string
  /** The ask must not be called again if its result is unknown. */
  readonly once?: true
}

/**
 * The state of an ask in the ledger. `free`: it can be called. `released`: as `free`, and an operator released it. `claimed`: another
 * process calls it. `unknown`: it says `once`, and a process that called it did not store the result. `answered`: its answer is in the log.
 */
export type AskState = 'free' | 'released' | 'claimed' | 'unknown' | 'answered'

/** The claims of asks in the ledger: one process at a time calls an ask, and no process calls it after its answer is in the log. */
export interface AskClaims {
  states(asks: readonly LedgerAsk[]): Promise<readonly AskState[]>
  /** Claims the ask for this process for a minute. Resolves to false if its state is `claimed`, `unknown` or `answered`. */
  claim(ask: LedgerAsk): Promise<boolean>
  /** Extends the claim of this process by a minute from now. */
  renew(id: string): Promise<void>
  /** Ends the claim of this process. The ask can be called again. */
  free(id: string): Promise<void>
  /** Ends the claim of this process without a result. The state of an ask with `once` is `unknown` from now on. */
  lose(id: string): Promise<void>
  /**
   * Stores that the answer is in the log. `position`: of the last event of the answer. Undefined: the answer has no event. The row of an ask
   * with `once`, or of one that an operator released, never expires.
   */
  settle(ask: LedgerAsk, position: Position | undefined): Promise<void>
  /**
   * Lets the fetcher call an ask that waits for an operator. Resolves to its state afterwards: `released`, or `claimed` or `answered`
   * if nothing was changed.
   */
  release(ask: LedgerAsk): Promise<AskState>
}

export const createAskClaims = ({ store, clock, processName }: LedgerParts): AskClaims => {
  const stateOf = ({ once }: LedgerAsk, entry: LedgerEntry | undefined): AskState => {
    if (entry === undefined) return 'free'
    if (isSettled(entry)) return 'answered'
    if (entry.state === 'claimed') {
      if (entry.until <= clock.now() && once) return 'unknown'
      if (entry.until > clock.now() && entry.by !== processName) return 'claimed'
    }
    return entry.released ? 'released' : 'free'
  }
  const change = (id: string, next: (was: LedgerEntry | undefined) => LedgerState | undefined) =>
    changeRow<LedgerEntry>(store, sentKey(id), (was) => {
      const state = next(was)
      return state && { ...sentKey(id), ...state, ...(was?.released && { released: true }) }
    })
  const ifMine = (id: string, state: () => LedgerState) =>
    change(id, (was) => (was?.state === 'claimed' && was.by === processName ? state() : undefined)).then(() => {})
  const claimedUntil = (until: number): LedgerState => ({ state: 'claimed', by: processName, until })
  return {
    states: async (asks) => {
      if (asks.length === 0) return []
      const entries = (await store.load(asks.map(({ id }) => sentKey(id)))) as readonly (LedgerEntry | undefined)[]
      return asks.map((ask, index) => stateOf(ask, entries[index]))
    },
    claim: async (ask) => {
      const entry = await change(ask.id, (was) =>
        isCallable(stateOf(ask, was)) ? claimedUntil(clock.now() + CLAIM_MS) : undefined,
      )
      return entry?.state === 'claimed' && entry.by === processName && isCallable(stateOf(ask, entry))
    },
    renew: (id) => ifMine(id, () => claimedUntil(clock.now() + CLAIM_MS)),
    free: (id) => ifMine(id, () => ({ state: 'free' })),
    lose: (id) => ifMine(id, () => claimedUntil(0)),
    settle: async ({ id, once }, position) => {
      await change(id, (was) =>
        isSettled(was) ? undefined : sentState({ position }, once || was?.released ? undefined : clock.now()),
      )
    },
    release: async (ask) => {
      const entry = await changeRow<LedgerEntry>(store, sentKey(ask.id), (was) => {
        const state = stateOf(ask, was)
        if (state === 'claimed' || state === 'answered' || state === 'released') return undefined
        return { ...sentKey(ask.id), state: 'free', released: true }
      })
      return stateOf(ask, entry)
    },
  }
}

const isCallable = (state: AskState): boolean => state === 'free' || state === 'released'
