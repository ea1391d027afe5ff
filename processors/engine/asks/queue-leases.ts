import type { Key, Stored } from '../../../projections/item.ts'
import { CLAIM_MS, type LedgerParts } from '../outgoing/ledger.ts'
import { changeRow } from '../rows/change-row.ts'

/** The leases of the queues of one domain, in the ledger. The asks of a queue are called one after the other, by the process with its lease. */
export interface QueueLeases {
  /** Takes the lease for a minute, or extends it. Resolves to false if another process has it. */
  take(queue: string): Promise<boolean>
  /** Ends the lease of this process. */
  release(queue: string): Promise<void>
}

type Lease = Stored & { readonly by: string; readonly until: number }

/** The prefix of the leases' rows. */
const QUEUE = 'QUEUE#'

export const createQueueLeases = ({ store, clock, processName }: LedgerParts, domain: string): QueueLeases => {
  const keyOf = (queue: string): Key => ({ PK: `${QUEUE}${domain}#${queue}`, SK: 'QUEUE' })
  return {
    take: async (queue) => {
      const lease = await changeRow<Lease>(store, keyOf(queue), (was) =>
        was === undefined || was.by === processName || was.until <= clock.now()
          ? { ...keyOf(queue), by: processName, until: clock.now() + CLAIM_MS }
          : undefined,
      )
      return lease?.by === processName
    },
    release: async (queue) => {
      await changeRow<Lease>(store, keyOf(queue), (was) => (was?.by === processName ? null : undefined))
    },
  }
}
