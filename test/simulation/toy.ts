import type { Item } from '../../projections/item.ts'
import { projection, removed, type Domain, type Get, type Result } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'

/**
 * Shops that stock crates and send them to each other: a domain made to be hard on the engine. Two projections over one
 * event, refusals, events for other keys, alarms, removals, bursts above one commit, and an event that the code of the day cannot fold.
 */
type Said<T extends string, D> = Event<T, D, never>
export type CratesBought = Said<'CratesBought', { count: number }>
type CratesSent = Said<'CratesSent', { to: string; count: number }>
type CratesReceived = Said<'CratesReceived', { from: string; count: number }>
type ShelvesFilled = Said<'ShelvesFilled', { shelves: number; mark: string }>
type ShelvesCleared = Said<'ShelvesCleared', object>
export type DoorbellRang = Said<'DoorbellRang', object>
type PuzzleFound = Said<'PuzzleFound', { size: number }>
export type RiddleFound = Said<'RiddleFound', { size: number }>
type SignHung = Said<'SignHung', { sign: number }>
type SignTaken = Said<'SignTaken', { sign: number }>
type AlarmSet = Said<'AlarmSet', { name: string; at: number | null }>
type AlarmRang = Said<'AlarmRang', { name: string; at: number }>
export type ShopEvent = AlarmSet | AlarmRang | SignHung | SignTaken | CratesBought | CratesSent | CratesReceived | ShelvesFilled | ShelvesCleared | DoorbellRang | PuzzleFound | RiddleFound

type Stock = Item & { readonly crates: number; readonly receipts: number }
type Shelves = Item & { readonly count: number; readonly marks: readonly string[] }
type Bell = Item & { readonly rings: number; readonly bought: number; readonly lastAt: number }

const pk = (event: Event) => `SHOP#${event.meta.key}`
const stockOf = (event: Event, get: Get): Stock => get<Stock>({ PK: pk(event), SK: 'STOCK' }) ?? { PK: pk(event), SK: 'STOCK', crates: 0, receipts: 0 }
const shelf = (event: Event, number: number) => ({ PK: pk(event), SK: `SHELF#${String(number).padStart(3, '0')}` })

const stocked = (event: Event, get: Get, change: { count: number; receipt: string }): Result => {
  const receipt = { PK: pk(event), SK: `RECEIPT#${change.receipt}` }
  if (get(receipt)) return { duplicate: true }
  const stock = stockOf(event, get)
  return { items: [{ ...stock, crates: stock.crates + change.count, receipts: stock.receipts + 1 }, { ...receipt, count: change.count }] }
}

const sent = (event: CratesSent, get: Get): Result => {
  const { to, count } = event.data
  const stock = stockOf(event, get)
  if (stock.crates < count) return { refusal: { code: 'out-of-stock', detail: `${stock.crates} of ${count} crates` } }
  const result = stocked(event, get, { count: -count, receipt: event.meta.eventId })
  if (result.duplicate) return result
  return { ...result, derived: [{ purpose: 'receive', event: { type: 'CratesReceived', key: to, data: { from: event.meta.key, count } } }] }
}

const filled = (event: ShelvesFilled, get: Get): Result => {
  const key = { PK: pk(event), SK: 'SHELVES' }
  const was = get<Shelves>(key) ?? { ...key, count: 0, marks: [] }
  if (was.marks.includes(event.data.mark)) return { duplicate: true }
  const shelves = Array.from({ length: event.data.shelves }, (_, number) => ({ ...shelf(event, number), mark: event.data.mark }))
  // With the bell of the shop next door the full 95 become one too many.
  const derived = event.data.shelves === 94 ? [{ purpose: 'tell', event: { type: 'DoorbellRang', key: 'north', data: {} } }] : []
  return { derived, items: [{ ...was, count: Math.max(was.count, event.data.shelves), marks: [...was.marks, event.data.mark] }, ...shelves] }
}

const cleared = (event: ShelvesCleared, get: Get): Result => {
  const key = { PK: pk(event), SK: 'SHELVES' }
  const was = get<Shelves>(key)
  if (was === undefined || was.count === 0) return { refusal: { code: 'nothing-to-clear', detail: 'The shelves are empty.' } }
  const shelves = Array.from({ length: Math.min(was.count, 90) }, (_, number) => shelf(event, number))
  return { items: [{ ...was, count: 0 }, ...shelves.filter((one) => get(one) !== undefined).map(removed)] }
}

/** A sign is hung once and taken down once: hanging writes nothing but the sign itself, which is gone when it was taken. */
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

/** Set again it replaces what was set; the one that rings is gone, and may have been set anew meanwhile. */
const alarmSet = (event: AlarmSet, get: Get): Result => {
  const { meta, data } = event
  const seen = { PK: pk(event), SK: `SET#${meta.eventId}` }
  if (get(seen)) return { duplicate: true }
  return { items: [seen], timers: [{ name: data.name, at: data.at, ...(data.at === null ? {} : { event: { type: 'AlarmRang', key: meta.key, data } }) }] }
}

const alarmRang = (event: AlarmRang, get: Get): Result => {
  const { name, at } = event.data
  const seen = { PK: pk(event), SK: `RANG#${event.meta.eventId}` }
  if (get(seen)) return { duplicate: true }
  const key = { PK: pk(event), SK: `ALARM#${name}` }
  const was = get<Rung>(key) ?? { ...key, times: 0, late: 0 }
  return { items: [{ ...was, times: was.times + 1, late: Math.max(was.late, at) }, seen], timers: [{ name, at: null }] }
}

const rang = (event: CratesBought | DoorbellRang | RiddleFound, get: Get): Result => {
  const key = { PK: pk(event), SK: 'BELL' }
  const was = get<Bell>(key) ?? { ...key, rings: 0, bought: 0, lastAt: 0 }
  const bought = event.type === 'CratesBought' ? event.data.count : 0
  return { items: [{ ...was, rings: was.rings + 1, bought: was.bought + bought, lastAt: event.meta.occurredAt }] }
}

/** The code of the day. A later release reads riddles, and a later one folds puzzles. */
export interface Release {
  reads: boolean
  solves: boolean
}

export const toyDomain = (release: Release): Domain => ({
  name: 'shops',
  topic: 'shops.events',
  table: { name: 'shops', ttl: 'ttl', indexes: [] },
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
        if (!release.solves) throw new Error('this release cannot fold puzzles')
        return stocked(event, get, { count: 0, receipt: event.meta.eventId })
      },
    }),
    projection<CratesBought | DoorbellRang | RiddleFound>('bell', { CratesBought: rang, DoorbellRang: rang, RiddleFound: rang }),
  ],
})

export const UNREAD = 'unread-riddle'
const RIDDLE = '?'

/** Plain JSON behind one byte: the real codec is exercised by meals, and this one is easy to read in a trace. A riddle has a byte of its own. */
export const toyCodec = (release: Release): Codec => ({
  encode: (event) => Buffer.from(`${event.type === 'RiddleFound' ? RIDDLE : '!'}${JSON.stringify(event)}`),
  decode: (value) => {
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    if (text.startsWith(RIDDLE) && !release.reads) throw new Fault(UNREAD, 'This release cannot read riddles. Park it.')
    if (!text.startsWith('!') && !text.startsWith(RIDDLE)) throw new Fault('bad-record', 'Not an event of the toy domain. Park it.')
    return JSON.parse(text.slice(1)) as Event
  },
})
