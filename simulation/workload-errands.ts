import type { AskCall, AskResult } from '../projections/ask.ts'
import type { Event } from '../schemas/event.ts'
import { errandsCodec, errandsDomain } from './errands.ts'
import type { Random } from './random.ts'
import { assignToClients, createEventFactory, EPOCH, type EventDraft, type Workload } from './workload.ts'

/** Due times of errands: before the run, during the run, and after every run. Null calls the errand off. */
const TIMES = [EPOCH - 1_000, EPOCH - 1_000, EPOCH + 500, EPOCH + 7_000, EPOCH + 25_000, EPOCH + 999 * 86_400_000, null]
const SHOPS = ['north', 'south', 'east']

/** Returns the workload of the errands: events of one to three shops, each of which arms or withdraws an ask. */
export const errandsWorkload = (random: Random, length: number): Workload => {
  const factory = createEventFactory(random)
  const keys = SHOPS.slice(0, random.between(1, SHOPS.length))
  const events: Event[] = []
  for (let count = 0; count < length; count += 1) events.push(factory.create(errandSent(random, keys)))
  return {
    domain: errandsDomain,
    codec: errandsCodec,
    clients: assignToClients(random, { events, keys }),
    hasOutgoingEvents: false,
    answers: { look: answerTo, buy: answerTo },
    users: [],
  }
}

/** A repeated call finds another number. One answer in five contains its event twice, with one id or with two ids. */
const answerTo = ({ id, name, body }: AskCall, random: Random): AskResult => {
  const { rest } = body as { readonly rest: number }
  const event = { type: 'ErrandDone', data: { name, rest: rest - 1, found: random.between(1, 9) } }
  if (!random.chance(0.2)) return { events: [event] }
  return random.chance(0.5)
    ? { events: [event, event] }
    : { events: [{ ...event, eventId: `${id}!` }, { ...event, eventId: `${id}!` }] } // prettier-ignore
}

const errandSent = (random: Random, keys: readonly string[]): EventDraft => ({
  type: 'ErrandSent',
  key: random.pick(keys),
  data: {
    name: random.pick(['bread', 'paint', 'rope', 'salt']),
    at: random.pick(TIMES),
    kind: random.pick(['look', 'look', 'buy']),
    rest: random.pick([0, 0, 1, 2]),
    ...(random.chance(0.3) && { queue: 'harbour' }),
    ...(random.chance(0.3) && { priority: random.between(0, 9) }),
    ...(random.chance(0.2) && { once: true }),
  },
})
