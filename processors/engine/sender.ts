import type { Stored } from '../../projections/item.ts'
import { pages } from '../../projections/table.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import { derivedPartition, outboxPartition } from './keys.ts'
import type { Done, Ledger, Parcel } from './ledger.ts'
import type { Log } from './log.ts'
import type { OutboxRow } from './outbox.ts'
import { startPolling, type Polling, type PollingParts } from './polling.ts'
import type { Outgoing, Receivers } from './receivers.ts'
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
  readonly domain: string
  readonly log: Log
  readonly receivers: Receivers
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
  // What waits for its receiver holds up what comes after it under the same key, and nothing else.
  const waiting = new Set<string>()
  for await (const items of pages(store.reader(() => 0), { pk: outboxPartition(partition), limit: LIMIT })) {
    const rows = items as readonly Row[]
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
const remove = async ({ clock, ttl }: SenderParts, { store, partition }: Draining, row: Row, { position }: Done): Promise<void> => {
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
const sendInTurn = async (parts: SenderParts, row: Row, waiting: Set<string>): Promise<Done | undefined> => {
  const lane = `${row.kind}#${row.projection}#${row.cause}`
  if (waiting.has(lane)) return undefined
  try {
    const done = await parts.ledger.once(parcelOf(parts, row))
    if (done !== 'later') return done
  } catch (error) {
    // Without a log nothing goes out at all; a receiver that is away concerns its own effects only.
    if (row.kind === 'derived' || isFault(error, 'store-throttled') || isFault(error, 'store-unavailable')) throw error
    parts.failed(error)
  }
  waiting.add(lane)
  return undefined
}

const parcelOf = ({ domain, log, receivers }: SenderParts, row: Row): Parcel => {
  const about = { domain, key: row.cause, position: row.SK }
  if (row.kind === 'derived') {
    return {
      ...logParcel(row.id, { ...about, kind: 'derived' }),
      send: async () => (await log.append([{ key: row.key, value: Buffer.from(row.value, 'base64') }]))[0],
    }
  }
  const outgoing = { ...(JSON.parse(row.value) as Pick<Outgoing, 'kind' | 'body'>), id: row.id, key: row.cause }
  const receiver = receivers[outgoing.kind]
  return {
    id: row.id,
    about: { ...about, kind: outgoing.kind },
    tellsDuplicatesApart: receiver?.tellsDuplicatesApart ?? false,
    isFinal: (error) => error instanceof Fault && !error.retriable,
    send: async () => {
      if (receiver === undefined) throw noReceiver(outgoing)
      await receiver.send(outgoing)
      return undefined
    },
  }
}

/** Folds tell duplicates of events apart by natural key (law 8): an event may be appended again after a crash. */
export const logParcel = (id: string, about: Parcel['about']): Omit<Parcel, 'send'> => ({
  id,
  about,
  tellsDuplicatesApart: true,
  isFinal: (error) => isFault(error, 'record-too-large'),
})

const noReceiver = ({ kind, key }: Outgoing) =>
  new Fault('effect-without-receiver', `Nothing here receives effects of kind ${kind}; one of ${key} stays in the outbox. Start the program with what sends them.`, { retriable: true })
