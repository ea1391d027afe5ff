import { meanOf, sumOf, united } from '../bins.ts'
import { getAll } from '../entity.ts'
import { compareText } from '../order.ts'
import type { Point, SeriesAsked, SeriesReader, Stretch } from '../series.ts'
import type { Reader } from '../table.ts'
import { utcOffsetOf } from '../zone.ts'
import { gallonsOf, levelOf } from './gallons.ts'
import type { KegItem, Settings } from './items.ts'
import { kegs, locationSettings, tapIdOf, tapStates, timelines } from './keys.ts'
import { batteriesBeside, everywhere, leftAt, leftOnTap, presentOf, readingsIn, tapsOf, within, type Pour, type Range, type TapKegs } from './series-stretches.ts'
import { settingsOf } from './settings.ts'

interface History extends Range {
  readonly tap_id: string
  /** The keg that is on the tap; null where there is none. */
  readonly keg_id: string | null
  readonly bin_secs: number
  readonly data: readonly { readonly t: number; readonly level_pct: number }[]
  readonly battery_data: readonly { readonly t: number; readonly battery_pct: number }[]
}

interface Rate {
  readonly tap_id: string
  readonly keg_id: string | null
  readonly window_hours: number
  /** Hours between the first and the newest reading of the window, without the silences of the scale. */
  readonly observed_hours: number
  readonly poured_gallons: number
  /** Gallons that left the keg while its scale was silent. They are not in `poured_gallons` and not in the rate. */
  readonly unseen_gallons: number
  /** null where nothing was poured, or too little was seen to tell. */
  readonly gallons_per_hour: number | null
  readonly gallons_left: number | null
  readonly hours_remaining: number | null
}

interface Lifespan {
  readonly keg_id: string
  readonly tap_id: string
  readonly beer_id: string
  readonly tapped_at: number
  readonly finished_at: number | null
  readonly last_reading: number | null
  /** Everything that left the keg: its pours and `unseen_gallons`. */
  readonly total_poured_gallons: number
  /** Gallons that left the keg while its scale was silent. */
  readonly unseen_gallons: number
  /** Whole hours from the tapping to the last reading. */
  readonly lifespan_hours: number | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The six questions of the source document (S57–S62), as the requirements correct them. */
export const seriesQuestions = (asked: SeriesAsked) => ({ ...kegQuestions(asked), ...locationQuestions(asked) })

export type SeriesQuestions = ReturnType<typeof seriesQuestions>

const kegQuestions = (asked: SeriesAsked) => {
  const { reader, points } = asked
  return {
    /** S57, S39: the level and the battery of the keg that is on the tap, in bins that fit the range. */
    history: async (loc: string, tap: string, range: Range): Promise<History | undefined> => {
      const [timeline, state] = await getAll(reader, [timelines.key(loc, tap), tapStates.key(loc, tap)])
      if (timeline === undefined) return undefined
      const { keg, spans } = presentOf(timeline)
      // A scale that tells its weight alone has the level that it gives by the keg as it is known now.
      const weighed = state?._weighed ? keg : undefined
      const shown = spans.map((span) => within(span, range)).filter(({ from, to }) => from < to)
      const [from, to] = [Math.min(...shown.map((one) => one.from), range.to), Math.max(...shown.map((one) => one.to), range.from)]
      const ms = binOf(Math.max(0, to - from))
      const stretches = shown.map((one) => readingsIn(loc, { tap, timeline }, one))
      const binned = await mapSome(stretches, async (stretch) => (await Promise.all([
        points.bins(stretch, { ms, of: ['level_pct', 'battery_pct', ...(weighed ? ['weight_lbs'] : [])] }), points.bins(batteriesBeside(loc, [{ tap, timeline }], stretch), { ms, of: ['battery_pct'] }),
      ])).flat())
      const bins = united(binned.flat())
      return {
        tap_id: tapIdOf(loc, tap), keg_id: keg?.keg_id ?? null, ...range, bin_secs: ms / 1000,
        data: bins.flatMap(({ at, values: { level_pct: told, weight_lbs: weight } }) => {
          const level_pct = levelOf(weight === undefined ? null : meanOf(weight), weighed) ?? (told === undefined ? null : meanOf(told))
          return level_pct === null ? [] : [{ t: at, level_pct }]
        }),
        battery_data: bins.flatMap(({ at, values: { battery_pct: battery } }) => (battery === undefined ? [] : [{ t: at, battery_pct: meanOf(battery) }])),
      }
    },
    /** S58, S-f: what was poured of the keg that is on the tap, over the hours that were seen. */
    rate: async (loc: string, tap: string, now: number): Promise<Rate | undefined> => {
      const timeline = await timelines.get(reader, loc, tap)
      return timeline && rateOf(asked, { loc, tap, timeline, now, settings: await settingsAt(reader, loc) })
    },
    /** S59, S-h. */
    lifespan: async (loc: string, keg: string, now: number): Promise<Lifespan | undefined> => {
      const item = await kegs.get(reader, keg)
      return item === undefined || item.loc_id !== loc ? undefined : lifespanOf(asked, { loc, item, keg, now })
    },
  }
}

const locationQuestions = (asked: SeriesAsked) => {
  const { reader, points } = asked
  return {
    /** S60, S-g: gallons by the hour of the location's own day. */
    poursByHour: async (loc: string, range: Range) => {
      const { timezone } = await settingsAt(reader, loc)
      const { pour: pours, unseen } = await leftAt(asked, ['pour', 'unseen'], loc, range)
      const byHour = grouped(pours, ({ at }) => new Date(at + (utcOffsetOf(at, timezone) ?? 0) * 60_000).getUTCHours())
      const hours = Array.from({ length: 24 }, (_, hour_of_day) => ({ hour_of_day, gallons: gallonsIn(byHour.get(hour_of_day) ?? []), pours: byHour.get(hour_of_day)?.length ?? 0 }))
      return { timezone, hours, unseen_gallons: gallonsIn(unseen) }
    },
    /** S60 as the source document asked it: what the kegs held on average, by the hour in UTC. */
    levelByHour: async (loc: string, range: Range) => {
      const sums = new Map<number, { sum: number; count: number }>()
      for (const { at, gallons, count } of await gallonsByHour(asked, loc, range)) {
        const [hour, known] = [new Date(at).getUTCHours(), sums.get(new Date(at).getUTCHours()) ?? { sum: 0, count: 0 }]
        sums.set(hour, { sum: known.sum + gallons * count, count: known.count + count })
      }
      return [...sums].sort(([a], [b]) => a - b).map(([hour_of_day, { sum, count }]) => ({ hour_of_day, avg_gallons: sum / count }))
    },
    /** S61: by UTC day and device. */
    batteryTrend: async (loc: string, range: Range) => {
      const taps = await tapsOf(reader, loc)
      const readings = everywhere(loc, taps, range)
      const bins = await Promise.all([readings, batteriesBeside(loc, taps, readings)].map((stretch) => points.bins(stretch, { ms: DAY_MS, by: 'device_id', of: ['battery_pct'] })))
      return united(bins.flat()).flatMap(({ at, by, values: { battery_pct: battery } }) =>
        battery === undefined ? [] : [{ day: at, device_id: by ?? '', avg_battery_pct: meanOf(battery), min_battery_pct: battery.min }])
    },
    /** S62: gallons by beer, in the order of the beers' ids. The caller reads the styles of the beers. */
    poursByBeer: async (loc: string, range: Range) => {
      const byBeer = grouped((await leftAt(asked, ['pour'], loc, range)).pour, ({ keg }) => keg.beer_id)
      return [...byBeer].map(([beer_id, pours]) => ({ beer_id, gallons: gallonsIn(pours) })).sort((a, b) => compareText(a.beer_id, b.beer_id))
    },
  }
}

/** Per hour, the mean gallons of each keg on a tap, by the timeline with all its corrections. The points contain the keg that was known when they were written. */
const gallonsByHour = async ({ reader, points }: SeriesAsked, loc: string, range: Range) => {
  const spans = (await tapsOf(reader, loc)).flatMap((kegs) => kegs.timeline.kegs.map((keg) => ({ kegs, keg, shown: within(keg, range) }))).filter(({ shown }) => shown.from < shown.to)
  const binned = await mapSome(spans, async ({ kegs, keg, shown }) => {
    const bins = await points.bins(readingsIn(loc, kegs, shown), { ms: HOUR_MS, of: ['weight_lbs'] })
    return bins.flatMap(({ at, values: { weight_lbs: weight } }) => {
      const gallons = weight === undefined ? null : gallonsOf({ weight_lbs: meanOf(weight), ...keg })
      return weight === undefined || gallons === null ? [] : [{ at, gallons, count: weight.count }]
    })
  })
  return binned.flat()
}

/** Spans of kegs that are queried at the same time. A tap has up to 40, and a query reads several partitions of a store of items. */
const SPANS_AT_ONCE = 4

/** Maps a list in its order, `SPANS_AT_ONCE` values at a time. */
const mapSome = async <V, R>(values: readonly V[], map: (value: V) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = []
  for (let index = 0; index < values.length; index += SPANS_AT_ONCE) results.push(...await Promise.all(values.slice(index, index + SPANS_AT_ONCE).map(map)))
  return results
}

const settingsAt = async (reader: Reader, loc: string): Promise<Settings> => settingsOf(await locationSettings.get(reader, loc))

/** A chart shows a few hundred points. */
const BINS = [1, 5, 15, 30, 60, 120, 360, 720, 1440, 10_080].map((minutes) => minutes * 60_000)
const MOST_BINS = 400

export const binOf = (rangeMs: number): number => BINS.find((ms) => rangeMs / ms <= MOST_BINS) ?? (BINS.at(-1) as number)

const gallonsIn = (pours: readonly Pour[]): number => sumOf(pours.map(({ gallons }) => gallons))

const grouped = <K>(pours: readonly Pour[], keyOf: (pour: Pour) => K): ReadonlyMap<K, readonly Pour[]> => {
  const groups = new Map<K, Pour[]>()
  for (const pour of pours) {
    const group = groups.get(keyOf(pour))
    if (group === undefined) groups.set(keyOf(pour), [pour])
    else group.push(pour)
  }
  return groups
}

const edge = async (points: SeriesReader, stretch: Stretch, newest: boolean): Promise<Point | undefined> => {
  for await (const page of points.points(stretch, { newest, limit: 1 })) if (page[0] !== undefined) return page[0]
  return undefined
}

interface Rated extends TapKegs {
  readonly loc: string
  readonly now: number
  readonly settings: Settings
}

const rateOf = async (asked: SeriesAsked, { loc, tap, timeline, now, settings: { pour_window_hours } }: Rated): Promise<Rate> => {
  const last = timeline.kegs.at(-1)
  const keg = last?.to === null ? last : undefined
  const nothing = { tap_id: tapIdOf(loc, tap), keg_id: keg?.keg_id ?? null, window_hours: pour_window_hours, observed_hours: 0, poured_gallons: 0, unseen_gallons: 0, gallons_per_hour: null, gallons_left: null, hours_remaining: null }
  const range = { from: Math.max(keg?.from ?? now, now - pour_window_hours * HOUR_MS), to: now + 1 }
  if (keg === undefined || range.from >= range.to) return nothing
  const stretch = readingsIn(loc, { tap, timeline }, range)
  const [first, newest] = await Promise.all([edge(asked.points, stretch, false), edge(asked.points, stretch, true)])
  const { pour: pours, unseen } = await leftOnTap(asked, { loc, tap, timeline }, range)
  const silentMs = sumOf(unseen.map(({ at, end }) => end - at))
  const observed_hours = first === undefined || newest === undefined ? 0 : Math.max(0, newest.at - first.at - silentMs) / HOUR_MS
  const poured_gallons = gallonsIn(pours)
  const gallons_per_hour = observed_hours > 0 && poured_gallons > 0 ? poured_gallons / observed_hours : null
  const weight = newest?.values['weight_lbs']
  const gallons_left = gallonsOf({ weight_lbs: typeof weight === 'number' ? weight : null, ...keg })
  return { ...nothing, observed_hours, poured_gallons, unseen_gallons: gallonsIn(unseen), gallons_per_hour, gallons_left, hours_remaining: gallons_left === null || gallons_per_hour === null ? null : Math.max(0, gallons_left) / gallons_per_hour }
}

const lifespanOf = async (asked: SeriesAsked, { loc, item, keg, now }: { readonly loc: string; readonly item: KegItem; readonly keg: string; readonly now: number }): Promise<Lifespan> => {
  const onTaps = (await tapsOf(asked.reader, loc)).flatMap((kegs) => kegs.timeline.kegs.filter((span) => span.keg_id === keg && span.from !== span.to).map((span) => ({ kegs, span })))
  let last_reading: number | null = null
  let [poured_gallons, unseen_gallons] = [0, 0]
  for (const { kegs, span } of onTaps) {
    const range = within(span, { from: 0, to: now + 1 })
    const newest = await edge(asked.points, readingsIn(loc, kegs, range), true)
    if (newest !== undefined) last_reading = Math.max(last_reading ?? 0, newest.at)
    const left = await leftOnTap(asked, { loc, ...kegs }, range)
    poured_gallons += gallonsIn(left.pour)
    unseen_gallons += gallonsIn(left.unseen)
  }
  const tapped_at = Math.min(...onTaps.map(({ span }) => span.from), Date.parse(item.tapped_at))
  return {
    keg_id: keg, tap_id: tapIdOf(loc, item.tap), beer_id: item.beer_id, tapped_at,
    finished_at: item.finished_at === undefined ? null : Date.parse(item.finished_at),
    last_reading, total_poured_gallons: poured_gallons + unseen_gallons, unseen_gallons,
    lifespan_hours: last_reading === null ? null : Math.floor((last_reading - tapped_at) / HOUR_MS),
  }
}
