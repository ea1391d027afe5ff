import type { Stored } from '../../../projections/item.ts'
import { pages } from '../../../projections/table.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { Log } from '../ports/log.ts'
import { removing, replacing, type Store } from '../ports/store.ts'
import { startPolling, type Polling, type PollingParts } from '../timing/polling.ts'
import { derivedPartition, outboxPartition } from './keys.ts'
import type { Ledger, Sent } from './ledger.ts'
import { isDerivedRow, type OutboxRow } from './outbox.ts'
import { senderOf, type ServingPeriod } from './serving-periods.ts'

/**
 * The input of one round of the sender. Both members must be read together. If the periods were newer than the list of generations, the
 * sender would remove rows that it must send.
 */
export interface SendingGenerations {
  /** The serving periods, newest first. */
  readonly periods: readonly ServingPeriod[]
  /** The generations that follow the log. Each generation has its own outbox. */
  readonly generations: readonly { readonly generation: number; readonly store: Store }[]
}

export interface SenderParts extends PollingParts {
  readonly log: Log
  readonly sendingGenerations: () => Promise<SendingGenerations>
  readonly ledger: Ledger
  readonly partitions: number
  /** The name of the table's TTL attribute. */
  readonly ttl: string
}

const LIMIT = 100

/**
 * Sends the rows of the outboxes. For each row: claims the event in the ledger, appends the event, records it as sent in the ledger, and
 * then removes the row.
 */
export const startSender = (parts: SenderParts): Polling => startPolling(parts, (signal) => sendAll(parts, signal))

const sendAll = async (parts: SenderParts, signal: AbortSignal): Promise<void> => {
  const { periods, generations } = await parts.sendingGenerations()
  for (const { generation, store } of generations) {
    try {
      for (let partition = 0; partition < parts.partitions && !signal.aborted; partition += 1)
        await drain(parts, { generation, store, partition, periods, signal })
    } catch (error) {
      // The outbox of a deleted table is lost. The error is only reported, so that the rows of the other generations are sent before an
      // operator drops the generation.
      if (!isFault(error, 'table-missing') || generation === periods[0]?.generation) throw error
      parts.failed(error)
    }
  }
}

type Row = OutboxRow & Stored

interface Draining {
  readonly generation: number
  readonly store: Store
  readonly partition: number
  readonly periods: readonly ServingPeriod[]
  readonly signal: AbortSignal
}

const drain = async (parts: SenderParts, draining: Draining): Promise<void> => {
  const { store, partition, signal } = draining
  /**
   * The keys (`projection#key`) of causing events whose derived event must wait. Later derived events of the same causing key wait too, so
   * that they are appended in order.
   */
  const waiting = new Set<string>()
  for await (const items of pages(
    store.reader(() => 0),
    { pk: outboxPartition(partition), limit: LIMIT },
  )) {
    const rows = (items as readonly Row[]).filter(isDerivedRow)
    const settled = await parts.ledger.settled(
      rows.filter((row) => sentBy(row, draining) !== 'this').map(({ id }) => id),
    )
    for (const row of rows) {
      if (signal.aborted) return
      const sender = sentBy(row, draining)
      if (sender === 'serving' && !settled.has(row.id)) continue
      const sent = sender === 'this' ? await sendInOrder(parts, row, waiting) : { position: settled.get(row.id) }
      if (sent !== undefined) await remove(parts, draining, row, sent)
    }
  }
}

/** The time for which the position of a sent event is stored. In this time, a reader can wait for the events that are derived from an event. */
const DERIVED_SECONDS = 24 * 60 * 60

/**
 * Removes a row whose event was sent. Stores the position of the event for a day, for readers that wait until the event is folded. If the
 * position is unknown, only removes the row.
 */
const remove = async (
  { clock, ttl }: SenderParts,
  { store, partition }: Draining,
  row: Row,
  { position }: Sent,
): Promise<void> => {
  if (position === undefined) return void (await store.commit([[[removing(row)]]]))
  const key = { PK: derivedPartition({ partition, offset: row._pos }), SK: row.SK }
  const [before] = await store.load([key])
  const derived = {
    ...key,
    partition: position.partition,
    offset: position.offset,
    [ttl]: Math.floor(clock.now() / 1000) + DERIVED_SECONDS,
  }
  await store.commit([[[removing(row), replacing(before, derived)]]])
}

/**
 * Returns which generation sends the event of a row: the one that served at the row's position. `this`: the generation of this outbox.
 * `serving`: the serving generation, which has the same row in its outbox. The row stays in this outbox until the event is sent, because a
 * flip can make this generation the sender. `earlier`: a generation that served before sends the event or has sent it.
 */
const sentBy = (row: Row, { generation, partition, periods }: Draining): 'this' | 'serving' | 'earlier' => {
  const sender = senderOf(periods, { partition, offset: row._pos, projection: row.projection, key: row.cause })
  if (sender === generation) return 'this'
  return sender === periods[0]?.generation ? 'serving' : 'earlier'
}

/** Sends the event of a row, unless an earlier derived event of the same causing key waits. Resolves to undefined if the row must wait. */
const sendInOrder = async (parts: SenderParts, row: Row, waiting: Set<string>): Promise<Sent | undefined> => {
  const cause = `${row.projection}#${row.cause}`
  const sent = waiting.has(cause) ? 'later' : await appendOnce(parts, row)
  if (sent !== 'later') return sent
  waiting.add(cause)
  return undefined
}

/**
 * Appends the encoded event of a row once, whichever process finds the row. If the event is too large for the log, reports this and
 * resolves to `later`: the row stays until the limit of the topic is raised, and the other rows do not wait for it.
 */
export const appendOnce = async (
  { log, ledger, failed }: Pick<SenderParts, 'log' | 'ledger' | 'failed'>,
  { id, key, value }: Pick<Row, 'id' | 'key' | 'value'>,
): Promise<Sent | 'later'> => {
  try {
    return await ledger.once(id, async () => (await log.append([{ key, value: Buffer.from(value, 'base64') }]))[0])
  } catch (error) {
    if (!isFault(error, 'record-too-large')) throw error
    failed(error)
    return 'later'
  }
}
