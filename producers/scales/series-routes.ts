import { sumOf } from '../../projections/bins.ts'
import { isoOf } from '../../projections/instant.ts'
import { seriesQuestions, type SeriesQuestions } from '../../projections/scales/series-questions.ts'
import type { Range } from '../../projections/scales/series-stretches.ts'
import { mistake, Problem } from '../http/problem.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { integer, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'
import { kegOf, queriesOf, tapOf } from './params.ts'
import { instantsOf, instantsQuery } from './pour-routes.ts'
import { atLocation, locOf } from './rights.ts'

/** The series' own generation answers; it follows the log by itself, a little behind or ahead of the rest. */
const asking = ({ caller: { series } }: Pick<Call, 'caller'>): SeriesQuestions => {
  if (series === undefined) throw new Problem(503, 'series-absent', 'No series are kept here: start the domain scales-series.')
  return seriesQuestions(series)
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS, y: 365 * DAY_MS }

const rangeQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { ...instantsQuery, range: { type: 'string', pattern: '^[1-9][0-9]{0,3}[hdwy]$', description: 'The last hours, days, weeks or years, such as 24h, 7d, 4w or 1y.' } },
} as const

interface RangeQuery {
  readonly from?: string
  readonly to?: string
  readonly range?: string
}

/** The last of a range, or between two instants, both inclusive. */
const rangeOf = (query: RangeQuery, now: number, usual: number): Range => {
  if (query.range === undefined && (query.from !== undefined || query.to !== undefined)) {
    const { from, to } = instantsOf(query, now)
    return { from, to: to + 1 }
  }
  if (query.from !== undefined || query.to !== undefined) throw mistake(400, { pointer: 'querystring/range', code: 'bad-range', detail: 'Give querystring/range or querystring/from and querystring/to, not both.' })
  const ms = query.range === undefined ? usual : Number(query.range.slice(0, -1)) * (UNITS[query.range.slice(-1)] ?? 0)
  return { from: Math.max(0, now - ms), to: now + 1 }
}

const listed = (properties: Readonly<Record<string, object>>) => ({ type: 'array', items: { type: 'object', required: Object.keys(properties), properties } })
const answered = (properties: Readonly<Record<string, object>>) => ({ type: 'object', required: Object.keys(properties), properties })
const unseen = { ...number, description: 'Gallons that left while the scale was silent. They are not part of any pour.' } as const
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoOf(ms))

const history = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap/history',
  operationId: 'getTapHistory',
  summary: 'The level and the battery of the keg that is on the tap, in bins that fit the range (default: 24h).',
  query: rangeQuery,
  result: answered({ tap_id: text, keg_id: textOrNull, from: text, to: text, bin_secs: integer, data: listed({ t: text, level_pct: number }), battery_data: listed({ t: text, battery_pct: number }) }),
  answer: async (call) => {
    const range = rangeOf(call.query, call.now, DAY_MS)
    const found = await asking(call).history(locOf(call), tapOf(call), range)
    if (found === undefined) throw tapOf.missing(tapOf(call))
    return {
      ...found, from: isoOf(range.from), to: isoOf(range.to - 1),
      data: found.data.map(({ t, level_pct }) => ({ t: isoOf(t), level_pct })),
      battery_data: found.battery_data.map(({ t, battery_pct }) => ({ t: isoOf(t), battery_pct })),
    }
  },
})

const rate = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap/rate',
  operationId: 'getPourRate',
  summary: 'How fast the keg on the tap is poured, over the location\'s window, and for how long it lasts.',
  result: answered({ tap_id: text, keg_id: textOrNull, window_hours: number, observed_hours: number, poured_gallons: number, unseen_gallons: unseen, gallons_per_hour: numberOrNull, gallons_left: numberOrNull, hours_remaining: numberOrNull }),
  answer: async (call) => {
    const found = await asking(call).rate(locOf(call), tapOf(call), call.now)
    if (found === undefined) throw tapOf.missing(tapOf(call))
    return found
  },
})

const lifespan = question({
  method: 'GET',
  url: '/v1/locations/:loc/kegs/:keg/lifespan',
  operationId: 'getKegLifespan',
  summary: 'How long a keg lasted, and how much beer left it.',
  result: answered({ keg_id: text, tap_id: text, beer_id: text, tapped_at: text, finished_at: textOrNull, last_reading: textOrNull, total_poured_gallons: { ...number, description: 'Everything that left the keg: its pours and unseen_gallons.' }, unseen_gallons: unseen, lifespan_hours: numberOrNull }),
  answer: async (call) => {
    const keg = kegOf(call)
    const found = await asking(call).lifespan(locOf(call), keg, call.now)
    if (found === undefined) throw kegOf.missing(keg)
    return { ...found, tapped_at: isoOf(found.tapped_at), finished_at: isoOrNull(found.finished_at), last_reading: isoOrNull(found.last_reading) }
  },
})

const byHour = question({
  method: 'GET',
  url: '/v1/locations/:loc/pours/by-hour',
  operationId: 'getPoursByHour',
  summary: 'Gallons poured by the hour of the location\'s own day (default: 30d); legacy: the average level by UTC hour.',
  query: { ...rangeQuery, properties: { ...rangeQuery.properties, legacy: { type: 'string', enum: ['true'] } } },
  result: { type: 'object', required: ['timezone', 'hours'], properties: { timezone: text, unseen_gallons: unseen, hours: { type: 'array', items: { type: 'object', required: ['hour_of_day'], properties: { hour_of_day: integer, gallons: number, pours: integer, avg_gallons: number } } } } },
  answer: async (call) => {
    const range = rangeOf(call.query, call.now, 30 * DAY_MS)
    const [questions, loc] = [asking(call), locOf(call)]
    return call.query.legacy === undefined ? questions.poursByHour(loc, range) : { timezone: 'UTC', hours: await questions.levelByHour(loc, range) }
  },
})

const battery = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/battery',
  operationId: 'getBatteryTrend',
  summary: 'The battery of each device by UTC day (default: 7d).',
  query: rangeQuery,
  result: answered({ items: listed({ day: text, device_id: text, avg_battery_pct: number, min_battery_pct: number }) }),
  answer: async (call) => {
    const found = await asking(call).batteryTrend(locOf(call), rangeOf(call.query, call.now, 7 * DAY_MS))
    return { items: found.map(({ day, ...rest }) => ({ day: isoOf(day).slice(0, 10), ...rest })) }
  },
})

const styles = question({
  method: 'GET',
  url: '/v1/locations/:loc/styles',
  operationId: 'getStyles',
  summary: 'Gallons poured of each style of beer (default: 30d), largest first.',
  query: rangeQuery,
  result: answered({ items: listed({ style: textOrNull, gallons: number, share: number }) }),
  answer: async (call) => {
    const loc = locOf(call)
    const pours = await asking(call).poursByBeer(loc, rangeOf(call.query, call.now, 30 * DAY_MS))
    const { beerFor } = queriesOf(call)
    const styled = await Promise.all(pours.map(async ({ beer_id, gallons }) => ({ gallons, style: (await beerFor(loc, beer_id))?.style ?? null })))
    const byStyle = new Map<string | null, number[]>()
    for (const { style, gallons } of styled) byStyle.set(style, [...(byStyle.get(style) ?? []), gallons])
    const total = sumOf(styled.map(({ gallons }) => gallons))
    return { items: [...byStyle].map(([style, poured]) => ({ style, gallons: sumOf(poured), share: sumOf(poured) / total })).sort((a, b) => b.gallons - a.gallons) }
  },
})

/** What the series tell (S57–S62). */
export const seriesRoutes: readonly Route[] = atLocation([history, rate, lifespan, byHour, battery, styles].map((route) => ({ ...route, ofSeries: true })))
