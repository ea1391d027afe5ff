import { isoOf } from '../../projections/instant.ts'
import { KEG_TYPES } from '../../projections/scales/keg-types.ts'
import { createRandom, type Random } from '../demo/random.ts'

/** A message of a scale, or a request of the bar's staff. */
export type BarStep =
  | { readonly kind: 'message'; readonly device: string; messageAt(now: number): ReadingMessage }
  | { readonly kind: 'status'; readonly device: string; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'keg'
      readonly tap: string
      readonly body: { readonly beer_id: string; readonly keg_type: string; readonly tapped_at: string }
    }

interface ReadingMessage {
  readonly v: 1
  readonly boot: string
  readonly sent_uptime_ms: number
  readonly dropped: number
  readonly events: readonly {
    readonly seq: number
    readonly type: 'reading'
    readonly age_ms: number
    readonly data: Readonly<Record<string, unknown>>
  }[]
}

export interface Bar {
  readonly seed: number
  /** The ids of the scales, in the order of their taps: 01, 02, … */
  readonly devices: readonly string[]
  /** The time of the last reading, in epoch milliseconds. */
  readonly now: number
  /** The duration of the traffic in simulated time. */
  readonly minutes: number
}

interface Beer {
  readonly beer_id: string
  readonly name: string
  readonly style: string
  readonly specific_gravity: number
}

/** The beers of the library (S47). */
export const BEERS: readonly [Beer, ...Beer[]] = [
  { beer_id: 'coors-light', name: 'Coors Light', style: 'Light Lager', specific_gravity: 1.007 },
  { beer_id: 'modelo', name: 'Modelo', style: 'Lager', specific_gravity: 1.01 },
  { beer_id: 'sierra-nevada', name: 'Sierra Nevada Pale Ale', style: 'Pale Ale', specific_gravity: 1.012 },
  { beer_id: 'lagunitas', name: 'Lagunitas IPA', style: 'IPA', specific_gravity: 1.013 },
  { beer_id: 'guinness-draught', name: 'Guinness Draught', style: 'Stout', specific_gravity: 1.014 },
]

export const tapOf = (index: number): string => String(index + 1).padStart(2, '0')

const MINUTE = 60_000
const KEG = KEG_TYPES['half_barrel'] ?? { gallons: 15.5, full_lbs: 161.5, empty_lbs: 29 }
/** A pint weighs about a pound. */
const PINT_LBS = 1.05
const MOST_EVENTS = 16
/** The weight of the beer in the first keg at the start. It is small, so that even short traffic contains a keg swap. */
const LEFT_LBS = 6

interface Scale {
  readonly device: string
  readonly tap: string
  readonly boot: string
  beer_id: string | null
  /** The weight without noise and drift. */
  weight: number
  battery: number
  /** The percent that the battery loses per reading. It is high for the second last scale, so that its battery runs empty. */
  readonly drain: number
  seq: number
  pints: number
  /** Readings that the scale has not sent yet. */
  readonly buffered: { readonly seq: number; readonly at: number; readonly data: Readonly<Record<string, unknown>> }[]
}

/**
 * The traffic of a bar in the order of time, from a seed. It contains more pours in the evening, noise, temperature drift, kegs that run empty
 * and are swapped, a battery that runs empty, and a time of up to an hour in which one scale is offline and buffers its readings.
 */
export function* barTraffic({ seed, devices, now, minutes }: Bar): Generator<BarStep> {
  const random = createRandom(seed)
  const begun = now - minutes * MINUTE
  const scales = devices.map((device, index) => newScale(device, index, { random, seed, last: devices.length - 2 }))
  const offline = {
    from: Math.floor(minutes * 0.4),
    to: Math.floor(minutes * 0.4) + Math.min(60, Math.ceil(minutes / 4)),
  }
  for (const scale of scales) yield tapNewKeg(scale, beerFor(scale, scales, random), begun)
  if (scales[0] !== undefined) scales[0].weight = KEG.empty_lbs + LEFT_LBS
  for (let minute = 1; minute <= minutes; minute += 1) {
    const at = begun + minute * MINUTE
    for (const scale of scales) {
      if (scale.battery <= 0) continue
      pour(scale, random, at)
      if (scale.weight - KEG.empty_lbs < 3) yield tapNewKeg(scale, beerFor(scale, scales, random), at)
      scale.buffered.push({ seq: (scale.seq += 1), at, data: readingOf(scale, random, at) })
      if (scale === scales[1] && minute >= offline.from && minute < offline.to) continue
      yield* sendBuffered(scale)
    }
  }
  // A status message gets the time of its receipt, so it is sent after all readings.
  for (const { device, boot, battery } of scales)
    if (battery > 0) yield { kind: 'status', device, body: { online: true, boot, fw: '2.4.1' } }
}

const newScale = (
  device: string,
  index: number,
  { random, seed, last }: { random: Random; seed: number; last: number },
): Scale => ({
  device,
  tap: tapOf(index),
  boot: `b${seed.toString(36)}-${random.whole(0, 1e9).toString(36)}`,
  beer_id: null,
  weight: KEG.full_lbs,
  battery: index === last ? 24 : random.whole(60, 100),
  drain: index === last ? 0.4 : 0.002,
  seq: 0,
  pints: 0,
  buffered: [],
})

/** A beer that is on no other tap. If every beer is on a tap, any beer. */
const beerFor = (scale: Scale, scales: readonly Scale[], random: Random): string => {
  const [first, ...rest] = BEERS.filter(
    ({ beer_id }) => !scales.some((other) => other !== scale && other.beer_id === beer_id),
  )
  return random.pick(first === undefined ? BEERS : [first, ...rest]).beer_id
}

const tapNewKeg = (scale: Scale, beer_id: string, at: number): BarStep => {
  scale.beer_id = beer_id
  scale.weight = KEG.full_lbs
  scale.pints = 0
  return { kind: 'keg', tap: scale.tap, body: { beer_id, keg_type: 'half_barrel', tapped_at: isoOf(at) } }
}

/** True in the hours with the most pours. */
const isEvening = (at: number): boolean => Math.floor(at / (60 * MINUTE)) % 24 >= 16

const pour = (scale: Scale, random: Random, at: number): void => {
  if (scale.pints === 0 && random.chance(isEvening(at) ? 0.3 : 0.06)) scale.pints = random.whole(1, 3)
  if (scale.pints === 0) return
  scale.pints -= 1
  scale.weight -= PINT_LBS * (0.85 + random.next() * 0.3)
}

const DAY = 24 * 60 * MINUTE

const readingOf = (scale: Scale, random: Random, at: number): Readonly<Record<string, unknown>> => {
  const drift = 0.15 * Math.sin((2 * Math.PI * at) / DAY)
  const weight = scale.weight + drift + (random.next() - 0.5) * 0.06
  scale.battery -= scale.drain
  return {
    weight_lbs: rounded(weight),
    level_pct: rounded((100 * (weight - KEG.empty_lbs)) / (KEG.full_lbs - KEG.empty_lbs)),
    battery_pct: rounded(Math.max(0, scale.battery)),
    battery_v: rounded(3.2 + Math.max(0, scale.battery) / 100),
    tare_status: 'tared',
  }
}

const rounded = (value: number): number => Math.round(value * 100) / 100

/** Sends all buffered readings. A scale has no clock, so a message contains the age of each reading when it is sent. */
function* sendBuffered({ device, boot, seq: sent, buffered }: Scale): Generator<BarStep> {
  while (buffered.length > 0) {
    const some = buffered.splice(0, MOST_EVENTS)
    const eventsAt = (now: number) =>
      some.map(({ seq, at, data }) => ({ seq, type: 'reading' as const, age_ms: Math.max(0, now - at), data }))
    yield {
      kind: 'message',
      device,
      messageAt: (now) => ({ v: 1, boot, sent_uptime_ms: sent * MINUTE, dropped: 0, events: eventsAt(now) }),
    }
  }
}
