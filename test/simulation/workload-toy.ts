import type { Event } from '../../schemas/event.ts'
import type { Random } from './random.ts'
import { toyCodec, toyDomain, UNREAD, type Release } from './toy.ts'
import { createSpeaker, dealt, EPOCH, type Said, type Workload } from './workload.ts'

/** Before the run, in the middle of it, behind what anybody waits for; and none. */
const ALARMS = [EPOCH - 1_000, EPOCH + 500, EPOCH + 2_000, EPOCH + 7_000, EPOCH + 20_000, EPOCH + 999 * 86_400_000, null]

const SHOPS = ['north', 'south', 'east', 'west']

/** Shops by the seed. */
export const toyWorkload = (random: Random, length: number): Workload => {
  const release: Release = { reads: true, solves: true }
  const speaker = createSpeaker(random)
  const puzzles = random.chance(0.3)
  if (puzzles) release.reads = release.solves = false
  const keys = SHOPS.slice(0, random.between(1, SHOPS.length))
  const events: Event[] = []
  for (let count = 0; count < length; count++) events.push(speaker.say(said(random, keys, puzzles)))
  // A burst of refusals: more markers than one commit holds, and nothing else to tell that they were applied.
  if (random.chance(0.05)) for (let count = 0; count < 130; count++) events.push(speaker.say({ type: 'CratesSent', key: random.pick(keys), data: { to: 'north', count: 9999 } }))
  const mends = [{ codes: [UNREAD], bring: () => { release.reads = true } }, { codes: [], bring: () => { release.solves = true } }]
  return { domain: toyDomain(release), codec: toyCodec(release), clients: dealt(random, { events, keys }), sends: true, users: [], ...(puzzles ? { mends } : {}) }
}

const said = (random: Random, keys: readonly string[], puzzles: boolean): Said => {
  const key = random.pick(keys)
  const draw = random.next()
  if (draw < 0.2) return { type: 'CratesBought', key, data: { count: random.between(1, 9) } }
  if (draw < 0.4) return { type: 'CratesSent', key, data: { to: random.pick(keys), count: random.between(1, 9) }, request: requestOf(random) }
  if (draw < 0.47) return { type: 'ShelvesFilled', key, data: { shelves: random.pick([3, 30, 60, 94, 95, 120]), mark: String(random.between(1, 6)) } }
  if (draw < 0.54) return { type: 'ShelvesCleared', key, data: {} }
  if (draw < 0.57 && puzzles) return { type: 'PuzzleFound', key, data: { size: 1 } }
  if (draw < 0.6 && puzzles) return { type: 'RiddleFound', key, data: { size: 1 } }
  if (draw < 0.6) return { type: 'NobodyFoldsThis', key, data: {} }
  if (draw < 0.68) return { type: 'AlarmSet', key, data: { name: random.pick(['tea', 'till']), at: random.pick(ALARMS) } }
  if (draw < 0.87) return { type: random.pick(['SignHung', 'SignTaken']), key, data: { sign: random.between(1, 6) } }
  return { type: 'DoorbellRang', key, data: {} }
}

/** Few keys, so that they meet: with the same body (a repeat) and with another (a mistake). */
export const requestOf = (random: Random) =>
  random.chance(0.3) ? { key: `k${random.between(1, 4)}`, hash: random.pick(['aa', 'aa', 'bb']) } : null
