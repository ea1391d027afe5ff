import { scales } from '../../processors/scales/domain.ts'
import { scalesSeries } from '../../processors/scales/series.ts'
import { isoOf } from '../../projections/instant.ts'
import { keyOf, type Item, type Key } from '../../projections/item.ts'
import type { Change, Get } from '../../projections/projection.ts'
import type { AlertItem, DeviceItem, TapStateItem, TimelineItem } from '../../projections/scales/items.ts'
import { covers } from '../../projections/scales/spans.ts'
import { activeAlerts, devices, pastAlerts, tapStates, timelines } from '../../projections/scales/keys.ts'
import type { ReadingReported, ReadingReportedData } from '../../schemas/generated/scales.ts'
import type { Violation } from '../../simulation/checkers.ts'
import { checkBars } from './checkers-bars.ts'
import { expectedOf, type Step } from '../../simulation/reference.ts'
import { pointName } from '../../simulation/series-model.ts'
import type { StoredSeries, CheckInput } from '../../simulation/workload.ts'

type Wrong = (detail: string) => void

/** Checks the invariants of the scales for a log: each event, and the items and points at the end. The invariants use no code of the folds. */
export const checkScales = ({ topic, codec, rules, stored }: CheckInput): readonly Violation[] => {
  const details: string[] = []
  const wrong: Wrong = (detail) => void details.push(detail)
  const states = createCountedReadings()
  const measured: SeriesState = { counted: createCountedReadings(), readings: new Set() }
  const { items } = expectedOf({
    domain: rules(scales),
    codec,
    topic,
    watch: (step) => {
      if (step.projection !== 'scales') return
      checkAlerts(step, wrong)
      checkState(step, states, wrong)
    },
  })
  expectedOf({ domain: rules(scalesSeries), codec, topic, watch: (step) => checkPoints(step, measured, wrong) })
  for (const series of stored) checkStored(series, measured, wrong)
  checkBars(items, wrong)
  return details.map((detail) => ({ checker: 'domain', detail }))
}

/** For each tap, the names of the readings that were accepted as new since the tap was opened. */
type CountedReadings = Map<string, readonly string[]>

/** The readings that were accepted as new, and the names of the points that the series must contain. */
interface SeriesState {
  readonly counted: CountedReadings
  readonly readings: Set<string>
}

const createCountedReadings = (): CountedReadings => new Map()
const tapKeyOf = (loc: string, tap: string): string => `${loc}#${tap}`
const nameOf = ({ device_id, boot, seq }: ReadingReportedData): string => `${device_id} ${boot} ${seq}`

const isReading = (event: Step['event']): event is ReadingReported => event.type === 'ReadingReported'

/** The tap of the reading, from the items as they were when the reading arrived. `isGone`: the tap was removed after the measurement. */
const tapOf = (
  { data, meta: { key: loc } }: ReadingReported,
  get: Get,
): { readonly tap?: string; readonly isGone?: boolean } => {
  const device = get<DeviceItem>(devices.key(data.device_id, data.epoch))
  const isReleased = device?.status === 'released' && device.status_at <= isoOf(data.at)
  if (device?.loc_id !== loc || isReleased) return {}
  const tap = device._places.findLast(({ from, to }) => from <= data.at && data.at < (to ?? Infinity))?.tap ?? undefined
  const timeline = tap === undefined ? undefined : get<TimelineItem>(timelines.key(loc, tap))
  return tap === undefined || timeline === undefined
    ? {}
    : { tap, isGone: timeline.since === null || data.at < timeline.since }
}

/** Forgets the readings of a removed tap: if the tap is opened again, it accepts the same readings as new. */
const forgetRemovedTap = ({ event: { type, data, meta }, result: { items = [] } }: Step, memory: CountedReadings) => {
  if (type === 'TapRemoved' && items.length > 0)
    memory.delete(tapKeyOf(meta.key, (data as { readonly tap: string }).tap))
}

const changeOf = ({ result: { items = [] } }: Step, key: Key): Change | undefined =>
  items.find((item) => keyOf(item) === keyOf(key))

const shownOf = (state: object | undefined): string =>
  JSON.stringify(
    Object.entries(state ?? {})
      .filter(([name]) => !name.startsWith('_'))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

/** Checks that the state of a tap is its newest reading. A late or repeated reading, or one without a tap, changes no visible attribute. */
const checkState = (step: Step, memory: CountedReadings, wrong: Wrong) => {
  forgetRemovedTap(step, memory)
  const { event, get } = step
  if (!isReading(event)) return
  const {
    data,
    meta: { key: loc, eventId },
  } = event
  const states = (step.result.items ?? []).filter(({ SK }) => SK.endsWith('#STATE'))
  const { tap, isGone } = tapOf(event, get)
  const countedNames = tap === undefined ? [] : (memory.get(tapKeyOf(loc, tap)) ?? [])
  const before = tap === undefined ? undefined : get<TapStateItem>(tapStates.key(loc, tap))
  const isNew = tap !== undefined && !isGone && !countedNames.includes(nameOf(data))
  if (isNew) memory.set(tapKeyOf(loc, tap), [...countedNames, nameOf(data)])
  if (!isNew || isoOf(data.at) <= (before?.updated_at ?? '')) {
    return states.every((state) => shownOf(state) === shownOf(get({ PK: state.PK, SK: state.SK })))
      ? undefined
      : wrong(`${eventId} is not the newest reading of a tap, and changed ${states.map(keyOf).join(', ')}`)
  }
  const after = changeOf(step, tapStates.key(loc, tap)) as TapStateItem | undefined
  const actual = [after?.updated_at, after?.weight_lbs, after?._weighed ? null : after?.level_pct, after?._device]
  const wanted = [isoOf(data.at), data.weight_lbs, data.level_pct, data.device_id]
  if (states.length !== 1 || JSON.stringify(actual) !== JSON.stringify(wanted))
    wrong(`${eventId} is the newest reading of ${loc} ${tap}, and the state of the tap is ${JSON.stringify(after)}`)
}

/**
 * Checks that each new reading writes one point, also if it arrives late, and that a repeated reading writes none. A removed tap accepts
 * repeated readings, because it no longer stores the names of its readings.
 */
const checkPoints = (step: Step, { counted: memory, readings }: SeriesState, wrong: Wrong) => {
  forgetRemovedTap(step, memory)
  const {
    event,
    get,
    result: { points = [] },
  } = step
  for (const {
    measure,
    values: { gallons },
  } of points)
    if ((measure === 'pour' && !(Number(gallons) > 0)) || (measure === 'unseen' && !(Number(gallons) >= 0)))
      wrong(`${event.meta.eventId} has a point of ${measure} with ${gallons} gallons`)
  if (!isReading(event)) return
  const {
    data,
    meta: { key: loc, eventId },
  } = event
  const found = points.filter(({ measure }) => measure === 'reading')
  const { tap, isGone } = tapOf(event, get)
  const countedNames = tap === undefined ? [] : (memory.get(tapKeyOf(loc, tap)) ?? [])
  const isNew = tap !== undefined && (isGone || !countedNames.includes(nameOf(data)))
  if (isNew && !isGone) memory.set(tapKeyOf(loc, tap), [...countedNames, nameOf(data)])
  const hasValues = [data.weight_lbs, data.level_pct, data.battery_v, data.battery_pct].some((value) => value !== null)
  if (found.length !== (isNew && hasValues ? 1 : 0))
    wrong(`${eventId}${isNew ? '' : ', which does not count,'} has ${found.length} points`)
  if (tap === undefined || found.length === 0) return
  const where = {
    measure: 'reading',
    at: data.at,
    dims: { tap_id: `${loc}#TAP#${tap}`, loc_id: loc, device_id: data.device_id },
  }
  const keg = get<TimelineItem>(timelines.key(loc, tap))?.kegs.findLast((span) => covers(span, data.at))?.keg_id ?? null
  if (found.some((point) => pointName(point) !== pointName({ ...where, values: {} }) || point.values['keg_id'] !== keg))
    wrong(`${eventId} has a point with another name or another keg`)
  readings.add(pointName({ ...where, values: {} }))
}

/**
 * Checks that the series contains each accepted reading and no other reading. Also checks that at most one keg was on the tap at the time of
 * each reading.
 */
const checkStored = ({ name, points, items }: StoredSeries, { readings }: SeriesState, wrong: Wrong) => {
  const found = [...points].filter(([, { measure }]) => measure === 'reading')
  for (const reading of readings) if (!points.has(reading)) wrong(`${name} has no ${reading}`)
  for (const [
    reading,
    {
      dims: { tap_id = '', loc_id = '' },
      at,
    },
  ] of found) {
    if (!readings.has(reading)) wrong(`${name} has ${reading}, which no event reported`)
    const timeline = items.get(keyOf(timelines.key(loc_id, tap_id.slice(-2)))) as TimelineItem | undefined
    if (timeline === undefined || timeline.kegs.filter((span) => covers(span, at)).length > 1)
      wrong(`${name} has ${reading} which belongs to two kegs, or to no tap`)
  }
}

const isItem = <I extends Item>(change: Change | undefined): change is I =>
  change !== undefined && !('_removed' in change)

/**
 * Checks the alerts. An alert fires once, and ends before the next alert of the same type and entity begins. It ends later than it fired. The
 * history has a row for each change of its state. If a late reading shows that an alert fired too early, the row of this firing is removed or
 * gets the time of the reading.
 */
const checkAlerts = (step: Step, wrong: Wrong) => {
  const {
    event: {
      meta: { eventId },
    },
    result: { items = [] },
    get,
  } = step
  const rowsOf = (state: string, { SK }: Key) =>
    items.filter(
      (item) =>
        item.SK.startsWith(pastAlerts.prefix) && item.SK.endsWith(`#${SK.slice(activeAlerts.prefix.length)}#${state}`),
    )
  const hasRow = (state: string, key: Key) => rowsOf(state, key).some((row) => isItem(row))
  for (const change of items.filter(({ SK }) => SK.startsWith(activeAlerts.prefix))) {
    const alert = get<AlertItem>({ PK: change.PK, SK: change.SK })
    const before = alert?.state ?? 'none'
    const after = isItem<AlertItem>(change) ? change.state : 'none'
    const isRetracted =
      before === 'active' &&
      alert?._fire_at !== undefined &&
      rowsOf('active', change).some((row) => '_removed' in row && row.SK.includes(alert.fired_at ?? '?'))
    const isSamePending =
      before === 'pending' &&
      isItem<AlertItem>(change) &&
      after === 'pending' &&
      change.started_at === alert?.started_at
    if (!(NEXT[before]?.includes(after) ?? false) && !isSamePending && !(isRetracted && after === 'active'))
      wrong(`${eventId} made ${change.SK} ${after}, which was ${before}`)
    if (after === 'none' && before !== 'pending' && !isRetracted && !hasRow('resolved', change))
      wrong(`${eventId} ended ${change.SK} without a row in the history`)
    if (after !== 'none' && after !== 'pending' && !hasRow(after, change))
      wrong(`${eventId} made ${change.SK} ${after} without a row in the history`)
  }
  for (const row of items.filter(({ SK }) => SK.startsWith(pastAlerts.prefix))) {
    if (isItem<AlertItem>(row) && row.state === 'resolved' && !((row.resolved_at ?? '') > (row.fired_at ?? '~')))
      wrong(`${eventId} resolved ${row.SK} at ${row.resolved_at}, which fired at ${row.fired_at}`)
  }
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  none: ['pending', 'active'],
  pending: ['active', 'none'],
  active: ['acknowledged', 'none'],
  acknowledged: ['none'],
}
