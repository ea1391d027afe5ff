import type { Item } from '../projections/item.ts'
import { projection, removed, type Domain, type Get, type Result } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { Fault } from '../schemas/fault.ts'

type ToyEvent<T extends string, D> = Event<T, D, never>
export type CratesBought = ToyEvent<'CratesBought', { count: number }>
type CratesSent = ToyEvent<'CratesSent', { to: string; count: number }>
type CratesReceived = ToyEvent<'CratesReceived', { from: string; count: number }>
type ShelvesFilled = ToyEvent<'ShelvesFilled', { shelves: number; mark: string }>
type ShelvesCleared = ToyEvent<'ShelvesCleared', object>
export type DoorbellRang = ToyEvent<'DoorbellRang', object>
type PuzzleFound = ToyEvent<'PuzzleFound', { size: number }>
export type RiddleFound = ToyEvent<'RiddleFound', { size: number }>
type SignHung = ToyEvent<'SignHung', { sign: number }>
type SignTaken = ToyEvent<'SignTaken', { sign: number }>
type AlarmSet = ToyEvent<'AlarmSet', { name: string; at: number | null }>
type AlarmRang = ToyEvent<'AlarmRang', { name: string; at: number }>
export type ShopEvent =
  | AlarmSet
  | AlarmRang
  | SignHung
  | SignTaken
  | CratesBought
  | CratesSent
  | CratesReceived
  | ShelvesFilled
  | ShelvesCleared
  | DoorbellRang
  | PuzzleFound
  | RiddleFound

type Stock = Item & { readonly crates: number; readonly receipts: number }
type Shelves = Item & { readonly count: number; readonly marks: readonly string[] }
type Bell = Item & { readonly rings: number; readonly bought: number; readonly lastAt: number }

const pk = (event: Event) => `SHOP#${event.meta.key}`
const stockOf = (event: Event, get: Get): Stock =>
  get<Stock>({ PK: pk(event), SK: 'STOCK' }) ?? { PK: pk(event), SK: 'STOCK', crates: 0, receipts: 0 }
const shelf = (event: Event, number: number) => ({ PK: pk(event), SK: `SHELF#${String(number).padStart(3, '0')}` })

const stocked = (event: Event, get: Get, change: { count: number; receipt: string }): Result => {
  const receipt = { PK: pk(event), SK: `RECEIPT#${change.receipt}` }
  if (get(receipt)) return { duplicate: true }
  const stock = stockOf(event, get)
  return {
    items: [
      { ...stock, crates: stock.crates + change.count, receipts: stock.receipts + 1 },
      { ...receipt, count: change.count },
    ],
  }
}

const sent = (event: CratesSent, get: Get): Result => {
  const { to, count } = event.data
  const stock = stockOf(event, get)
  if (stock.crates < count) return { refusal: { code: 'out-of-stock', detail: `${stock.crates} of ${count} crates` } }
  const result = stocked(event, get, { count: -count, receipt: event.meta.eventId })
  if (result.duplicate) return result
  return {
    ...result,
    derived: [
      { purpose: 'receive', event: { type: 'CratesReceived', key: to, data: { from: event.meta.key, count } } },
    ],
  }
}

const filled = (event: ShelvesFilled, get: Get): Result => {
  const key = { PK: pk(event), SK: 'SHELVES' }
  const before = get<Shelves>(key) ?? { ...key, count: 0, marks: [] }
  if (before.marks.includes(event.data.mark)) return { duplicate: true }
  const shelves = Array.from({ length: event.data.shelves }, (_, number) => ({
    ...shelf(event, number),
    mark: event.data.mark,
  }))
  // 94 shelves, the counter and this derived event are 96 changes: one more than an event can have.
  const derived =
    event.data.shelves === 94 ? [{ purpose: 'ring', event: { type: 'DoorbellRang', key: 'north', data: {} } }] : []
  return {
    derived,
    items: [
      { ...before, count: Math.max(before.count, event.data.shelves), marks: [...before.marks, event.data.mark] },
      ...shelves,
    ],
  }
}

const cleared = (event: ShelvesCleared, get: Get): Result => {
  const key = { PK: pk(event), SK: 'SHELVES' }
  const before = get<Shelves>(key)
  if (before === undefined || before.count === 0)
    return { refusal: { code: 'nothing-to-clear', detail: 'The shelves are empty.' } }
  const shelves = Array.from({ length: Math.min(before.count, 90) }, (_, number) => shelf(event, number))
  return { items: [{ ...before, count: 0 }, ...shelves.filter((key) => get(key) !== undefined).map(removed)] }
}

/** `SignHung` writes only the sign, and `SignTaken` removes it. A `GONE#` item marks the removal, so a redelivered event changes nothing. */
const hung = (event: SignHung, get: Get): Result => {
  const sign = { PK: pk(event), SK: `SIGN#${event.data.sign}` }
  const gone = get({ PK: pk(event), SK: `GONE#SIGN#${event.data.sign}` })
  return get(sign) || gone ? { duplicate: true } : { items: [{ ...sign, at: event.meta.occurredAt }] }
}

const taken = (event: SignTaken, get: Get): Result => {
  const sign = get({ PK: pk(event), SK: `SIGN#${event.data.sign}` })
  if (sign === undefined) return { refusal: { code: 'no-such-sign', detail: `Sign ${event.data.sign} does not hang.` } }
  return { items: [removed(sign), { PK: pk(event), SK: `GONE#SIGN#${event.data.sign}` }] }
}

type Rung = Item & { readonly times: number; readonly late: number }

/** Sets the timer of this name, and replaces an earlier timer of the same name. If `at` is null, cancels the timer. */
const alarmSet = (event: AlarmSet, get: Get): Result => {
  const { meta, data } = event
  const seen = { PK: pk(event), SK: `SET#${meta.eventId}` }
  if (get(seen)) return { duplicate: true }
  return {
    items: [seen],
    timers: [
      {
        name: data.name,
        at: data.at,
        ...(data.at === null ? {} : { event: { type: 'AlarmRang', key: meta.key, data } }),
      },
    ],
  }
}

const alarmRang = (event: AlarmRang, get: Get): Result => {
  const { name, at } = event.data
  const seen = { PK: pk(event), SK: `RANG#${event.meta.eventId}` }
  if (get(seen)) return { duplicate: true }
  const key = { PK: pk(event), SK: `ALARM#${name}` }
  const before = get<Rung>(key) ?? { ...key, times: 0, late: 0 }
  return {
    items: [{ ...before, times: before.times + 1, late: Math.max(before.late, at) }, seen],
    timers: [{ name, at: null }],
  }
}

const rang = (event: CratesBought | DoorbellRang | RiddleFound, get: Get): Result => {
  const key = { PK: pk(event), SK: 'BELL' }
  const before = get<Bell>(key) ?? { ...key, rings: 0, bought: 0, lastAt: 0 }
  const bought = event.type === 'CratesBought' ? event.data.count : 0
  return {
    items: [{ ...before, rings: before.rings + 1, bought: before.bought + bought, lastAt: event.meta.occurredAt }],
  }
}

/** The abilities of the deployed code. In a run with several releases, both are false at first and later releases set them to true. */
export interface Release {
  canReadRiddles: boolean
  canFoldPuzzles: boolean
}

/**
 * Shops that stock crates and send crates to each other. The domain uses every feature of the engine: two projections over one event,
 * refusals, derived events, timers, removals, events with more changes than fit into one commit, an event that the first release cannot
 * decode (`RiddleFound`), and an event that the first release cannot fold (`PuzzleFound`).
 */
export const toyDomain = (release: Release): Domain => ({
  name: 'shops',
  topic: 'shops.events',
  table: { name: 'shops', ttl: 'ttl', indexes: [] },
  partitions: { keyIn: (pk) => pk.slice('SHOP#'.length), example: 'SHOP#a' },
  foldVersion: 1,
  projections: [
    projection<Exclude<ShopEvent, DoorbellRang>>('stock', {
      CratesBought: (event, get) => stocked(event, get, { count: event.data.count, receipt: event.meta.eventId }),
      CratesReceived: (event, get) => stocked(event, get, { count: event.data.count, receipt: event.meta.eventId }),
      CratesSent: sent,
      ShelvesFilled: filled,
      ShelvesCleared: cleared,
      SignHung: hung,
      SignTaken: taken,
      AlarmSet: alarmSet,
      AlarmRang: alarmRang,
      RiddleFound: (event, get) => stocked(event, get, { count: 0, receipt: event.meta.eventId }),
      PuzzleFound: (event, get) => {
        if (!release.canFoldPuzzles) throw new Error('this release cannot fold puzzles')
        return stocked(event, get, { count: 0, receipt: event.meta.eventId })
      },
    }),
    projection<CratesBought | DoorbellRang | RiddleFound>('bell', {
      CratesBought: rang,
      DoorbellRang: rang,
      RiddleFound: rang,
    }),
  ],
})

export const UNREAD = 'unread-riddle'
const RIDDLE = '?'

/**
 * Encodes an event as one byte and JSON, which is readable in a trace. The byte is `?` for riddles and `!` for all other events. The other
 * simulated domains use the Avro codec.
 */
export const toyCodec = (release: Release): Codec => ({
  encode: (event) => Buffer.from(`${event.type === 'RiddleFound' ? RIDDLE : '!'}${JSON.stringify(event)}`),
  decode: (value) => {
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    if (text.startsWith(RIDDLE) && !release.canReadRiddles)
      throw new Fault(UNREAD, 'This release cannot read riddles. Park it.')
    if (!text.startsWith('!') && !text.startsWith(RIDDLE))
      throw new Fault('bad-record', 'Not an event of the toy domain. Park it.')
    return JSON.parse(text.slice(1)) as Event
  },
})
