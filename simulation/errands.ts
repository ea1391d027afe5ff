import type { Ask } from '../projections/ask.ts'
import type { Item } from '../projections/item.ts'
import { projection, type Domain, type Get, type Result } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { Fault } from '../schemas/fault.ts'

type ErrandEvent<T extends string, D> = Event<T, D, never>
/** A shop sends somebody on an errand, or calls the errand off (`at: null`). `rest`: how often the errand is repeated. */
type ErrandSent = ErrandEvent<'ErrandSent', Pick<Ask, 'name' | 'at' | 'queue' | 'priority' | 'once'> & Sent>
interface Sent {
  readonly kind: 'look' | 'buy'
  readonly rest: number
}
/** The answer to an errand. `rest`: how often the errand is still repeated. */
type ErrandDone = ErrandEvent<'ErrandDone', { name: string; rest: number; found: number }>

type Errand = Item & { readonly sent: number; readonly done: number; readonly found: number }

const errandOf = ({ meta: { key } }: Event, name: string, get: Get): Errand => {
  const own = { PK: `SHOP#${key}`, SK: `ERRAND#${name}` }
  return get<Errand>(own) ?? { ...own, sent: 0, done: 0, found: 0 }
}

const seenOf = ({ meta: { key, eventId } }: Event) => ({ PK: `SHOP#${key}`, SK: `SEEN#${eventId}` })

const REPEAT_MS = 3_000

const errandSent = (event: ErrandSent, get: Get): Result => {
  const { name, at, kind, rest, ...ask } = event.data
  const seen = seenOf(event)
  if (get(seen)) return { duplicate: true }
  const errand = errandOf(event, name, get)
  const next: Ask = at === null ? { name, at } : { ...ask, name, at, kind, body: { rest } }
  return { items: [seen, { ...errand, sent: errand.sent + 1 }], asks: [next] }
}

const errandDone = (event: ErrandDone, get: Get): Result => {
  const { name, rest, found } = event.data
  const seen = seenOf(event)
  if (get(seen)) return { duplicate: true }
  const errand = errandOf(event, name, get)
  const at = rest > 0 ? event.meta.occurredAt + REPEAT_MS : null
  return {
    items: [seen, { ...errand, done: errand.done + 1, found: errand.found + found }],
    asks: [{ name, at, kind: 'look', body: { rest } }],
  }
}

/** Shops that send somebody on errands. Each errand is a call to the outside, and its answer is an event. */
export const errandsDomain: Domain = {
  name: 'errands',
  topic: 'errands.events',
  table: { name: 'errands', ttl: 'ttl', indexes: [] },
  partitions: { keyIn: (pk) => pk.slice('SHOP#'.length), example: 'SHOP#a' },
  foldVersion: 1,
  asks: { look: {}, buy: { changes: true } },
  projections: [projection<ErrandSent | ErrandDone>('errands', { ErrandSent: errandSent, ErrandDone: errandDone })],
}

/** Encodes an event as JSON, which is readable in a trace. */
export const errandsCodec: Codec = {
  encode: (event) => Buffer.from(JSON.stringify(event)),
  decode: (value) => {
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    if (!text.startsWith('{')) throw new Fault('bad-record', 'Not an event of the errands. Park it.')
    return JSON.parse(text) as Event
  },
}
