import type { Event } from '../schemas/event.ts'
import type { Random } from './random.ts'
import { toyCodec, toyDomain, UNREAD, type Release } from './toy.ts'
import { createEventFactory, assignToClients, EPOCH, type EventDraft, type Workload } from './workload.ts'

/** Due times for timers: before the run, during the run, and after every run. Null cancels the timer. */
const ALARMS = [
  EPOCH - 1_000,
  EPOCH + 500,
  EPOCH + 2_000,
  EPOCH + 7_000,
  EPOCH + 20_000,
  EPOCH + 999 * 86_400_000,
  null,
]

const SHOPS = ['north', 'south', 'east', 'west']

/** Returns the workload of the toy domain: events for one to four shops. */
export const toyWorkload = (random: Random, length: number): Workload => {
  const release: Release = { canReadRiddles: true, canFoldPuzzles: true }
  const factory = createEventFactory(random)
  const hasPuzzles = random.chance(0.3)
  if (hasPuzzles) release.canReadRiddles = release.canFoldPuzzles = false
  const keys = SHOPS.slice(0, random.between(1, SHOPS.length))
  const events: Event[] = []
  for (let count = 0; count < length; count++) events.push(factory.create(drawEvent(random, keys, hasPuzzles)))
  // Adds 130 events that are refused. Their outcome rows do not fit into one commit, and only these rows show that the events were folded.
  if (random.chance(0.05))
    for (let count = 0; count < 130; count++)
      events.push(factory.create({ type: 'CratesSent', key: random.pick(keys), data: { to: 'north', count: 9999 } }))
  const releases = [
    {
      codes: [UNREAD],
      deploy: () => {
        release.canReadRiddles = true
      },
    },
    {
      codes: [],
      deploy: () => {
        release.canFoldPuzzles = true
      },
    },
  ]
  return {
    domain: toyDomain(release),
    codec: toyCodec(release),
    clients: assignToClients(random, { events, keys }),
    hasOutgoingEvents: true,
    users: [],
    ...(hasPuzzles ? { releases } : {}),
  }
}

const drawEvent = (random: Random, keys: readonly string[], hasPuzzles: boolean): EventDraft => {
  const key = random.pick(keys)
  const draw = random.next()
  if (draw < 0.2) return { type: 'CratesBought', key, data: { count: random.between(1, 9) } }
  if (draw < 0.4)
    return {
      type: 'CratesSent',
      key,
      data: { to: random.pick(keys), count: random.between(1, 9) },
      request: requestOf(random),
    }
  if (draw < 0.47)
    return {
      type: 'ShelvesFilled',
      key,
      data: { shelves: random.pick([3, 30, 60, 94, 95, 120]), mark: String(random.between(1, 6)) },
    }
  if (draw < 0.54) return { type: 'ShelvesCleared', key, data: {} }
  if (draw < 0.57 && hasPuzzles) return { type: 'PuzzleFound', key, data: { size: 1 } }
  if (draw < 0.6 && hasPuzzles) return { type: 'RiddleFound', key, data: { size: 1 } }
  if (draw < 0.6) return { type: 'NobodyFoldsThis', key, data: {} }
  if (draw < 0.68)
    return { type: 'AlarmSet', key, data: { name: random.pick(['tea', 'till']), at: random.pick(ALARMS) } }
  if (draw < 0.87) return { type: random.pick(['SignHung', 'SignTaken']), key, data: { sign: random.between(1, 6) } }
  return { type: 'DoorbellRang', key, data: {} }
}

/**
 * Returns one of a few idempotency keys, so that some requests repeat a key with the same body or with another body. Null: the request has no
 * idempotency key.
 */
export const requestOf = (random: Random) =>
  random.chance(0.3) ? { key: `k${random.between(1, 4)}`, hash: random.pick(['aa', 'aa', 'bb']) } : null
