import type { Item } from '../../projections/item.ts'
import type { Change, Get, Result } from '../../projections/projection.ts'
import type { TimelineItem } from '../../projections/scales/items.ts'
import { timelines } from '../../projections/scales/keys.ts'
import type { Series } from '../../processors/engine/ports/series.ts'
import type { Bug, OpenedSeries } from '../../simulation/bug.ts'
import { rulesOf } from '../../simulation/bug-rules.ts'
import { pointName } from '../../simulation/series-model.ts'

const { ruling, writing } = rulesOf('scales')

const isState = ({ SK }: Change): boolean => SK.endsWith('#STATE')
const without =
  (...names: readonly string[]) =>
  (item: Change): readonly Change[] =>
    isState(item)
      ? [Object.fromEntries(Object.entries(item).filter(([each]) => !names.includes(each))) as Item]
      : [item]

export const SCALES_BUGS: Readonly<Record<string, Bug>> = {
  'the state of a tap does not keep that an alert is open': writing(without('_low')),
  'a repeated reading is folded as a new one': writing(without('_heard', '_seen')),
  'a repeated reading writes a second point': writing(without('_seen')),
  'a late reading replaces the newer state of a tap': ruling((fold, type) =>
    type === 'ReadingReported' ? (event, get) => fold(event, undated(get)) : fold,
  ),
  'alerts stay active after their tap is removed': writing(
    (item) => ('_removed' in item && item.PK.startsWith('ALERT#') ? [] : [item]),
    ['TapRemoved'],
  ),
  'a device stays assigned to a removed tap': writing(
    (item) => (item.PK.startsWith('DEVICE#') ? [] : [item]),
    ['TapRemoved'],
  ),
  'a repeated quarantined reading is counted again': writing((item) => (item.SK.includes('#AT#') ? [] : [item])),
  'a keg stays on its tap after another keg replaces it': writing(
    (item) =>
      item.SK.startsWith('TIMELINE#') && 'kegs' in item
        ? [{ ...item, kegs: (item as TimelineItem).kegs.map((span) => ({ ...span, to: null })) }]
        : [item],
    ['KegTapped'],
  ),
  'the key of an index is null': {
    ...writing((item) =>
      item.SK === 'TELEMETRY' && !('battery_pct' in item) ? [{ ...item, battery_pct: null }] : [item],
    ),
    detectedBy: 'C1',
  },
  'a pour has its gallons with the wrong sign': writing((item) =>
    item.SK.startsWith('POUR#') && 'gallons' in item ? [{ ...item, gallons: -Number(item['gallons']) }] : [item],
  ),
  'an alert that ends leaves no history row': writing((item) =>
    item.SK.startsWith('HIST#') && item.SK.endsWith('resolved') ? [] : [item],
  ),
}

/** The common part of the bugs in points. In these runs, writes to the series store are lost, rejected, done in part, or late. */
const POINTS: Bug = {
  options: {
    domain: 'scales',
    moves: [],
    rates: { lose: 0.03, partial: 0.05, refuse: 0.05, outage: 0.05, late: 0.05, 'pause-before': 0.03, rebalance: 0.02 },
  },
  detectedBy: 'points',
}

const changingPoints = (
  change: (series: Series, opened: OpenedSeries) => Pick<Series, 'write'>,
  under: Bug = POINTS,
): Bug => ({ ...under, series: (series, opened) => ({ ...series, ...change(series, opened) }) })

export const SERIES_BUGS: Readonly<Record<string, Bug>> = {
  'points count as written although the series store failed': changingPoints((series) => ({
    write: (points) => series.write(points).catch(() => []),
  })),
  'a point keeps its first value when it is written again': changingPoints((series, { table }) => ({
    write: (points) => series.write(points.filter((point) => !table.points.has(pointName(point)))),
  })),
  'one point of a batch is not written': changingPoints((series) => ({
    write: (points) => series.write(points.length > 3 ? points.slice(1) : points),
  })),
  'a rebuild writes its points into the first generation': changingPoints(
    (_, { other }) => ({ write: other(1).write }),
    { ...POINTS, options: { domain: 'scales', moves: ['rebuild', 'flip'] } },
  ),
  'a point belongs to the keg on the tap at its arrival': ruling((fold, type) =>
    type === 'ReadingReported' ? (event, get) => ofPresentKeg(fold(event, get), get) : fold,
  ),
}

const ofPresentKeg = (result: Result, get: Get): Result => {
  const points = result.points?.map((point) => {
    const { loc_id = '', tap_id = '' } = point.dims
    const last = get<TimelineItem>(timelines.key(loc_id, tap_id.slice(-2)))?.kegs.at(-1)
    return { ...point, values: { ...point.values, keg_id: last?.to === null ? last.keg_id : null } }
  })
  return points === undefined ? result : { ...result, points }
}

/** Returns a `get` that hides the time of the last reading from the state of a tap, so that a late reading seems to be the newest. */
const undated =
  (get: Get): Get =>
  <I extends Item>(key: { readonly PK: string; readonly SK: string }) => {
    const found = get<I>(key)
    return found === undefined || !key.SK.endsWith('#STATE') ? found : { ...found, updated_at: null }
  }
