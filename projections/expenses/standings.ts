import type { Minor, Standing } from './items.ts'
import { minorOf, wholeOf } from './money.ts'

export type Standings = { readonly [user: string]: Standing }
/** What standings changed by; what did not is left out. */
export type Deltas = { readonly [user: string]: Partial<Standing> }

export const NO_STANDING: Standing = { paid: 0, share: 0, sent: 0, received: 0 }

/** Who neither paid, bears, sent nor received anything has no standing. */
export const standingsAfter = (standings: Standings, deltas: Deltas): Standings => {
  const after = new Map(Object.entries(standings))
  for (const [user, delta] of Object.entries(deltas)) {
    const standing = added(after.get(user) ?? NO_STANDING, delta)
    if (Object.values(standing).some((minor) => minor !== 0)) after.set(user, standing)
    else after.delete(user)
  }
  return Object.fromEntries(after)
}

const added = ({ paid, share, sent, received }: Standing, delta: Partial<Standing>): Standing =>
  ({ paid: plus(paid, delta.paid), share: plus(share, delta.share), sent: plus(sent, delta.sent), received: plus(received, delta.received) })

const plus = (a: Minor, b: Minor = 0): Minor => wholeOf(minorOf(a) + minorOf(b))
