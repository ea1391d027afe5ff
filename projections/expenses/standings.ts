import type { Standing } from './items.ts'
import { plus } from './money.ts'

export type Standings = { readonly [user: string]: Standing }
/** What standings changed by; what did not is left out. */
export type Deltas = { readonly [user: string]: Partial<Standing> }

export const NO_STANDING: Standing = { paid: 0, share: 0, sent: 0, received: 0 }

/** Who neither paid, bears, sent nor received anything has no standing. */
export const standingsAfter = (standings: Standings, deltas: Deltas): Standings => {
  const after: { [user: string]: Standing } = { ...standings }
  for (const [user, delta] of Object.entries(deltas)) {
    const standing = added(Object.hasOwn(after, user) ? (after[user] ?? NO_STANDING) : NO_STANDING, delta)
    if (standing.paid !== 0 || standing.share !== 0 || standing.sent !== 0 || standing.received !== 0) after[user] = standing
    else delete after[user]
  }
  return after
}

const added = ({ paid, share, sent, received }: Standing, delta: Partial<Standing>): Standing =>
  ({ paid: plus(paid, delta.paid ?? 0), share: plus(share, delta.share ?? 0), sent: plus(sent, delta.sent ?? 0), received: plus(received, delta.received ?? 0) })
