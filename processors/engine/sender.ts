import type { Key, Stored } from '../../projections/item.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'
import { outboxPartition } from './keys.ts'
import type { Log } from './log.ts'
import type { OutboxRow } from './outbox.ts'
import { retrying } from './retry.ts'
import type { Store } from './store.ts'

/** Read together: a pointer of now with a store of a moment ago would throw away what is still to be sent. */
export interface SendingFrom {
  readonly store: Store
  readonly from: ReadonlyMap<number, number>
  /** Generations that served before: what they put into their outbox for events before `from` is still theirs to send. */
  readonly former: readonly Store[]
}

export interface SenderParts {
  readonly log: Log
  /** The serving generation, and from which positions it serves: what lies before was a former one's to send. */
  readonly serving: () => Promise<SendingFrom>
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
  const { store, from, former } = await parts.serving()
  for (let partition = 0; partition < parts.partitions; partition += 1) {
    const begins = from.get(partition) ?? 0
    for (const old of former) await drain(parts, { store: old, partition, signal, sends: (row) => (row._pos < begins ? 'send' : 'leave') })
    await drain(parts, { store, partition, signal, sends: (row) => (row._pos < begins ? 'drop' : 'send') })
  }
}

type Row = OutboxRow & Stored

interface Draining {
  readonly store: Store
  readonly partition: number
  readonly signal: AbortSignal
  readonly sends: (row: Row) => 'send' | 'drop' | 'leave'
}

/** Rows lie in the order of their positions: behind the first that stays, all stay. */
const drain = async (parts: SenderParts, { store, partition, signal, sends }: Draining): Promise<void> => {
  while (!signal.aborted) {
    const { items } = await store.reader(() => 0).query({ pk: outboxPartition(partition), limit: LIMIT })
    for (const row of items as readonly Row[]) {
      const what = sends(row)
      if (what === 'leave' || signal.aborted) return
      if (what === 'send') await sendRow(parts, row)
      await store.commit([[[{ remove: { PK: row.PK, SK: row.SK }, expect: row._pos }]]])
    }
    if (items.length < LIMIT) return
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
