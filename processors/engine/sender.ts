import type { Key, Stored } from '../../projections/item.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'
import { outboxPartition } from './keys.ts'
import type { Log } from './log.ts'
import type { OutboxRow } from './outbox.ts'
import { retrying } from './retry.ts'
import type { Store } from './store.ts'

export interface SenderParts {
  readonly log: Log
  /** The serving generation, and from which positions it serves: what lies before was another's to send. */
  readonly serving: () => Promise<{ readonly store: Store; readonly from: ReadonlyMap<number, number> }>
  /** Outlives generations: what is claimed here is not sent a second time unless the receiver tells duplicates apart. */
  readonly ledger: Store
  readonly partitions: number
  readonly clock: Clock
  readonly pollMs: number
  readonly failed: (error: unknown) => void
}

export interface Sender {
  /** Something may be waiting: look now. */
  wake(): void
  stop(): Promise<void>
}

const LIMIT = 100
const ledgerKey = (id: string): Key => ({ PK: `SENT#${id}`, SK: 'SENT' })

/** Sends what the serving generation's outbox holds: claim, send, confirm, and only then remove the row. */
export const startSender = (parts: SenderParts): Sender => {
  const stopping = new AbortController()
  let nap = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const round = () => sendAll(parts, stopping.signal)
      await retrying(round, { clock: parts.clock, signal: stopping.signal, failed: parts.failed }).catch(parts.failed)
      await parts.clock.sleep(parts.pollMs, AbortSignal.any([stopping.signal, nap.signal]))
      nap = new AbortController()
    }
  }
  const running = loop()
  return {
    wake: () => nap.abort(),
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

const sendAll = async (parts: SenderParts, signal: AbortSignal): Promise<void> => {
  const { store, from } = await parts.serving()
  for (let partition = 0; partition < parts.partitions && !signal.aborted; partition += 1) {
    for (;;) {
      const { items } = await store.reader(() => 0).query({ pk: outboxPartition(partition), limit: LIMIT })
      for (const row of items as readonly (OutboxRow & Stored)[]) {
        if (row._pos >= (from.get(partition) ?? 0)) await sendRow(parts, row)
        await store.commit([[[{ remove: { PK: row.PK, SK: row.SK }, expect: row._pos }]]])
        if (signal.aborted) return
      }
      if (items.length < LIMIT) break
    }
  }
}

/** A derived event may be appended again after a crash: its fold tells duplicates apart by natural key (law 8). */
const sendRow = async ({ log, ledger, clock }: SenderParts, row: OutboxRow): Promise<void> => {
  const claim = { ...ledgerKey(row.id), state: 'claimed', at: clock.now(), _pos: 1 } as Stored
  const [claimed] = await ledger.commit([[[{ put: claim, expect: null }]]])
  const met = claimed?.applied === 'all' ? undefined : claimed?.current[0]
  if (met?.['state'] === 'sent') return
  if (row.kind !== 'derived') throw new Fault('effect-without-sender', `Nothing here sends effects of ${row.key}; the row ${row.PK} / ${row.SK} stays in the outbox.`)
  await log.append([{ key: row.key, value: Buffer.from(row.value, 'base64') }])
  await ledger.commit([[[{ put: { ...claim, state: 'sent', _pos: 2 } as Stored, expect: 1 }]]])
}
