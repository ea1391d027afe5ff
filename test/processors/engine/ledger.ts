import type { Ask } from '../../../projections/ask.ts'
import type { Item, Key } from '../../../projections/item.ts'
import { projection, removed, type Domain, type Result } from '../../../projections/projection.ts'
import { decidersOf, type Decider, type LoggedEvent } from '../../../processors/engine/fold/decide.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { rowRulesOf } from '../../../processors/engine/outgoing/row-rules.ts'

// The domain of the engine tests: accounts that receive and pay amounts. It has refusals, removals, events
// that write many items, timers, asks, and derived events for other keys.
type Paid = Event<'Paid', { amount: number; id: string }>
type Moved = Event<'Moved', { to: string; amount: number }>
type Closed = Event<'Closed', object>
type Spread = Event<'Spread', { count: number; text?: string }>
type Broke = Event<'Broke', object>
type Reminded = Event<'Reminded', { at: number | null }>
type Named = Event<'Named', { name: string; at: number }>
type Asked = Event<'Asked', { asks: readonly Ask[] }>
type Answered = Event<'Answered', { name: string }>
export type LedgerEvent = Paid | Moved | Closed | Spread | Broke | Reminded | Named | Asked | Answered

type Account = Item & { readonly total: number }
export const accountKey = (key: string): Key => ({ PK: `ACCOUNT#${key}`, SK: 'TOTAL' })
export const paymentKey = (key: string, id: string): Key => ({ PK: `ACCOUNT#${key}`, SK: `PAID#${id}` })

export const ledger: Domain = {
  name: 'ledger',
  topic: 'ledger.events',
  table: { name: 'ledger', ttl: 'ttl', indexes: [] },
  partitions: { keyIn: (pk) => pk.slice(pk.indexOf('#') + 1), example: 'ACCOUNT#a' },
  foldVersion: 1,
  asks: { read: {}, write: { changes: true } },
  projections: [
    projection<LedgerEvent>('accounts', {
      Paid: ({ meta, data }, get): Result => {
        if (get(paymentKey(meta.key, data.id)) !== undefined) return { duplicate: true }
        const total = get<Account>(accountKey(meta.key))?.total ?? 0
        if (total + data.amount < 0) return { refusal: { code: 'overdrawn', detail: `There are ${total}.` } }
        return {
          items: [
            { ...accountKey(meta.key), total: total + data.amount },
            { ...paymentKey(meta.key, data.id), amount: data.amount },
          ],
        }
      },
      Moved: ({ meta, data }, get): Result => {
        const total = get<Account>(accountKey(meta.key))?.total ?? 0
        const event = { type: 'Paid', key: data.to, data: { amount: data.amount, id: meta.eventId } }
        return {
          items: [{ ...accountKey(meta.key), total: total - data.amount }],
          derived: [{ purpose: 'pay', event }],
        }
      },
      Closed: ({ meta }, get): Result => ({
        items:
          get(accountKey(meta.key)) === undefined
            ? []
            : [removed(accountKey(meta.key)), { PK: `ACCOUNT#${meta.key}`, SK: 'GONE#' }],
      }),
      Spread: ({ meta, data }): Result => ({
        items: Array.from({ length: data.count }, (_, index) => ({
          PK: `ACCOUNT#${meta.key}`,
          SK: `ROW#${index}`,
          text: data.text ?? '',
          by: meta.eventId,
        })),
      }),
      Broke: () => {
        throw new Error('this fold is broken')
      },
      Reminded: ({ meta, data }): Result => ({
        timers: [
          {
            name: 'remind',
            at: data.at,
            event: { type: 'Paid', key: meta.key, data: { amount: 1, id: `timer-${data.at}` } },
          },
        ],
      }),
      Named: ({ meta, data }): Result => ({
        timers: [
          { name: data.name, at: data.at, event: { type: 'Paid', key: meta.key, data: { amount: 1, id: data.name } } },
        ],
      }),
      Asked: ({ data }): Result => ({ asks: data.asks }),
      Answered: ({ data }): Result => ({ asks: [{ name: data.name, at: null }] }),
    }),
    projection<Paid>('activity', {
      Paid: ({ meta }, get): Result => {
        const key = { PK: `ACTIVITY#${meta.key}`, SK: 'COUNT' }
        return { items: [{ ...key, count: ((get<Item & { count: number }>(key)?.count ?? 0) as number) + 1 }] }
      },
    }),
  ],
}

/** A codec that uses JSON instead of Avro, for tests of other parts than codecs. */
export const jsonCodec: Codec = {
  encode: (event) => Buffer.from(JSON.stringify(event)),
  decode: (value) => JSON.parse(Buffer.from(value).toString()) as Event,
}

const deciders = decidersOf(ledger, { ...rowRulesOf(ledger, jsonCodec), outgoing: () => undefined })
export const accounts = deciders[0] as Decider
export const activity = deciders[1] as Decider

type Options = { readonly key?: string; readonly at?: number; readonly request?: { key: string; hash: string } }

export const eventOf = <T extends LedgerEvent['type']>(
  type: T,
  data: Extract<LedgerEvent, { type: T }>['data'],
  options: Options & { readonly id: string },
): Event => ({
  type,
  meta: {
    eventId: options.id,
    key: options.key ?? 'a',
    occurredAt: options.at ?? 1_000,
    recordedAt: options.at ?? 1_000,
    source: 'test',
    correlationId: null,
    causationId: null,
    actorId: options.key ?? 'a',
    subjectId: null,
    request: options.request ?? null,
  },
  data,
  personal: null,
})

/** Returns the events at consecutive offsets of partition 0, from `first` on. */
export const logRecords = (events: readonly Event[], first = 0): readonly LoggedEvent[] =>
  events.map((event, index) => ({ event, partition: 0, offset: first + index }))

export const paid = (amount: number, id: string, options: Options = {}): Event =>
  eventOf('Paid', { amount, id }, { id: `event-${id}`, ...options })
