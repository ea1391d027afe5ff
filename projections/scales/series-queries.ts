import { meanOf, united } from '../bins.ts'
import { getAll } from '../entity.ts'
import { compareText } from '../order.ts'
import type { SeriesGeneration } from '../series.ts'
import type { Reader } from '../table.ts'
import { utcOffsetOf } from '../zone.ts'
import { gallonsOf, levelOf } from './gallons.ts'
import type { Settings } from './items.ts'
import { lifespanOf, type Lifespan } from './keg-lifespan.ts'
import { rateOf, type Rate } from './keg-rate.ts'
import { kegs, locationSettings, tapIdOf, tapStates, timelines } from './keys.ts'
import {
  batteriesIn,
  everywhere,
  gallonsIn,
  leftAt,
  presentOf,
  readingsIn,
  tapsOf,
  within,
  type Pour,
  type Range,
} from './series-stretches.ts'
import { settingsOf } from './settings.ts'

interface History extends Range {
  readonly tap_id: string
  /** The keg that is on the tap now. Null if there is none. */
  readonly keg_id: string | null
  readonly bin_secs: number
  readonly data: readonly { readonly t: number; readonly level_pct: number }[]
  readonly battery_data: readonly { readonly t: number; readonly battery_pct: number }[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The queries of the series of a location (S57–S62). */
export const seriesQueries = (series: SeriesGeneration) => ({ ...kegQueries(series), ...locationQueries(series) })

export type SeriesQueries = ReturnType<typeof seriesQueries>

const kegQueries = (series: SeriesGeneration) => {
  const { reader, points } = series
  return {
    /** The level and the battery of the keg that is on the tap, in bins whose length fits the range (S57, S39). Undefined: no such tap. */
    history: async (loc: string, tap: string, range: Range): Promise<History | undefined> => {
      const [timeline, state] = await getAll(reader, [timelines.key(loc, tap), tapStates.key(loc, tap)])
      if (timeline === undefined) return undefined
      const { keg, spans } = presentOf(timeline)
      // If a scale sends only its weight, the level is computed from the weights of the keg.
      const weighed = state?._weighed ? keg : undefined
      const shown = spans.map((span) => within(span, range)).filter(({ from, to }) => from < to)
      const [from, to] = [
        Math.min(...shown.map((each) => each.from), range.to),
        Math.max(...shown.map((each) => each.to), range.from),
      ]
      const ms = binOf(Math.max(0, to - from))
      const stretches = shown.map((each) => readingsIn(loc, { tap, timeline }, each))
      const binned = await mapSome(stretches, async (stretch) =>
        (
          await Promise.all([
            points.bins(stretch, { ms, of: ['level_pct', 'battery_pct', ...(weighed ? ['weight_lbs'] : [])] }),
            points.bins(batteriesIn(loc, [{ tap, timeline }], stretch), { ms, of: ['battery_pct'] }),
          ])
        ).flat(),
      )
      const bins = united(binned.flat())
      return {
        tap_id: tapIdOf(loc, tap),
        keg_id: keg?.keg_id ?? null,
        ...range,
        bin_secs: ms / 1000,
        data: bins.flatMap(({ at, values: { level_pct: deviceLevel, weight_lbs: weight } }) => {
          const level_pct =
            levelOf(weight === undefined ? null : meanOf(weight), weighed) ??
            (deviceLevel === undefined ? null : meanOf(deviceLevel))
          return level_pct === null ? [] : [{ t: at, level_pct }]
        }),
        battery_data: bins.flatMap(({ at, values: { battery_pct: battery } }) =>
          battery === undefined ? [] : [{ t: at, battery_pct: meanOf(battery) }],
        ),
      }
    },
    /** The pour rate of the keg that is on the tap, over the hours in which the scale sent readings (S58, S-f). Undefined: no such tap. */
    rate: async (loc: string, tap: string, now: number): Promise<Rate | undefined> => {
      const timeline = await timelines.get(reader, loc, tap)
      return timeline && rateOf(series, { loc, tap, timeline, now, settings: await settingsAt(reader, loc) })
    },
    /** The times of a keg, and the beer that left it (S59, S-h). Undefined if the location has no such keg. */
    lifespan: async (loc: string, keg: string, now: number): Promise<Lifespan | undefined> => {
      const item = await kegs.get(reader, keg)
      return item === undefined || item.loc_id !== loc ? undefined : lifespanOf(series, { loc, item, keg, now })
    },
  }
}

const locationQueries = (series: SeriesGeneration) => {
  const { reader, points } = series
  return {
    /** The poured gallons in each of the 24 hours of the day, in the time zone of the location (S60, S-g). */
    poursByHour: async (loc: string, range: Range) => {
      const { timezone } = await settingsAt(reader, loc)
      const { pour: pours, unseen } = await leftAt(series, ['pour', 'unseen'], loc, range)
      const byHour = grouped(pours, ({ at }) => new Date(at + (utcOffsetOf(at, timezone) ?? 0) * 60_000).getUTCHours())
      const hours = Array.from({ length: 24 }, (_, hour_of_day) => ({
        hour_of_day,
        gallons: gallonsIn(byHour.get(hour_of_day) ?? []),
        pours: byHour.get(hour_of_day)?.length ?? 0,
      }))
      return { timezone, hours, unseen_gallons: gallonsIn(unseen) }
    },
    /** The mean gallons in the kegs in each of the 24 hours of the day, in UTC. This is the original form of requirement S60. */
    levelByHour: async (loc: string, range: Range) => {
      const sums = new Map<number, { sum: number; count: number }>()
      for (const { at, gallons, count } of await gallonsByHour(series, loc, range)) {
        const [hour, known] = [new Date(at).getUTCHours(), sums.get(new Date(at).getUTCHours()) ?? { sum: 0, count: 0 }]
        sums.set(hour, { sum: known.sum + gallons * count, count: known.count + count })
      }
      return [...sums]
        .sort(([a], [b]) => a - b)
        .map(([hour_of_day, { sum, count }]) => ({ hour_of_day, avg_gallons: sum / count }))
    },
    /** The mean and the lowest battery charge per UTC day and device (S61). */
    batteryTrend: async (loc: string, range: Range) => {
      const taps = await tapsOf(reader, loc)
      const readings = everywhere(loc, taps, range)
      const bins = await Promise.all(
        [readings, batteriesIn(loc, taps, readings)].map((stretch) =>
          points.bins(stretch, { ms: DAY_MS, by: 'device_id', of: ['battery_pct'] }),
        ),
      )
      return united(bins.flat()).flatMap(({ at, by, values: { battery_pct: battery } }) =>
        battery === undefined
          ? []
          : [{ day: at, device_id: by ?? '', avg_battery_pct: meanOf(battery), min_battery_pct: battery.min }],
      )
    },
    /** The poured gallons per beer, in the order of the beers' ids (S62). The caller reads the styles of the beers. */
    poursByBeer: async (loc: string, range: Range) => {
      const byBeer = grouped((await leftAt(series, ['pour'], loc, range)).pour, ({ keg }) => keg.beer_id)
      return [...byBeer]
        .map(([beer_id, pours]) => ({ beer_id, gallons: gallonsIn(pours) }))
        .sort((a, b) => compareText(a.beer_id, b.beer_id))
    },
  }
}

/** The mean gallons in each keg per hour. The kegs come from the timelines, which contain all corrections. The points do not contain them. */
const gallonsByHour = async ({ reader, points }: SeriesGeneration, loc: string, range: Range) => {
  const spans = (await tapsOf(reader, loc))
    .flatMap((kegs) => kegs.timeline.kegs.map((keg) => ({ kegs, keg, shown: within(keg, range) })))
    .filter(({ shown }) => shown.from < shown.to)
  const binned = await mapSome(spans, async ({ kegs, keg, shown }) => {
    const bins = await points.bins(readingsIn(loc, kegs, shown), { ms: HOUR_MS, of: ['weight_lbs'] })
    return bins.flatMap(({ at, values: { weight_lbs: weight } }) => {
      const gallons = weight === undefined ? null : gallonsOf({ weight_lbs: meanOf(weight), ...keg })
      return weight === undefined || gallons === null ? [] : [{ at, gallons, count: weight.count }]
    })
  })
  return binned.flat()
}

/** The maximum number of spans that are queried at the same time. A tap has up to 40 spans, and a query can read several partitions. */
const SPANS_AT_ONCE = 4

/** Maps a list in its order, `SPANS_AT_ONCE` values at a time. */
const mapSome = async <V, R>(values: readonly V[], map: (value: V) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = []
  for (let index = 0; index < values.length; index += SPANS_AT_ONCE)
    results.push(...(await Promise.all(values.slice(index, index + SPANS_AT_ONCE).map(map))))
  return results
}

const settingsAt = async (reader: Reader, loc: string): Promise<Settings> =>
  settingsOf(await locationSettings.get(reader, loc))

/** The lengths of bins in milliseconds. A range gets the shortest length with at most MOST_BINS bins, because a chart shows a few hundred. */
const BINS = [1, 5, 15, 30, 60, 120, 360, 720, 1440, 10_080].map((minutes) => minutes * 60_000)
const MOST_BINS = 400

export const binOf = (rangeMs: number): number =>
  BINS.find((ms) => rangeMs / ms <= MOST_BINS) ?? (BINS.at(-1) as number)

const grouped = <K>(pours: readonly Pour[], keyOf: (pour: Pour) => K): ReadonlyMap<K, readonly Pour[]> => {
  const groups = new Map<K, Pour[]>()
  for (const pour of pours) {
    const group = groups.get(keyOf(pour))
    if (group === undefined) groups.set(keyOf(pour), [pour])
    else group.push(pour)
  }
  return groups
}
