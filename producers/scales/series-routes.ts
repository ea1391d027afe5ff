import { sumOf } from '../../projections/bins.ts'
import { isoOf } from '../../projections/instant.ts'
import { seriesQueries, type SeriesQueries } from '../../projections/scales/series-queries.ts'
import type { Range } from '../../projections/scales/series-stretches.ts'
import { mistake, Problem } from '../http/problem.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { integer, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'
import { kegOf, queriesOf, tapOf } from './params.ts'
import { instantsOf, instantsQuery } from './pour-routes.ts'
import { atLocation, locOf } from './rights.ts'

/** Returns the queries of the series. The series have their own generation, which can be slightly behind or ahead of the items. */
const seriesOf = ({ caller: { series } }: Pick<Call, 'caller'>): SeriesQueries => {
  if (series === undefined)
    throw new Problem(
      503,
      'series-absent',
      'This server does not have the time series. Start the domain scales-series.',
    )
  return seriesQueries(series)
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS, y: 365 * DAY_MS }

const rangeQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...instantsQuery,
    range: {
      type: 'string',
      pattern: '^[1-9][0-9]{0,3}[hdwy]$',
      description: 'The last hours, days, weeks or years, such as 24h, 7d, 4w or 1y.',
    },
  },
} as const

interface RangeQuery {
  readonly from?: string
  readonly to?: string
  readonly range?: string
}

/** Returns the requested time range: the last `range`, or from `from` to `to`, both inclusive. Default: the last `defaultMs` milliseconds. */
const rangeOf = (query: RangeQuery, now: number, defaultMs: number): Range => {
  if (query.range === undefined && (query.from !== undefined || query.to !== undefined)) {
    const { from, to } = instantsOf(query, now)
    return { from, to: to + 1 }
  }
  if (query.from !== undefined || query.to !== undefined)
    throw mistake(400, {
      pointer: 'querystring/range',
      code: 'bad-range',
      detail: 'Send querystring/range, or querystring/from and querystring/to, but not both.',
    })
  const ms =
    query.range === undefined ? defaultMs : Number(query.range.slice(0, -1)) * (UNITS[query.range.slice(-1)] ?? 0)
  return { from: Math.max(0, now - ms), to: now + 1 }
}

const listSchema = (properties: Readonly<Record<string, object>>) => ({
  type: 'array',
  items: { type: 'object', required: Object.keys(properties), properties },
})
const objectSchema = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const unseen = {
  ...number,
  description: 'Gallons that left the keg while the scale was silent. They are not part of any pour.',
} as const
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoOf(ms))

const history = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap/history',
  operationId: 'getTapHistory',
  summary: 'Get the level of the keg on the tap and the battery, in bins that depend on the range (default: 24h).',
  query: rangeQuery,
  result: objectSchema({
    tap_id: text,
    keg_id: textOrNull,
    from: text,
    to: text,
    bin_secs: integer,
    data: listSchema({ t: text, level_pct: number }),
    battery_data: listSchema({ t: text, battery_pct: number }),
  }),
  answer: async (call) => {
    const range = rangeOf(call.query, call.now, DAY_MS)
    const found = await seriesOf(call).history(locOf(call), tapOf(call), range)
    if (found === undefined) throw tapOf.missing(tapOf(call))
    return {
      ...found,
      from: isoOf(range.from),
      to: isoOf(range.to - 1),
      data: found.data.map(({ t, level_pct }) => ({ t: isoOf(t), level_pct })),
      battery_data: found.battery_data.map(({ t, battery_pct }) => ({ t: isoOf(t), battery_pct })),
    }
  },
})

const rate = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap/rate',
  operationId: 'getPourRate',
  summary: "Get the pour rate of the keg on the tap in the location's time window, and how long the keg will last.",
  result: objectSchema({
    tap_id: text,
    keg_id: textOrNull,
    window_hours: number,
    observed_hours: number,
    poured_gallons: number,
    unseen_gallons: unseen,
    gallons_per_hour: numberOrNull,
    gallons_left: numberOrNull,
    hours_remaining: numberOrNull,
  }),
  answer: async (call) => {
    const found = await seriesOf(call).rate(locOf(call), tapOf(call), call.now)
    if (found === undefined) throw tapOf.missing(tapOf(call))
    return found
  },
})

const lifespan = question({
  method: 'GET',
  url: '/v1/locations/:loc/kegs/:keg/lifespan',
  operationId: 'getKegLifespan',
  summary: 'Get how long a keg lasted, and how much beer left it.',
  result: objectSchema({
    keg_id: text,
    tap_id: text,
    beer_id: text,
    tapped_at: text,
    finished_at: textOrNull,
    last_reading: textOrNull,
    total_poured_gallons: { ...number, description: 'The sum of its pours and unseen_gallons.' },
    unseen_gallons: unseen,
    lifespan_hours: numberOrNull,
  }),
  answer: async (call) => {
    const keg = kegOf(call)
    const found = await seriesOf(call).lifespan(locOf(call), keg, call.now)
    if (found === undefined) throw kegOf.missing(keg)
    return {
      ...found,
      tapped_at: isoOf(found.tapped_at),
      finished_at: isoOrNull(found.finished_at),
      last_reading: isoOrNull(found.last_reading),
    }
  },
})

const byHour = question({
  method: 'GET',
  url: '/v1/locations/:loc/pours/by-hour',
  operationId: 'getPoursByHour',
  summary:
    "Get the gallons poured per hour of the day in the location's time zone (default: 30d). With legacy=true: the average level per UTC hour.",
  query: { ...rangeQuery, properties: { ...rangeQuery.properties, legacy: { type: 'string', enum: ['true'] } } },
  result: {
    type: 'object',
    required: ['timezone', 'hours'],
    properties: {
      timezone: text,
      unseen_gallons: unseen,
      hours: {
        type: 'array',
        items: {
          type: 'object',
          required: ['hour_of_day'],
          properties: { hour_of_day: integer, gallons: number, pours: integer, avg_gallons: number },
        },
      },
    },
  },
  answer: async (call) => {
    const range = rangeOf(call.query, call.now, 30 * DAY_MS)
    const [questions, loc] = [seriesOf(call), locOf(call)]
    return call.query.legacy === undefined
      ? questions.poursByHour(loc, range)
      : { timezone: 'UTC', hours: await questions.levelByHour(loc, range) }
  },
})

const battery = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/battery',
  operationId: 'getBatteryTrend',
  summary: 'Get the battery of each device per UTC day (default: 7d).',
  query: rangeQuery,
  result: objectSchema({
    items: listSchema({ day: text, device_id: text, avg_battery_pct: number, min_battery_pct: number }),
  }),
  answer: async (call) => {
    const found = await seriesOf(call).batteryTrend(locOf(call), rangeOf(call.query, call.now, 7 * DAY_MS))
    return { items: found.map(({ day, ...rest }) => ({ day: isoOf(day).slice(0, 10), ...rest })) }
  },
})

const styles = question({
  method: 'GET',
  url: '/v1/locations/:loc/styles',
  operationId: 'getStyles',
  summary: 'Get the gallons poured per beer style (default: 30d), largest first.',
  query: rangeQuery,
  result: objectSchema({ items: listSchema({ style: textOrNull, gallons: number, share: number }) }),
  answer: async (call) => {
    const loc = locOf(call)
    const pours = await seriesOf(call).poursByBeer(loc, rangeOf(call.query, call.now, 30 * DAY_MS))
    const { beerFor } = queriesOf(call)
    const styled = await Promise.all(
      pours.map(async ({ beer_id, gallons }) => ({ gallons, style: (await beerFor(loc, beer_id))?.style ?? null })),
    )
    const byStyle = new Map<string | null, number[]>()
    for (const { style, gallons } of styled) byStyle.set(style, [...(byStyle.get(style) ?? []), gallons])
    const total = sumOf(styled.map(({ gallons }) => gallons))
    return {
      items: [...byStyle]
        .map(([style, poured]) => ({ style, gallons: sumOf(poured), share: sumOf(poured) / total }))
        .sort((a, b) => b.gallons - a.gallons),
    }
  },
})

/** The routes that read the series (S57–S62). */
export const seriesRoutes: readonly Route[] = atLocation(
  [history, rate, lifespan, byHour, battery, styles].map((route) => ({ ...route, ofSeries: true })),
)
