import type { Stored } from '../../projections/item.ts'
import { pages } from '../../projections/table.ts'
import { isFault } from '../../schemas/fault.ts'
import { derivedPartition, outboxPartition } from './keys.ts'
import type { Sent, Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { isDerivedRow, type OutboxRow } from './outbox.ts'
import { startPolling, type Polling, type PollingParts } from './polling.ts'
import { removing, replacing, type Store } from './store.ts'
import { ownerOf, type Turn } from './turns.ts'

/** Read together: a pointer of now with a list of a moment ago would throw away what is still to be sent. */
export interface SendingFrom {
  /** Who served from where, newest first. */
  readonly turns: readonly Turn[]
  /** Every generation that follows: each has rows of its own. */
  readonly generations: readonly { readonly generation: number; readonly store: Store }[]
}

export interface SenderParts extends PollingParts {
  readonly log: Log
  readonly sendingFrom: () => Promise<SendingFrom>
  readonly ledger: Ledger
  readonly partitions: number
  /** The table's TTL attribute. */
  readonly ttl: string
}

const LIMIT = 100

/** Sends what the outboxes hold: claim, send, confirm, and only then remove the row. */
export const startSender = (parts: SenderParts): Polling => startPolling(parts, (signal) => sendAll(parts, signal))

const sendAll = async (parts: SenderParts, signal: AbortSignal): Promise<void> => {
  const { turns, generations } = await parts.sendingFrom()
  for (const { generation, store } of generations) {
    try {
      for (let partition = 0; partition < parts.partitions && !signal.aborted; partition += 1) await drain(parts, { generation, store, partition, turns, signal })
    } catch (error) {
      // The outbox of a deleted table is lost. The rows of the other generations do not wait until an operator drops its generation.
      if (!isFault(error, 'table-missing') || generation === turns[0]?.generation) throw error
      parts.failed(error)
    }
  }
}

type Row = OutboxRow & Stored

interface Draining {
  readonly generation: number
  readonly store: Store
  readonly partition: number
  readonly turns: readonly Turn[]
  readonly signal: AbortSignal
}

const drain = async (parts: SenderParts, draining: Draining): Promise<void> => {
  const { store, partition, signal } = draining
  /** Causes of which an event waits: the events after it wait too, so that they are appended in order. */
  const waiting = new Set<string>()
  for await (const items of pages(store.reader(() => 0), { pk: outboxPartition(partition), limit: LIMIT })) {
    const rows = (items as readonly Row[]).filter(isDerivedRow)
    const settled = await parts.ledger.settled(rows.filter((row) => whose(row, draining) !== 'mine').map(({ id }) => id))
    for (const row of rows) {
      if (signal.aborted) return
      const own = whose(row, draining)
      if (own === 'serving' && !settled.has(row.id)) continue
      const done = own === 'mine' ? await sendInTurn(parts, row, waiting) : { position: settled.get(row.id) }
      if (done !== undefined) await remove(parts, draining, row, done)
    }
  }
}

/** How long a reader can name an event and wait for those derived from it. */
const DERIVED_SECONDS = 24 * 60 * 60

/** Removes a row that was sent. The position of a derived event stays for a day, for readers that wait until it is folded. */
const remove = async ({ clock, ttl }: SenderParts, { store, partition }: Draining, row: Row, { position }: Sent): Promise<void> => {
  if (position === undefined) return void (await store.commit([[[removing(row)]]]))
  const key = { PK: derivedPartition({ partition, offset: row._pos }), SK: row.SK }
  const [before] = await store.load([key])
  const kept = { ...key, partition: position.partition, offset: position.offset, [ttl]: Math.floor(clock.now() / 1000) + DERIVED_SECONDS }
  await store.commit([[[removing(row), replacing(before, kept)]]])
}

/**
 * A row is sent from the generation that served at its position. Another's twin of what the serving one sends stays until that is
 * sent, since the next flip may make it the one that counts; what an earlier turn answered for is the earlier generation's alone.
 */
const whose = (row: Row, { generation, partition, turns }: Draining): 'mine' | 'serving' | 'past' => {
  const owner = ownerOf(turns, { partition, offset: row._pos, projection: row.projection, key: row.cause })
  if (owner === generation) return 'mine'
  return owner === turns[0]?.generation ? 'serving' : 'past'
}

/** Resolves to undefined if the row must wait. */
const sendInTurn = async (parts: SenderParts, row: Row, waiting: Set<string>): Promise<Sent | undefined> => {
  const cause = `${row.projection}#${row.cause}`
  const sent = waiting.has(cause) ? 'later' : await appendOnce(parts, row)
  if (sent !== 'later') return sent
  waiting.add(cause)
  return undefined
}

/**
 * Appends the encoded event of a row once, whichever process finds the row. If the log cannot hold the event, reports it and resolves to
 * `later`: the row stays until the limit of the topic is raised, and the other rows do not wait for it.
 */
export const appendOnce = async ({ log, ledger, failed }: Pick<SenderParts, 'log' | 'ledger' | 'failed'>, { id, key, value }: Pick<Row, 'id' | 'key' | 'value'>): Promise<Sent | 'later'> => {
  try {
    return await ledger.once(id, async () => (await log.append([{ key, value: Buffer.from(value, 'base64') }]))[0])
  } catch (error) {
    if (!isFault(error, 'record-too-large')) throw error
    failed(error)
    return 'later'
  }
}
