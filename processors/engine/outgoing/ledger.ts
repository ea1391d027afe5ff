import type { Key, Stored } from '../../../projections/item.ts'
import { changeRow } from '../rows/change-row.ts'
import type { Clock } from '../ports/clock.ts'
import type { Position } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'

/** Records the events that any process sent from any generation, so that each event is sent once. */
export interface Ledger {
  /**
   * Calls `send` unless the event was sent before. Resolves to `later` if another process is sending the event. If `send` throws, throws
   * the same error, and the next call calls `send` again. The failed attempt may have appended the event already, so folds must recognise
   * duplicates.
   */
  once(id: string, send: () => Promise<Position | undefined>): Promise<Sent | 'later'>
  /**
   * Resolves to the ids whose events were sent, each with the position of its event. The position is undefined if an earlier release did
   * not store it.
   */
  settled(ids: readonly string[]): Promise<ReadonlyMap<string, Position | undefined>>
}

export interface Sent {
  /** The position of the appended event. Undefined if an earlier release sent the event without storing the position. */
  readonly position: Position | undefined
}

export interface LedgerParts {
  readonly store: Store
  readonly clock: Clock
  /** The name of this run of this process. A claim of another process is valid until it expires. */
  readonly processName: string
}

/** The state of an event or of an ask in the ledger. */
export type LedgerState =
  | { readonly state: 'claimed'; readonly by: string; readonly until: number }
  | { readonly state: 'free' }
  | {
      readonly state: 'sent'
      readonly position?: { readonly partition: number; readonly offset: number }
      readonly ttl?: number
    }
/** The row of an event or of an ask. `released`: an operator released the ask. */
export type LedgerEntry = Stored & LedgerState & { readonly released?: true }

/** The time after which a claim expires: longer than any attempt to send. The claim of an ask is extended while its call runs. */
export const CLAIM_MS = 60_000

const DAY_MS = 24 * 60 * 60 * 1000
/** The time for which the ledger remembers what was sent. */
export const REMEMBERED_MS = 400 * DAY_MS
/** The row of an event or an ask that is older than this may have expired. So nothing older is sent without an operator. */
export const SENDABLE_MS = REMEMBERED_MS - 35 * DAY_MS

/** The prefix of the ledger's rows. */
const SENT = 'SENT#'
export const sentKey = (id: string): Key => ({ PK: `${SENT}${id}`, SK: 'SENT' })
/** True if the event must not be sent any more. Earlier releases also stored the states `unconfirmed` and `refused`, which are final too. */
export const isSettled = (entry: LedgerEntry | undefined): entry is Extract<LedgerEntry, { readonly state: 'sent' }> =>
  entry !== undefined && entry.state !== 'claimed' && entry.state !== 'free'
/** `now`: the row expires `REMEMBERED_MS` after this time. Absent: the row never expires. */
export const sentState = ({ position }: Sent, now?: number): LedgerState => ({
  state: 'sent',
  ...(now !== undefined && { ttl: Math.floor((now + REMEMBERED_MS) / 1000) }),
  ...(position && { position: { partition: position.partition, offset: position.offset } }),
})

export const createLedger = ({ store, clock, processName }: LedgerParts): Ledger => {
  /** The events that this process sent but did not record yet, because the store did not answer. The next call for such an event only records it. */
  const unrecorded = new Map<string, Sent>()
  const change = (
    id: string,
    assumed: LedgerEntry | undefined,
    next: (was: LedgerEntry | undefined) => LedgerState | undefined,
  ) =>
    changeRow<LedgerEntry>(
      store,
      sentKey(id),
      (was) => {
        const state = next(was)
        return state && { ...sentKey(id), ...state }
      },
      { assumed },
    )
  const isMine = (was: LedgerEntry | undefined): boolean => was?.state === 'claimed' && was.by === processName
  /**
   * True if this process may write a claim: the event has no claim, or the claim of another process has expired. A claim of this process
   * itself is not written again: an earlier call stored it, but did not receive the response of the store.
   */
  const canClaim = (was: LedgerEntry | undefined): boolean =>
    was === undefined ||
    was.state === 'free' ||
    (was.state === 'claimed' && was.by !== processName && was.until <= clock.now())

  const attempt = async (
    id: string,
    claimed: LedgerEntry | undefined,
    send: () => Promise<Position | undefined>,
  ): Promise<Sent> => {
    try {
      const sent = { position: await send() }
      unrecorded.set(id, sent)
      return sent
    } catch (error) {
      await change(id, claimed, (was) => (isMine(was) ? { state: 'free' } : undefined))
      throw error
    }
  }
  const once: Ledger['once'] = async (id, send) => {
    const claimed = await change(id, undefined, (was) =>
      canClaim(was) ? { state: 'claimed', by: processName, until: clock.now() + CLAIM_MS } : undefined,
    )
    if (isSettled(claimed)) {
      unrecorded.delete(id)
      return { position: claimed.position }
    }
    if (!isMine(claimed)) return 'later'
    const sent = unrecorded.get(id) ?? (await attempt(id, claimed, send))
    if (
      !isSettled(
        await change(id, claimed, (was) =>
          was === undefined || isMine(was) ? sentState(sent, clock.now()) : undefined,
        ),
      )
    )
      return 'later'
    unrecorded.delete(id)
    return sent
  }
  const settled: Ledger['settled'] = async (ids) => {
    if (ids.length === 0) return new Map()
    const found = (await store.load(ids.map(sentKey))) as readonly (LedgerEntry | undefined)[]
    return new Map(
      ids.flatMap((id, index) => {
        const entry = found[index]
        return isSettled(entry) ? [[id, entry.position] as const] : []
      }),
    )
  }
  return { once, settled }
}
